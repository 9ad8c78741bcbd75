//! One direction of the link between the two sides.

use std::collections::VecDeque;

/// Bytes on their way. They arrive when the simulation says so, in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    bytes: VecDeque<u8>,
    ended: bool,
    end_delivered: bool,
}

/// What comes out of a [`Pipe`].
#[derive(Debug)]
pub(crate) enum Arrival {
    Bytes(Vec<u8>),
    End,
    Nothing,
}

impl Pipe {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if !self.ended {
            self.bytes.extend(bytes);
        }
    }

    /// Ends after what is on its way.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Ends now; only `kept` bytes still arrive.
    #[allow(dead_code, reason = "one of the two simulations loses nothing")]
    pub(crate) fn lose(&mut self, kept: usize) {
        self.bytes.truncate(kept);
        self.ended = true;
    }

    pub(crate) fn deliver(&mut self, most: usize) -> Arrival {
        let count = most.min(self.bytes.len());
        if count > 0 {
            return Arrival::Bytes(self.bytes.drain(..count).collect());
        }
        if self.ended && self.bytes.is_empty() && !self.end_delivered {
            self.end_delivered = true;
            return Arrival::End;
        }
        Arrival::Nothing
    }
}
