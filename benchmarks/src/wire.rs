//! What the load sends: requests that are ready as bytes before a clock starts, and the list of those answered.

use crate::reply::WrongReply;

/// The revision that the load asks for.
pub(crate) const PROTOCOL_VERSION: &str = "2025-06-18";

pub(crate) const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"oxmcp-bench","version":"1.0.0"}}}
"#;
pub(crate) const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// The text that the call with this id sends, and must get back. No two ids share one.
pub(crate) fn text(id: u64) -> String {
    format!("{TEXT_BEFORE}{id:0TEXT_DIGITS$}{TEXT_AFTER}")
}

pub(crate) const TEXT_BEFORE: &str = "message ";
pub(crate) const TEXT_DIGITS: usize = 8;
pub(crate) const TEXT_AFTER: &str = " of the benchmark";

/// `tools/call` requests with ascending ids, one line each, in one buffer: any run of them is one write.
pub(crate) struct Requests {
    first_id: u64,
    bytes: Vec<u8>,
    /// Where each request begins, and where the last one ends.
    bounds: Vec<usize>,
}

impl Requests {
    pub(crate) fn new(first_id: u64, count: usize) -> Self {
        let mut bytes = Vec::with_capacity(count * 160);
        let mut bounds = vec![0];
        for id in (first_id..).take(count) {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{}"}}}}}}"#,
                text(id)
            );
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
            bounds.push(bytes.len());
        }
        Self {
            first_id,
            bytes,
            bounds,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    pub(crate) fn id(&self, index: usize) -> u64 {
        self.first_id + index as u64
    }

    /// The requests from `from` up to but without `to`, as they go on the wire.
    pub(crate) fn lines(&self, from: usize, to: usize) -> &[u8] {
        &self.bytes[self.bounds[from]..self.bounds[to]]
    }
}

/// Which calls have an answer already. An id outside the range, or seen twice, is an error.
pub(crate) struct Answered {
    first_id: u64,
    seen: Vec<bool>,
}

impl Answered {
    pub(crate) fn none_of(requests: &Requests) -> Self {
        Self {
            first_id: requests.first_id,
            seen: vec![false; requests.len()],
        }
    }

    pub(crate) fn mark(&mut self, id: u64, sent: usize) -> Result<(), WrongReply> {
        let index = id
            .checked_sub(self.first_id)
            .and_then(|index| usize::try_from(index).ok());
        match index.filter(|&index| index < sent) {
            None => Err(WrongReply::new(format!("a reply to the id {id}, which was not sent"))),
            Some(index) if self.seen[index] => Err(WrongReply::new(format!("a second reply to the id {id}"))),
            Some(index) => {
                self.seen[index] = true;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_is_answered_once_and_only_if_sent() {
        let requests = Requests::new(10, 3);
        let mut answered = Answered::none_of(&requests);
        assert_eq!(answered.mark(11, 3), Ok(()));
        assert!(answered.mark(11, 3).is_err(), "twice");
        assert!(answered.mark(12, 2).is_err(), "not sent yet");
        assert!(answered.mark(9, 3).is_err(), "before the range");
        assert!(answered.mark(13, 3).is_err(), "behind the range");
        assert_eq!(answered.mark(12, 3), Ok(()));
    }

    #[test]
    fn requests_are_lines_with_ascending_ids() {
        let requests = Requests::new(99, 2);
        let lines: Vec<serde_json::Value> = requests
            .lines(0, 2)
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).expect("a request is JSON"))
            .collect();
        assert_eq!(lines.len(), requests.len());
        for (index, line) in lines.iter().enumerate() {
            assert_eq!(line["id"], requests.id(index));
            assert_eq!(line["params"]["arguments"]["text"], text(requests.id(index)));
        }
    }
}
