//! Revision 2026-07-28 at the server: no handshake, each request and each result speaks for itself.

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Role, Session};
use crate::Revision;
use crate::jsonrpc::{ErrorCode, ErrorObject, ObjectWriter, RequestId, decode_str, members, write};
use crate::revision::Era;

pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

impl Session {
    /// The rules of the revision that a request says it is in; `None` when it says nothing, and so
    /// belongs to the handshake.
    ///
    /// # Errors
    /// What the request is refused with: a revision we lack, or a `_meta` that is not complete
    /// (2026-07-28 basic, Per-request protocol fields).
    pub(super) fn stated_era(&self, params: Option<&RawValue>) -> Result<Option<&'static Era>, ErrorObject> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, default, rename = "_meta")]
            meta: Option<&'a RawValue>,
        }
        // Nearly every request of the older revisions ends here.
        let says = |text: &&str| memmem::find(text.as_bytes(), VERSION.as_bytes()).is_some();
        let Some(text) = params.map(RawValue::get).filter(says) else {
            return Ok(None);
        };
        let meta = serde_json::from_str(text)
            .ok()
            .and_then(|params: Params<'_>| params.meta);
        let meta = meta.and_then(members).unwrap_or_default();
        let member = |wanted: &str| meta.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
        let Some(version) = member(VERSION).filter(|_| self.role == Role::Server) else {
            return Ok(None);
        };
        let Some(version) = decode_str(version) else {
            return Err(incomplete(&format!("\"{VERSION}\" must be a string")));
        };
        let known = Revision::named(&version).filter(|it| !it.has_handshake() && self.config.revisions.contains(it));
        let Some(revision) = known else {
            let error = ErrorObject::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version");
            return Err(error.with_data(&self.unsupported(version.into_owned(), false)));
        };
        if !member(CAPABILITIES).is_some_and(|capabilities| capabilities.get().starts_with('{')) {
            return Err(incomplete(&format!("\"{CAPABILITIES}\" must be an object")));
        }
        let level = member(LOG_LEVEL).map(|level| decode_str(level).unwrap_or_default());
        if level.is_some_and(|level| !LOG_LEVELS.contains(&&*level)) {
            return Err(incomplete(&format!(
                "\"{LOG_LEVEL}\" must be one of {}",
                LOG_LEVELS.join(", ")
            )));
        }
        Ok(Some(revision.era()))
    }

    /// Answers `server/discover`.
    pub(super) fn discover(&mut self, id: &RequestId, era: &'static Era) {
        let supported: Vec<&str> = self.config.revisions.iter().map(|revision| revision.name()).collect();
        let result = ObjectWriter::new()
            .json("supportedVersions", &super::handshake::to_json(&supported))
            .json("capabilities", self.server_capabilities());
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
        let cache = self.config.cache;
        let ttl = i64::try_from(cache.ttl.as_millis()).unwrap_or(i64::MAX);
        let hints = ObjectWriter::new()
            .integer("ttlMs", ttl)
            .string("cacheScope", if cache.public { "public" } else { "private" });
        self.reply_complete(id, result, hints);
    }

    /// Answers with a result as the revision wants it.
    pub(super) fn reply_result(&mut self, id: &RequestId, era: &'static Era, result: &str) {
        if era.stateless {
            self.reply_complete(id, result, ObjectWriter::new());
        } else {
            write::result(&mut self.wire, id, result);
        }
    }

    /// Adds `resultType` and our name to a result. What it says of these itself stays.
    fn reply_complete(&mut self, id: &RequestId, result: &str, mut whole: ObjectWriter) {
        let parsed = serde_json::from_str(result).ok().and_then(members);
        // A handler's result is an object; anything else is passed on for the client to judge.
        let Some(all) = parsed else {
            return write::result(&mut self.wire, id, result);
        };
        let has = |wanted: &str| all.iter().any(|(key, _)| key == wanted);
        if !has("resultType") {
            whole = whole.string("resultType", "complete");
        }
        let theirs = all
            .iter()
            .find(|(key, _)| key == "_meta")
            .and_then(|(_, meta)| members(meta));
        let mut meta = ObjectWriter::new();
        for (key, value) in theirs.iter().flatten() {
            meta = meta.json(key, value.get());
        }
        if !theirs.iter().flatten().any(|(key, _)| key == SERVER_INFO) {
            meta = meta.json(SERVER_INFO, &super::handshake::to_json(&self.config.info));
        }
        whole = whole.json("_meta", &meta.finish());
        for (key, value) in all.iter().filter(|(key, _)| key != "_meta") {
            whole = whole.json(key, value.get());
        }
        write::result(&mut self.wire, id, &whole.finish());
    }
}

fn incomplete(what: &str) -> ErrorObject {
    ErrorObject::new(
        ErrorCode::INVALID_PARAMS,
        format!("Invalid _meta of the request: {what}"),
    )
}
