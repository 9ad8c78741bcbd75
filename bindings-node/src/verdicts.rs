//! The era that servers were found to be of, remembered for all clients of the process.

use std::sync::LazyLock;

use napi_derive::napi;
use oxmcp_proto::{Revision, Verdicts};

static VERDICTS: LazyLock<Verdicts> = LazyLock::new(Verdicts::default);

/// Whether a client should ask this server which era it is of. `server` is any text that stands for it.
#[napi]
pub fn should_probe(server: String) -> bool {
    VERDICTS.should_probe(&server)
}

/// A client of this server connected in `revision`; `null`: connecting failed.
#[napi]
pub fn learn_verdict(server: String, revision: Option<String>) {
    match revision.as_deref().and_then(Revision::named) {
        Some(revision) => VERDICTS.learn(&server, revision),
        None => VERDICTS.forget(&server),
    }
}
