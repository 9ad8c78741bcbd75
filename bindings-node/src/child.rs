//! How a client ends a server process: by steps, each with its time.

use napi::Env;
use napi_derive::napi;
use oxmcp_proto::{ChildStep, INHERITED_VARIABLES, Instant, duration_from_millis};

use crate::error::Failure;

/// The variables that a server's process inherits.
#[napi]
pub fn inherited_variables() -> Vec<&'static str> {
    INHERITED_VARIABLES.to_vec()
}

/// The steps of one shutdown, each with its time (milliseconds on the caller's clock).
#[napi]
pub struct ChildShutdown(oxmcp_proto::ChildShutdown);

#[napi]
impl ChildShutdown {
    /// A shutdown that waits `grace` milliseconds after each step, two seconds by default.
    #[napi(constructor)]
    pub fn new(env: &Env, grace: Option<f64>) -> napi::Result<Self> {
        let Some(grace) = grace else {
            return Ok(Self(oxmcp_proto::ChildShutdown::default()));
        };
        let grace = duration_from_millis("grace", grace).map_err(|error| Failure::from(error).throw(env))?;
        Ok(Self(oxmcp_proto::ChildShutdown::new(grace)))
    }

    /// The step that is due: `"closeInput"`, `"terminate"`, `"kill"` or `null`.
    #[napi]
    pub fn poll(&mut self, now: f64) -> Option<&'static str> {
        self.0.poll(Instant::from_millis(now)).map(|step| match step {
            ChildStep::CloseInput => "closeInput",
            ChildStep::Terminate => "terminate",
            ChildStep::Kill => "kill",
        })
    }

    /// When the next step is due; `null` once all are done or before the first.
    #[napi]
    pub fn poll_timeout(&self) -> Option<f64> {
        self.0.poll_timeout().map(Instant::as_millis)
    }
}
