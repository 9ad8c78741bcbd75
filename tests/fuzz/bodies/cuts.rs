//! How a target cuts its bytes into chunks: as its input says, so that a cut that matters is found.

/// Cuts `bytes` by a rule: 0 is byte by byte, any other is up to so many bytes each, of a length that
/// varies, nothing at all included.
pub(crate) fn chunks(rule: u8, bytes: &[u8]) -> Vec<&[u8]> {
    if rule == 0 {
        return bytes.chunks(1).collect();
    }
    let mut random = u32::from(rule);
    let mut rest = bytes;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = (random >> 16) as usize % (usize::from(rule) + 1);
        let (head, tail) = rest.split_at(length.min(rest.len()));
        chunks.push(head);
        rest = tail;
    }
    chunks
}
