//! What a server offers, or the methods of a client's own.

use std::sync::Arc;

use crate::failure::{Refusal, guarded};

/// Entries by kind and number. One serves any number of connections.
#[derive(Debug, Default, uniffi::Object)]
pub struct Registry {
    pub(crate) entries: Arc<oxmcp_proto::Registry>,
}

#[uniffi::export]
impl Registry {
    /// An empty one.
    #[uniffi::constructor]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a command of the registry's, given and answered as JSON: `add`, `describe`, `remove`, `setEnabled`,
    /// `addMethod`, `setPageSize` (the table in `core/proto/src/session/command.rs`). Connections tell of what it changed.
    ///
    /// # Errors
    /// A command that nobody knows, or what the registry refused.
    pub fn command(&self, text: &str) -> Result<String, Refusal> {
        guarded(|| Ok(self.entries.command(text)?))
    }
}
