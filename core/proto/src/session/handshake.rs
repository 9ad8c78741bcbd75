//! The `initialize` handshake of the revisions up to 2025-11-25, from both ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::declared::Declared;
use super::receive::invalid_params;
use super::{CallOptions, Error, ErrorKind, Output, Peer, Role, Session, State};
use crate::jsonrpc::{ErrorCode, ErrorObject, Json, ObjectWriter, RequestId, json, members, write};
use crate::{Instant, Kind, Revision};

#[derive(Deserialize)]
struct InitializeParams<'a> {
    #[serde(rename = "protocolVersion")]
    protocol_version: String,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    #[serde(borrow, rename = "clientInfo")]
    client_info: &'a RawValue,
}

#[derive(Deserialize)]
struct InitializeResult<'a> {
    #[serde(rename = "protocolVersion")]
    protocol_version: String,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    #[serde(borrow, rename = "serverInfo")]
    server_info: &'a RawValue,
    #[serde(default)]
    instructions: Option<String>,
}

/// `data` of the `-32602` that refuses a revision (lifecycle clause, Error Handling).
#[derive(Serialize, Deserialize)]
pub(super) struct Unsupported {
    pub(super) supported: Vec<String>,
    #[serde(default)]
    requested: String,
}

impl Session {
    /// Client: connects, by a handshake or, with [`Config::probe`](super::Config::probe), in the way
    /// the server is found to want. It ends with [`Output::Ready`], or with
    /// [`Output::ConnectFailed`] and [`Output::Closed`].
    ///
    /// # Errors
    /// When the session is a server's, or was connected before, or speaks no revision it could
    /// connect by.
    pub fn connect(&mut self, timeout: Option<Duration>, now: Instant) -> Result<(), Error> {
        self.see(now);
        if !matches!(self.state, State::Fresh) || self.role != Role::Client {
            return Err(Error::new(ErrorKind::Usage, "connect is for a client, and only once"));
        }
        let stateless = self
            .config
            .revisions
            .iter()
            .copied()
            .filter(|it| !it.has_handshake())
            .max();
        match stateless.filter(|_| self.config.probe) {
            Some(newest) => self.probe(newest, timeout, now),
            None if self.config.newest_with_handshake().is_none() => {
                let message = "a client needs a revision with a handshake, or to probe for one without";
                return Err(Error::new(ErrorKind::Usage, message));
            }
            None => self.shake_hands(timeout, now),
        }
        Ok(())
    }

    /// Client: starts the handshake with the newest revision that has one.
    pub(super) fn shake_hands(&mut self, timeout: Option<Duration>, now: Instant) {
        match self.config.newest_with_handshake() {
            Some(newest) => self.offer(newest, timeout, now),
            None => self.fail_handshake(Error::new(
                ErrorKind::Protocol,
                "the server speaks only revisions with a handshake, and this client only those without",
            )),
        }
    }

    pub(super) fn offer(&mut self, offered: Revision, timeout: Option<Duration>, now: Instant) {
        let params = ObjectWriter::new()
            .string("protocolVersion", offered.name())
            .json("capabilities", self.config.capabilities.get())
            .json("clientInfo", &self.config.info.to_json())
            .finish();
        let options = CallOptions {
            timeout,
            ..CallOptions::default()
        };
        let call = self.start("initialize", Some(&params), options, None, now);
        self.state = State::Connecting { call, offered, timeout };
    }

    /// The handshake is over without a connection.
    pub(super) fn fail_handshake(&mut self, error: Error) {
        self.outputs.push_back(Output::ConnectFailed(error));
        self.close("the handshake failed");
    }

