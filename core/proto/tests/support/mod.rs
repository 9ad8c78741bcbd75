//! What runs the transcripts of `tests/vectors` against a session.

pub(crate) mod exact;
pub(crate) mod expect;
pub(crate) mod fields;
pub(crate) mod runner;
pub(crate) mod transcript;
