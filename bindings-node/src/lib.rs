//! The native half of the npm package `oxmcp`. `ts/native.ts` loads it and gives it types.
//!
//! A thin border over `oxmcp-proto`: JavaScript owns the event loop, the pipes, the clock and every callback; what
//! crosses is bytes, numbers and JSON text. Nothing here keeps a JavaScript value between two calls, so an environment
//! that goes away leaves nothing behind. Threads are started for HTTP only, and reach JavaScript by `hub.rs` alone.

pub mod child;
mod error;
mod groups;
pub mod hot;
pub mod http;
pub mod hub;
pub mod input;
mod options;
pub mod pipe;
pub mod random;
mod registry;
mod session;
mod session_client;
mod session_server;
#[cfg(unix)]
mod signals;
mod state;
pub mod stdout;
pub mod uri_template;
#[cfg(unix)]
mod uv;
pub mod verdicts;

use napi_derive::napi;

/// The version of the Rust core inside this addon.
#[napi]
#[must_use]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
