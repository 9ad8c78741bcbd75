//! A session's calls of its own, and the handshake that a client starts.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;
use oxmcp_proto::{Config, OutboundId};

use crate::error::Failure;
use crate::options::{CallTuple, call_options, optional_duration};
use crate::registry::{AsText, Registry};
use crate::session::Session;

#[napi]
impl Session {
    /// A client's end. The registry has the methods of its own that it serves.
    #[napi(factory)]
    pub fn client(
        env: &Env,
        info: String,
        options: String,
        registry: Option<ClassInstance<'_, Registry>>,
    ) -> napi::Result<Self> {
        let config = Config::from_json(&info, &options).map_err(|error| Failure::from(error).throw(env))?;
        let methods = registry.map_or_else(Arc::default, |registry| Arc::clone(&registry.entries));
        let session = oxmcp_proto::Session::client_with(config, methods);
        Ok(Self::new(session, AsText::default()))
    }

    /// Starts the handshake.
    #[napi]
    pub fn connect(&self, env: &Env, timeout: Option<f64>, now: f64) -> napi::Result<()> {
        self.drive_at(env, now, |session, now| {
            let timeout = optional_duration("timeout", timeout)?;
            Ok(session.connect(timeout, now)?)
        })
    }

    /// The server left at the first question, and another process is there in its place: shakes hands with that. False when it did
    /// not leave there.
    #[napi]
    pub fn start_over(&self, env: &Env, now: f64) -> napi::Result<bool> {
        self.drive_at(env, now, |session, now| Ok(session.start_over(now)))
    }

    /// Makes a call. `params` is the JSON text of an object. Gives the call's id.
    #[napi]
    pub fn begin(
        &self,
        env: &Env,
        method: String,
        params: Option<String>,
        options: Option<CallTuple>,
        now: f64,
    ) -> napi::Result<i64> {
        self.drive_at(env, now, |session, now| {
            let options = call_options(options)?;
            let id = session.begin(&method, params.as_deref(), options, now)?;
            // Ids count up from zero one by one, and so stay exact in JavaScript.
            Ok(id.0 as i64)
        })
    }

    /// Asks for a sign of life. Gives the call's id.
    #[napi]
    pub fn ping(&self, env: &Env, options: Option<CallTuple>, now: f64) -> napi::Result<i64> {
        self.drive_at(env, now, |session, now| {
            let id = session.ping(call_options(options)?, now)?;
            Ok(id.0 as i64)
        })
    }

    /// Calls a tool. `arguments` is the JSON text of an object. Gives the call's id.
    #[napi]
    pub fn call_tool(
        &self,
        env: &Env,
        name: String,
        arguments: Option<String>,
        options: Option<CallTuple>,
        now: f64,
    ) -> napi::Result<i64> {
        crate::hot::call_tool(env, self.handle.number(), name, arguments, options, now)
    }

    /// Cancels a call of ours. False when it had ended.
    #[napi]
    pub fn cancel(&self, env: &Env, id: i64, reason: Option<String>) -> napi::Result<bool> {
        self.drive(env, |session| session.cancel(OutboundId(id as u64), reason.as_deref()))
    }

    /// Sends a notification. `params` is the JSON text of an object.
    #[napi]
    pub fn notify(&self, env: &Env, method: String, params: Option<String>) -> napi::Result<()> {
        self.drive_at(env, 0.0, |session, _| Ok(session.notify(&method, params.as_deref())?))
    }
}