    /// Server: answers `initialize`.
    pub(super) fn receive_initialize(&mut self, id: &RequestId, params: &str) {
        if !matches!(self.state, State::Fresh) {
            let message = "Invalid request: initialize came twice on this connection";
            return self.reply_error(id, ErrorObject::new(ErrorCode::INVALID_REQUEST, message));
        }
        let params: InitializeParams<'_> = match serde_json::from_str(params) {
            Ok(params) => params,
            Err(error) => return self.reply_error(id, invalid_params("initialize", &error)),
        };
        for (name, value) in [
            ("capabilities", params.capabilities),
            ("clientInfo", params.client_info),
        ] {
            if !value.get().starts_with('{') {
                let message = format!("Invalid params for initialize: \"{name}\" must be an object");
                return self.reply_error(id, ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
            }
        }
        let Some(revision) = self.negotiate(&params.protocol_version) else {
            let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, "Unsupported protocol version");
            let error = error.with_data(&self.unsupported(params.protocol_version, true));
            return self.reply_error(id, error);
        };
        let result = self.initialize_result(revision);
        write::result(&mut self.wire, id, &result);
        self.become_ready(Peer {
            revision,
            info: params.client_info.to_owned(),
            capabilities: params.capabilities.to_owned(),
            instructions: None,
        });
    }

    /// The requested revision if we speak it, else our newest, else nothing when told to be strict;
    /// always one with a handshake.
    fn negotiate(&self, requested: &str) -> Option<Revision> {
        let known = self
            .config
            .with_handshake()
            .find(|revision| revision.name() == requested);
        let ours = self
            .config
            .newest_with_handshake()
            .filter(|_| !self.config.strict_revision);
        known.or(ours)
    }

    /// What we speak, for one who asked for something else: by a handshake, what has one, if we speak
    /// any such revision.
    pub(super) fn unsupported(&self, requested: String, by_handshake: bool) -> Unsupported {
        let by_handshake = by_handshake && self.config.newest_with_handshake().is_some();
        let ours = self.config.revisions.iter();
        let ours = ours.filter(|revision| !by_handshake || revision.has_handshake());
        let supported = ours.map(Revision::to_string).filter(|name| *name != requested);
        Unsupported {
            supported: supported.collect(),
            requested,
        }
    }

    fn initialize_result(&self, revision: Revision) -> String {
        let result = ObjectWriter::new()
            .string("protocolVersion", revision.name())
            .json("capabilities", self.server_capabilities().get())
            .json("serverInfo", &self.config.info.to_json());
        match &self.config.instructions {
            Some(text) => result.string("instructions", text).finish(),
            None => result.finish(),
        }
    }

    /// What a server declares: what its settings name, as they do, and what else it is able to do.
    pub(super) fn server_capabilities(&self) -> Json {
        let named = members(&self.config.capabilities).unwrap_or_default();
        let is_named = |name: &str| named.iter().any(|(key, _)| key == name);
        let registry = &self.registry;
        let resources = match self.config.subscriptions {
            true => r#"{"subscribe":true,"listChanged":true}"#,
            false => r#"{"listChanged":true}"#,
        };
        let able = [
            ("logging", self.config.logging, "{}"),
            ("completions", registry.has_completions(), "{}"),
            ("prompts", registry.has(Kind::Prompt), r#"{"listChanged":true}"#),
            (
                "resources",
                registry.has(Kind::Resource) || registry.has(Kind::Template),
                resources,
            ),
            ("tools", registry.has(Kind::Tool), r#"{"listChanged":true}"#),
        ];
        let mut declared = ObjectWriter::new();
        for (name, value) in named
            .iter()
            .filter(|(_, value)| !matches!(value.get(), "null" | "false"))
        {
            declared = declared.json(name, value.get());
        }
        for (name, _, value) in able.into_iter().filter(|(name, able, _)| *able && !is_named(name)) {
            declared = declared.json(name, value);
        }
        json(declared.finish()).unwrap_or_else(|error| unreachable!("made of JSON: {error}"))
    }

    /// Client: takes in the answer to `initialize`.
    pub(super) fn receive_initialize_answer(&mut self, outcome: Result<&RawValue, Error>, now: Instant) {
        match outcome.and_then(|result| self.read_initialize_result(result)) {
            Ok(peer) => {
                write::notification(&mut self.wire, "notifications/initialized", None);
                self.become_ready(peer);
            }
            Err(error) => match (self.other_offer(&error), &self.state) {
                (Some(revision), State::Connecting { timeout, .. }) => self.offer(revision, *timeout, now),
                _ => self.fail_handshake(error),
            },
        }
    }

    fn read_initialize_result(&self, raw: &RawValue) -> Result<Peer, Error> {
        let broken = |what: &str| {
            Error::new(
                ErrorKind::Protocol,
                format!("the server's answer to initialize is broken: {what}"),
            )
        };
        // Serde would fill a struct from an array's elements.
        if !raw.get().starts_with('{') {
            return Err(broken("it is not an object"));
        }
        let result: InitializeResult<'_> =
            serde_json::from_str(raw.get()).map_err(|error| broken(&error.to_string()))?;
        if members(result.capabilities).is_none() || members(result.server_info).is_none() {
            return Err(broken("capabilities and serverInfo must be objects"));
        }
        let version = &result.protocol_version;
        let revision = self.config.with_handshake().find(|revision| revision.name() == version);
        let revision = revision.ok_or_else(|| {
            let ours: Vec<_> = self.config.with_handshake().map(Revision::name).collect();
            let ours = ours.join(", ");
            Error::new(
                ErrorKind::Protocol,
                format!("the server speaks revision {version}, this client speaks {ours}"),
            )
        })?;
        Ok(Peer {
            revision,
            info: result.server_info.to_owned(),
            capabilities: result.capabilities.to_owned(),
            instructions: result.instructions,
        })
    }

    /// A strict server names the revisions it speaks: the newest we share that is older than the
    /// one it refused, so that offers come to an end.
    fn other_offer(&self, error: &Error) -> Option<Revision> {
        let State::Connecting { offered, .. } = self.state else {
            return None;
        };
        if error.kind() != ErrorKind::Response || error.code() != Some(ErrorCode::INVALID_PARAMS) {
            return None;
        }
        let unsupported: Unsupported = serde_json::from_str(error.data()?).ok()?;
        let theirs = |revision: &Revision| unsupported.supported.iter().any(|name| name == revision.name());
        let ours = self.config.with_handshake().filter(|revision| *revision < offered);
        ours.filter(theirs).max()
    }

    pub(super) fn become_ready(&mut self, peer: Peer) {
        self.state = State::Ready {
            revision: peer.revision,
            declared: Declared::read(&peer.capabilities),
            peer: Box::new(peer.clone()),
        };
        if self.role == Role::Server {
            self.own = Declared::read(&self.server_capabilities());
        }
        self.forget_changes();
        self.outputs.push_back(Output::Ready(peer));
    }
}

pub(super) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("strings always serialise: {error}"))
}
