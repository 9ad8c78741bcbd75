//! Revision 2026-07-28 at the server: no handshake, each request and each result speaks for itself.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{CacheHints, LogLevel, Role, Session};
use crate::Revision;
use crate::jsonrpc::{ErrorCode, ErrorObject, Needle, ObjectWriter, Params, RequestId, decode_str, members, write};
use crate::revision::Era;

pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// What a result may say of itself.
static OWN: [Needle; 4] = [
    Needle::new("\"resultType\""),
    Needle::new("\"_meta\""),
    Needle::new("\"ttlMs\""),
    Needle::new("\"cacheScope\""),
];

impl Session {
    /// The revision that a request says it is in; `None` when it says nothing, and so
    /// belongs to the handshake.
    ///
    /// # Errors
    /// What the request is refused with: a revision we lack, or a `_meta` that is not complete
    /// (2026-07-28 basic, Per-request protocol fields).
    pub(super) fn stated_revision(&self, params: &Params<'_>) -> Result<Option<Revision>, ErrorObject> {
        let member = |wanted: &str| params.own(wanted).map_err(|twice| incomplete(&twice.0));
        if self.role == Role::Client {
            return Ok(None);
        }
        let Some(version) = member(VERSION)? else {
            return match member(CAPABILITIES)? {
                Some(_) => Err(incomplete(&format!("\"{VERSION}\" is missing"))),
                None => Ok(None),
            };
        };
        let Some(version) = decode_str(version) else {
            return Err(incomplete(&format!("\"{VERSION}\" must be a string")));
        };
        let known = Revision::named(&version).filter(|it| !it.has_handshake() && self.config.revisions.contains(it));
        let Some(revision) = known else {
            let error = ErrorObject::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version");
            return Err(error.with_data(&self.unsupported(version.into_owned(), false)));
        };
        if !member(CAPABILITIES)?.is_some_and(|capabilities| capabilities.get().starts_with('{')) {
            return Err(incomplete(&format!("\"{CAPABILITIES}\" must be an object")));
        }
        let level = member(LOG_LEVEL)?.map(|level| decode_str(level).unwrap_or_default());
        if level.is_some_and(|level| LogLevel::named(&level).is_none()) {
            return Err(incomplete(&format!(
                "\"{LOG_LEVEL}\" must be one of {}",
                LogLevel::names()
            )));
        }
        Ok(Some(revision))
    }

    /// Answers `server/discover`.
    pub(super) fn discover(&mut self, id: &RequestId, era: &'static Era) {
        let supported: Vec<&str> = self.config.revisions.iter().map(|revision| revision.name()).collect();
        let result = ObjectWriter::new()
            .json("supportedVersions", &super::handshake::to_json(&supported))
            .json("capabilities", self.server_capabilities().get());
        let result = match &self.config.instructions {
            Some(text) => result.string("instructions", text),
            None => result,
        };
        self.reply_cacheable(id, era, &result.finish());
    }

    /// Answers with a result that a client may keep for a while.
    pub(super) fn reply_cacheable(&mut self, id: &RequestId, era: &'static Era, result: &str) {
        if !era.stateless {
            return write::result(&mut self.wire, id, result);
        }
        self.reply_complete(id, result, Some(self.config.cache));
    }

    /// Adds `resultType`, our name and hints to a result. What it says of these itself stays.
    pub(super) fn reply_complete(&mut self, id: &RequestId, result: &str, hints: Option<CacheHints>) {
        let text = result.trim();
        if !text.starts_with('{') {
            // A handler's result is an object; anything else is passed on for the client to judge.
            return write::result(&mut self.wire, id, result);
        }
        // Most results say nothing of all this: then nothing needs to be read.
        if !OWN.iter().any(|own| own.is_in(text)) {
            let whole = match hints {
                None => ObjectWriter::new().members_of(self.config.complete_members()),
                Some(_) => self.complete_prefix(&[], hints),
            };
            return write::result(&mut self.wire, id, &whole.members_of(text).finish());
        }
        let Some(all) = serde_json::from_str(text).ok().and_then(members) else {
            return write::result(&mut self.wire, id, result);
        };
        let mut whole = self.complete_prefix(&all, hints);
        for (key, value) in all.iter().filter(|(key, _)| key != "_meta") {
            whole = whole.json(key, value.get());
        }
        write::result(&mut self.wire, id, &whole.finish());
    }

    /// What a result with these members lacks, and its `_meta`.
    fn complete_prefix(&self, all: &[(Cow<'_, str>, &RawValue)], hints: Option<CacheHints>) -> ObjectWriter {
        let member = |wanted: &str| all.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
        let mut whole = ObjectWriter::new();
        let kind = member("resultType");
        if kind.is_none() {
            whole = whole.string("resultType", "complete");
        }
        // A result that asks for input is none to keep.
        if let Some(hints) = hints.filter(|_| kind.is_none_or(|kind| kind.get() == "\"complete\"")) {
            if member("ttlMs").is_none() {
                whole = whole.integer("ttlMs", i64::try_from(hints.ttl.as_millis()).unwrap_or(i64::MAX));
            }
            if member("cacheScope").is_none() {
                whole = whole.string("cacheScope", if hints.public { "public" } else { "private" });
            }
        }
        let theirs = member("_meta").and_then(members).unwrap_or_default();
        let mut meta = ObjectWriter::new();
        for (key, value) in &theirs {
            meta = meta.json(key, value.get());
        }
        if !theirs.iter().any(|(key, _)| key == SERVER_INFO) {
            meta = meta.json(SERVER_INFO, &self.config.info.to_json());
        }
        whole.json("_meta", &meta.finish())
    }
}

pub(super) fn incomplete(what: &str) -> ErrorObject {
    ErrorObject::new(
        ErrorCode::INVALID_PARAMS,
        format!("Invalid _meta of the request: {what}"),
    )
}
