//! Cursors: where a page of a list begins, in a form that means nothing to a client.
//!
//! A cursor names the last entry of the page before, by a number that is never given twice. So it
//! stays right when entries come and go between two pages: nothing is skipped or shown twice.

use super::EntryId;

/// Entries are numbered from zero, and this keeps the numbers from looking like an offset.
const MASK: u64 = 0x6f78_6d63_7021_5eed;

/// The cursor for the page after the entry `last` of a list.
pub(super) fn cursor(list: &str, last: EntryId) -> String {
    format!("{:016x}{:04x}", last as u64 ^ MASK, check(list, last))
}

/// The entry that a cursor of this list names; `None` when we never gave it out.
pub(super) fn read_cursor(list: &str, cursor: &str) -> Option<EntryId> {
    if cursor.len() != 20 || !cursor.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let last = u64::from_str_radix(&cursor[..16], 16).ok()? ^ MASK;
    let last = EntryId::try_from(last).ok()?;
    (u16::from_str_radix(&cursor[16..], 16).ok()? == check(list, last)).then_some(last)
}

/// Tells cursors of one list from those of another, and from text that was made up.
fn check(list: &str, last: EntryId) -> u16 {
    let bytes = list.bytes().chain((last as u64).to_be_bytes());
    let sum = bytes.fold(0x811c_9dc5_u32, |sum, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    (sum ^ (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_list_only() {
        for last in [0, 1, 99, 1 << 40] {
            let text = cursor("tools", last);
            assert_eq!(read_cursor("tools", &text), Some(last));
            assert_eq!(read_cursor("prompts", &text), None);
        }
    }

    #[test]
    fn what_was_never_given_out_is_no_cursor() {
        let good = cursor("tools", 7);
        let upper = good.to_uppercase();
        for bad in [
            "",
            "7",
            "MTA=",
            &good[1..],
            &upper,
            "00000000000000000000",
            "é0000000000000000000",
        ] {
            assert_eq!(read_cursor("tools", bad), None, "{bad}");
        }
    }
}
