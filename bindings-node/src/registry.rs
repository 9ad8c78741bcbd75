//! The class `Registry`: what a server offers, or the methods of a client's own. One serves any number of sessions.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use napi::Env;
use napi_derive::napi;
use oxmcp_proto::EntryId;

use crate::error::Failure;
use crate::state::panic_text;

/// Entries by kind and number; changed by commands in JSON (see `Session::command` in oxmcp-proto).
#[napi]
pub struct Registry {
    pub(crate) entries: Arc<oxmcp_proto::Registry>,
    pub(crate) as_text: AsText,
}

/// The tools whose arguments JavaScript wants as text.
#[derive(Clone, Debug, Default)]
pub(crate) struct AsText(Arc<Mutex<HashSet<EntryId>>>);

impl AsText {
    pub(crate) fn has(&self, tool: EntryId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&tool)
    }
}

#[napi]
impl Registry {
    /// An empty one.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self {
            entries: Arc::default(),
            as_text: AsText::default(),
        }
    }

    /// Gives the arguments of a tool as JSON text, in place of the object: digits and all.
    #[napi]
    pub fn keep_text(&self, tool: u32) {
        let mut tools = self.as_text.0.lock().unwrap_or_else(PoisonError::into_inner);
        tools.insert(tool as EntryId);
    }

    /// Runs a command. What it changes is told by each session that serves the registry when it is next driven.
    #[napi]
    pub fn command(&self, env: &Env, text: String) -> napi::Result<String> {
        match catch_unwind(AssertUnwindSafe(|| self.entries.command(&text))) {
            Ok(given) => given.map_err(|error| Failure::from(error).throw(env)),
            Err(panic) => {
                let why = format!("a fault inside oxmcp: {}", panic_text(&*panic));
                Err(Failure::Broken(why).throw(env))
            }
        }
    }
}
