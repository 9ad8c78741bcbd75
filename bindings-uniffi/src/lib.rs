//! The native half of the Kotlin and Swift packages, exported through `UniFFI`.
//!
//! Few coarse verbs, since each crossing costs: envelopes cross as typed fields, payloads as JSON text. Nothing here calls
//! into the host: what happens waits in one queue for each endpoint, until the host takes it with `next_events`.

#[cfg(target_os = "android")]
mod android;
mod endpoint;
mod event;
mod failure;
mod lane;
mod origin;
mod registry;
mod signal;
mod spec;
mod table;
mod transcript;
mod verbs;

pub use endpoint::{Endpoint, Live, live};
pub use event::{Event, Happening};
pub use failure::{Failure, Refusal};
pub use lane::{close_lane, oxmcp_lane_verb, oxmcp_lane_wait};
pub use origin::{HttpField, HttpRequest};
pub use registry::Registry;
pub use transcript::{Said, Stats, Transcript};
pub use verbs::{Notice, Reply, Request, RequestOptions};

uniffi::setup_scaffolding!();

/// The version of the Rust core inside this library.
#[uniffi::export]
#[must_use]
pub fn version() -> String {
    oxmcp::VERSION.to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn version_is_that_of_the_core() {
        assert_eq!(super::version(), oxmcp::VERSION);
    }
}
