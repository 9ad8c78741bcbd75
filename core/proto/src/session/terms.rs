//! What a handshake settled on, and what the client set since then: enough to serve its next request elsewhere.
//!
//! For a server of several processes: each may have a session of its own for the same client. A request is served
//! where it arrived; what is under way stays where it is. Our own calls have ids that tell the sessions apart, as a
//! client sees them all: [`Terms::first_call`].

use super::{Error, ErrorKind, LogLevel, OutboundId, Peer, Role, Session, State, own_call};
use crate::Revision;
use crate::jsonrpc::{Json, ObjectWriter, RequestId, decode_str, json, members};

/// How many bits of the id of a call count calls. With the number of the session above them, ids stay within the
/// 53 bits that any JSON reader keeps whole.
const CALL_BITS: u32 = 32;

/// What a server must know of a client to go on with its session.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The revision both sides speak.
    pub revision: Revision,
    /// `clientInfo`.
    pub info: Json,
    /// The client's capabilities.
    pub capabilities: Json,
    /// What the client set since the handshake.
    pub set: TermsSet,
}

/// What a client can set once its session has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermsSet {
    /// The mildest log messages it wants.
    pub log_level: LogLevel,
    /// The resources it subscribed to.
    pub subscribed: Vec<Box<str>>,
}

impl Terms {
    /// How many sessions may share their terms, one after the other or at once.
    pub const SESSIONS: u64 = 1 << (53 - CALL_BITS);

    /// The first id of a call of ours in the session with this number.
    pub const fn first_call(session: u64) -> u64 {
        session << CALL_BITS
    }

    /// The number of the session that made a call, from the id that the client answers.
    ///
    /// ```
    /// use oxmcp_proto::Terms;
    /// use oxmcp_proto::jsonrpc::RequestId;
    ///
    /// let answered = RequestId::Integer(Terms::first_call(3) as i64 + 7);
    /// assert_eq!(Terms::session_of(&answered), Some(3));
    /// ```
    pub fn session_of(answered: &RequestId) -> Option<u64> {
        own_call(answered).map(|(OutboundId(id), _)| id >> CALL_BITS)
    }

    /// The part that the handshake settled on, as a JSON object, to be kept by what the sessions share.
    pub fn to_json(&self) -> String {
        ObjectWriter::new()
            .string("protocolVersion", self.revision.name())
            .json("clientInfo", self.info.get())
            .json("capabilities", self.capabilities.get())
            .finish()
    }

    /// Reads what [`to_json`](Self::to_json) wrote; `None` when it is no such text.
    pub fn from_json(text: &str, set: TermsSet) -> Option<Self> {
        let all: Json = json(text).ok()?;
        let all = members(&all)?;
        let member = |wanted: &str| all.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
        Some(Self {
            revision: Revision::named(&decode_str(member("protocolVersion")?)?)?,
            info: member("clientInfo")?.to_owned(),
            capabilities: member("capabilities")?.to_owned(),
            set,
        })
    }
}

impl Session {
    /// Server: what was settled on by a handshake; `None` before it.
    pub fn terms(&self) -> Option<Terms> {
        match &self.state {
            State::Ready { peer, .. } if self.role == Role::Server => Some(Terms {
                revision: peer.revision,
                info: peer.info.clone(),
                capabilities: peer.capabilities.clone(),
                set: self.terms_set(),
            }),
            _ => None,
        }
    }

    /// Server: what the client set.
    pub fn terms_set(&self) -> TermsSet {
        TermsSet {
            log_level: self.log_level,
            subscribed: self.notices.subscribed(),
        }
    }

    /// Server: goes on with a session that began elsewhere, as the one with this number. Nothing is written;
    /// [`Output::Ready`](super::Output::Ready) follows.
    ///
    /// # Errors
    /// When this session has begun itself, or a server like this could not have settled on such terms.
    pub fn restore(&mut self, terms: Terms, session: u64) -> Result<(), Error> {
        let wrong = |what: &str| Error::new(ErrorKind::Usage, format!("the session was not restored: {what}"));
        if self.role != Role::Server || !matches!(self.state, State::Fresh) {
            return Err(wrong("only a server's can be, and only before anything else"));
        }
        if !self.config.with_handshake().any(|it| it == terms.revision) {
            return Err(wrong("its revision is not spoken here, or has no handshake"));
        }
        if session >= Terms::SESSIONS {
            return Err(wrong("it went on in too many places"));
        }
        if !terms.info.get().starts_with('{') || !terms.capabilities.get().starts_with('{') {
            return Err(wrong("clientInfo and capabilities must be objects"));
        }
        self.outbound.begin_at(OutboundId(Terms::first_call(session)));
        // Its client has had the answer to its handshake, or it could not name the session.
        self.initialized = true;
        self.set_terms(terms.set);
        self.become_ready(Peer {
            revision: terms.revision,
            info: terms.info,
            capabilities: terms.capabilities,
            instructions: None,
        });
        Ok(())
    }

    /// Server: the client set this elsewhere.
    pub fn set_terms(&mut self, set: TermsSet) {
        self.log_level = set.log_level;
        self.notices.subscribe_to(set.subscribed);
    }
}

impl TermsSet {
    /// Whether a request of this method may change it.
    pub fn changes_by(method: &str) -> bool {
        matches!(
            method,
            "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
        )
    }
}
