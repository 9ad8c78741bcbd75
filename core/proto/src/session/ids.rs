//! Tables by our own ids, which count up from zero: nobody can choose them to collide, so they need no keyed hash.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Few;

pub(super) type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// One that mostly has few entries.
pub(super) type FewIds<K, V> = Few<K, V, BuildHasherDefault<IdHasher>>;

#[derive(Debug, Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    // The table takes its place from the low bits and its tag from the high ones.
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
