//! The client over HTTP: against our own server, and against servers that are scripted byte by byte.
#![cfg(feature = "http")]

mod eras;
mod example;
mod failures;
mod legacy;
mod ours;
mod script;
#[path = "../support/mod.rs"]
mod support;
mod tls;
mod unauthorized;
mod ways;
