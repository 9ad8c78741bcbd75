//! The bytes on their way out: whole messages, in one buffer, written as far as the peer takes them.

/// What waits to be written.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    written: usize,
}

impl Outgoing {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.written
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn unwritten(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    /// Adds whole messages; gives a buffer back that is free for use.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if self.is_empty() {
            self.written = 0;
            return std::mem::replace(&mut self.bytes, bytes);
        }
        // Without this, a slow peer would make the buffer grow for as long as it is never quite
        // empty. Half, so that each byte moves once at the most.
        if self.written > self.bytes.len() / 2 {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        self.bytes.extend_from_slice(&bytes);
        bytes
    }

    pub(crate) fn advance(&mut self, written: usize) {
        self.written += written;
    }

    pub(crate) fn clear(&mut self) {
        self.written = self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_not_kept() {
        let mut outgoing = Outgoing::default();
        outgoing.push(b"one\n".to_vec());
        outgoing.advance(3);
        outgoing.push(b"two\n".to_vec());
        assert_eq!(outgoing.unwritten(), b"\ntwo\n");
        assert_eq!(outgoing.bytes.len(), outgoing.len());
        outgoing.advance(5);
        assert!(outgoing.is_empty());
        outgoing.push(b"three\n".to_vec());
        assert_eq!(outgoing.unwritten(), b"three\n");
    }
}
