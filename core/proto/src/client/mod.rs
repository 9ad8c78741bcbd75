//! What a client remembers of its server: fresh results, output schemas, and the era it is of.

mod cache;
mod schemas;
mod verdicts;

pub(crate) use cache::{Cache, cacheable};
pub(crate) use schemas::ResultSchemas;
pub use verdicts::Verdicts;
