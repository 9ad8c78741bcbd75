//! The native half of the Python package `oxmcp`, imported as `oxmcp._native`.
//!
//! No protocol decision is made here: a [`Session`](oxmcp_proto::Session) makes them. This module
//! moves bytes between descriptors and the session, starts handlers as asyncio tasks and completes
//! futures, all on the thread of the event loop that owns the connection. What goes over HTTP lives on
//! threads of a runtime of the core's; what it says to Python comes to that same thread (`hub.rs`).
//!
//! Nothing here relies on the interpreter's lock, so that importing this module leaves it off where Python has none:
//! what several threads may reach at once is behind a mutex, and no mutex is held while Python code can run.

mod bell;
mod calls;
mod child;
mod connection;
mod context;
mod core;
mod descriptors;
mod entry;
mod error;
mod event_loop;
mod first_step;
#[cfg(unix)]
mod guard;
mod handler;
mod hook;
mod host;
mod http;
mod hub;
mod mailbox;
mod outputs;
mod port;
mod registry;
mod routes;
mod schema;
mod session;
mod state;

#[pyo3::pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        child::ChildShutdown, connection::Connection, context::Context, descriptors::Stdio, entry::Entry,
        handler::Handler, http::Exchange, http::HttpServer, hub::Hub, registry::Registry, routes::RouteReply,
        schema::Schema, session::Session,
    };

    /// The variables that a server's process inherits.
    #[pyfunction]
    fn inherited_variables() -> Vec<&'static str> {
        oxmcp_proto::INHERITED_VARIABLES.to_vec()
    }

    /// The version of the Rust core inside this module.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
