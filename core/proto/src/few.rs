//! Tables that mostly have few entries.

use std::hash::Hash;

use foldhash::HashMap;

/// Up to so many entries it costs less to look at each than to hash a key.
const FEW: usize = 8;

/// A map for what is in work at one time on one connection: mostly one thing, sometimes thousands.
///
/// A list of pairs, until it has more than a few; from then on a hash table.
///
/// ```
/// use oxmcp_proto::Few;
///
/// let mut few = Few::<u32, &str>::default();
/// assert_eq!(few.insert(7, "seven"), None);
/// assert_eq!(few.insert(7, "sept"), Some("seven"));
/// assert_eq!(few.remove(&7), Some("sept"));
/// assert_eq!(few.len(), 0);
/// ```
#[derive(Debug)]
pub struct Few<K, V>(Table<K, V>);

#[derive(Debug)]
enum Table<K, V> {
    List(Vec<(K, V)>),
    Hashed(HashMap<K, V>),
}

impl<K, V> Default for Few<K, V> {
    fn default() -> Self {
        Self(Table::List(Vec::new()))
    }
}

impl<K: Eq + Hash, V> Few<K, V> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Table::List(list) => list.len(),
            Table::Hashed(map) => map.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is one of this key.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        match &self.0 {
            Table::List(list) => list.iter().find(|(its, _)| its == key).map(|(_, value)| value),
            Table::Hashed(map) => map.get(key),
        }
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match &mut self.0 {
            Table::List(list) => list.iter_mut().find(|(its, _)| its == key).map(|(_, value)| value),
            Table::Hashed(map) => map.get_mut(key),
        }
    }

    /// Sets the value of a key, and gives the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let list = match &mut self.0 {
            Table::List(list) => list,
            Table::Hashed(map) => return map.insert(key, value),
        };
        if let Some((_, before)) = list.iter_mut().find(|(its, _)| *its == key) {
            return Some(std::mem::replace(before, value));
        }
        if list.len() < FEW {
            // Most never have more than one.
            if list.capacity() == 0 {
                list.reserve_exact(1);
            }
            list.push((key, value));
            return None;
        }
        let mut map: HashMap<K, V> = std::mem::take(list).into_iter().collect();
        map.insert(key, value);
        self.0 = Table::Hashed(map);
        None
    }

    /// Takes the value of a key out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        match &mut self.0 {
            Table::List(list) => {
                let at = list.iter().position(|(its, _)| its == key)?;
                Some(list.swap_remove(at).1)
            }
            Table::Hashed(map) => map.remove(key),
        }
    }

    /// Removes all.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Table::List(list) => list.clear(),
            Table::Hashed(map) => map.clear(),
        }
    }

    /// Takes all out, in no order.
    pub fn drain(&mut self) -> Vec<(K, V)> {
        match &mut self.0 {
            Table::List(list) => std::mem::take(list),
            Table::Hashed(map) => map.drain().collect(),
        }
    }

    /// All entries, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let (list, map) = match &self.0 {
            Table::List(list) => (Some(list), None),
            Table::Hashed(map) => (None, Some(map)),
        };
        let listed = list.into_iter().flatten().map(|(key, value)| (key, value));
        listed.chain(map.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_the_same_to_their_user() {
        for count in [0, 1, FEW, FEW + 1, 100] {
            let mut few = Few::<usize, usize>::default();
            for key in 0..count {
                assert_eq!(few.insert(key, key), None);
                assert_eq!(few.insert(key, key * 2), Some(key));
            }
            assert_eq!((few.len(), few.is_empty()), (count, count == 0));
            assert_eq!(few.get(&count), None);
            let mut all: Vec<_> = few.iter().map(|(key, value)| (*key, *value)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).map(|key| (key, key * 2)).collect::<Vec<_>>());
            for key in (0..count).step_by(2) {
                *few.get_mut(&key).unwrap() += 1;
                assert_eq!(few.remove(&key), Some(key * 2 + 1));
                assert!(!few.contains_key(&key));
            }
            assert_eq!(few.len(), count / 2);
            assert_eq!(few.drain().len(), count / 2);
            assert!(few.is_empty());
            few.insert(1, 1);
            few.clear();
            assert_eq!(few.iter().count(), 0);
        }
    }
}
