//! The session a client has with a server, and what happens when the server no longer knows it.
//!
//! The id is taken from the answer to a successful `initialize` and from nowhere else, and is never sent with
//! an `initialize`. A 404 to a request with an id ends that session, not one that has been begun since
//! (2025-11-25 transports, Session Management, rules 2 and 4).

use super::super::session_id::is_session_id;

/// Whether there is a session, and which one.
///
/// ```
/// use oxmcp_proto::http::client::{ClientSession, Lost};
///
/// let mut session = ClientSession::new(true);
/// session.begun(Some("first"))?;
/// let (id, ticket) = session.carry();
/// assert_eq!(id, Some("first"));
/// assert_eq!(session.lost(ticket), Lost::BeginAnew);
/// session.begun(Some("second"))?;
/// assert_eq!(session.lost(ticket), Lost::SendAgain);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClientSession {
    id: Option<String>,
    /// How many sessions there were.
    count: u64,
    lost: bool,
    begins_anew: bool,
}

/// Tells which session a request was sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

/// What to do when the server does not know the session of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Send `initialize`, and fail the other calls of the old session: their answers are lost. Then send the
    /// request once more, if the caller allows; no handler has seen it.
    BeginAnew,
    /// A new session is being begun: wait for it, then send the request once more.
    Wait,
    /// There is a new one already: send the request once more.
    SendAgain,
    /// The session has expired, and the program did not want another one.
    Expired,
}

impl ClientSession {
    /// No session yet. `begins_anew` tells whether a lost one is replaced.
    pub fn new(begins_anew: bool) -> Self {
        Self {
            id: None,
            count: 0,
            lost: false,
            begins_anew,
        }
    }

    /// A handshake has succeeded; `id` is the `Mcp-Session-Id` of its response, if there was one.
    ///
    /// # Errors
    /// When the id is not visible ASCII.
    pub fn begun(&mut self, id: Option<&str>) -> Result<(), String> {
        if let Some(id) = id.filter(|id| !is_session_id(id)) {
            return Err(format!(
                "the server gave the session id {id:?}, which is not visible ASCII"
            ));
        }
        self.id = id.map(str::to_owned);
        self.count += 1;
        self.lost = false;
        Ok(())
    }

    /// The `initialize` of a session that was to be begun anew has failed: those who wait for it fail too, and
    /// the next request that is told of a lost session tries again.
    pub fn not_begun(&mut self) {
        self.lost = false;
    }

    /// The id to send with a request other than `initialize`, and a ticket to keep with it.
    pub fn carry(&self) -> (Option<&str>, Ticket) {
        (self.id.as_deref(), Ticket(self.count))
    }

    /// The server does not know the session of the request with this ticket.
    pub fn lost(&mut self, ticket: Ticket) -> Lost {
        if ticket.0 != self.count {
            return if self.lost { Lost::Wait } else { Lost::SendAgain };
        }
        self.id = None;
        match (self.begins_anew, self.lost) {
            (false, _) => Lost::Expired,
            (true, true) => Lost::Wait,
            (true, false) => {
                self.lost = true;
                Lost::BeginAnew
            }
        }
    }

    /// The session is closed: the id to send a DELETE for, once.
    pub fn close(&mut self) -> Option<String> {
        self.id.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_session_is_begun_anew_once_however_many_requests_lost_it() {
        let mut session = ClientSession::new(true);
        session.begun(Some("a")).unwrap();
        let (_, ticket) = session.carry();
        assert_eq!(session.lost(ticket), Lost::BeginAnew);
        assert_eq!(session.lost(ticket), Lost::Wait);
        assert_eq!(session.carry().0, None);
        session.begun(Some("b")).unwrap();
        assert_eq!(session.lost(ticket), Lost::SendAgain);
        let (id, newer) = session.carry();
        assert_eq!(id, Some("b"));
        assert_eq!(session.lost(newer), Lost::BeginAnew);
        assert_eq!(session.lost(ticket), Lost::Wait);
    }

    #[test]
    fn after_a_failed_handshake_the_next_request_tries_again() {
        let mut session = ClientSession::new(true);
        session.begun(Some("a")).unwrap();
        let (_, ticket) = session.carry();
        assert_eq!(session.lost(ticket), Lost::BeginAnew);
        session.not_begun();
        assert_eq!(
            (session.lost(ticket), session.lost(ticket)),
            (Lost::BeginAnew, Lost::Wait)
        );
    }

    #[test]
    fn a_program_that_wants_no_second_session_is_told_that_it_expired() {
        let mut session = ClientSession::new(false);
        session.begun(Some("a")).unwrap();
        let (_, ticket) = session.carry();
        assert_eq!(
            (session.lost(ticket), session.lost(ticket)),
            (Lost::Expired, Lost::Expired)
        );
        assert_eq!(session.close(), None);
    }

    #[test]
    fn the_id_of_a_handshake_replaces_any_other() {
        let mut session = ClientSession::new(true);
        session.begun(Some("a")).unwrap();
        session.begun(None).unwrap();
        assert_eq!(session.carry().0, None);
        for bad in ["", "a b", "\u{e9}"] {
            assert!(session.begun(Some(bad)).is_err(), "{bad:?}");
        }
        session.begun(Some("c")).unwrap();
        assert_eq!((session.close().as_deref(), session.close()), (Some("c"), None));
    }
}
