//! A session's answers to the calls of its peer.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;
use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, json};
use oxmcp_proto::{Answer, Config, InboundId, Instant};

use crate::error::Failure;
use crate::registry::Registry;
use crate::session::Session;
use crate::state::Cause;

#[napi]
impl Session {
    /// A server's end, which offers what is in the registry.
    #[napi(factory)]
    pub fn server(
        env: &Env,
        info: String,
        options: String,
        registry: ClassInstance<'_, Registry>,
    ) -> napi::Result<Self> {
        let config = Config::from_json(&info, &options).map_err(|error| Failure::from(error).throw(env))?;
        let session = oxmcp_proto::Session::server(config, Arc::clone(&registry.entries));
        Ok(Self::new(session, registry.as_text.clone()))
    }

    /// Answers a call with the JSON text of a result. False when it was cancelled or answered before.
    #[napi]
    pub fn respond_result(&self, env: &Env, id: i64, result: String, now: f64) -> napi::Result<bool> {
        self.respond(env, id, Answer::Result(&result), now)
    }

    /// Answers a call: the tool failed.
    #[napi]
    pub fn respond_tool_error(&self, env: &Env, id: i64, message: String, now: f64) -> napi::Result<bool> {
        self.respond(env, id, Answer::ToolError(&message), now)
    }

    /// Answers a call: its arguments do not fit the tool's schema.
    #[napi]
    pub fn respond_invalid_arguments(&self, env: &Env, id: i64, what: String, now: f64) -> napi::Result<bool> {
        self.respond(env, id, Answer::InvalidArguments(&what), now)
    }

    /// Answers a call with a protocol error. `data` is JSON text.
    #[napi]
    pub fn respond_error(
        &self,
        env: &Env,
        id: i64,
        code: i64,
        message: String,
        data: Option<String>,
        now: f64,
    ) -> napi::Result<bool> {
        let mut error = ErrorObject::new(ErrorCode(code), message);
        if let Some(data) = data {
            let invalid = |error| Failure::usage(format!("data is not JSON: {error}"));
            error.data = Some(json(data).map_err(|error| invalid(error).throw(env))?);
        }
        self.respond(env, id, Answer::Error(error), now)
    }

    /// Reports progress on a call. False when nothing was sent.
    #[napi]
    pub fn progress(
        &self,
        env: &Env,
        id: i64,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> napi::Result<bool> {
        self.owing(env, 0.0, |session, _| {
            session.progress(InboundId(id as u64), progress, total, message.as_deref())
        })
    }

    /// Ends the stream that the answer to this call would go on; the client comes back for it.
    #[napi]
    pub fn end_stream(&self, env: &Env, id: i64) -> napi::Result<()> {
        self.handle.with(env, |state| {
            state.end_stream(InboundId(id as u64));
            Ok(())
        })
    }

    /// Serves a call that waited for the registry to be complete. False when it was cancelled meanwhile.
    #[napi]
    pub fn resume(&self, env: &Env, id: i64) -> napi::Result<bool> {
        self.drive(env, |session| session.resume(InboundId(id as u64)))
    }
}

impl Session {
    fn respond(&self, env: &Env, id: i64, answer: Answer<'_>, now: f64) -> napi::Result<bool> {
        self.owing(env, now, |session, now| {
            session.respond(InboundId(id as u64), answer, now)
        })
    }

    fn owing<T>(
        &self,
        env: &Env,
        now: f64,
        work: impl FnOnce(&mut oxmcp_proto::Session, Instant) -> T,
    ) -> napi::Result<T> {
        let work = |session: &mut oxmcp_proto::Session, now| Ok(work(session, now));
        self.handle
            .with(env, |state| state.try_drive(env, now, Cause::Peer, work))
    }
}
