//! Servers over HTTP: the load on them, who is measured, and the reports.

mod connection;
mod load;
mod pool;
pub(crate) mod report;
pub(crate) mod rounds;
pub(crate) mod soak;
pub(crate) mod subjects;
mod wire;
