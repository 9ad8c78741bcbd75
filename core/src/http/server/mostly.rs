//! Lists that mostly have one entry.

/// A list whose first entry needs no memory of its own.
#[derive(Debug)]
pub(super) struct Mostly<T> {
    first: Option<T>,
    more: Vec<T>,
}

impl<T> Default for Mostly<T> {
    fn default() -> Self {
        Self {
            first: None,
            more: Vec::new(),
        }
    }
}

impl<T> Mostly<T> {
    pub(super) fn push(&mut self, entry: T) {
        if self.first.is_none() && self.more.is_empty() {
            self.first = Some(entry);
        } else {
            self.more.push(entry);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.more.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.first.iter().chain(&self.more)
    }

    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        self.first.take_if(|entry| !keeps(entry));
        self.more.retain(keeps);
    }
}

impl<T> IntoIterator for Mostly<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order_whichever_go() {
        for count in 0..4 {
            for gone in 0..4 {
                let mut list = Mostly::default();
                (0..count).for_each(|entry| list.push(entry));
                list.retain(|entry| *entry != gone);
                list.push(9);
                let want: Vec<_> = (0..count).filter(|entry| *entry != gone).chain([9]).collect();
                assert_eq!(list.iter().copied().collect::<Vec<_>>(), want);
                assert!(!list.is_empty());
                assert_eq!(list.into_iter().collect::<Vec<_>>(), want);
            }
        }
    }
}
