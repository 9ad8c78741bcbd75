//! The protocol's types, made from the schemas that the specification publishes for each revision.
//!
//! # One set for all revisions
//!
//! Revisions differ by a member here and a kind of content there. A type per revision would leave every program with five
//! types named `Tool` and conversions between them, so there is one type for each name of the specification, which reads and
//! writes all of them:
//!
//! - A member that some revision lacks, or leaves optional, is an `Option`. Its documentation says which revisions have it.
//! - What old revisions write in place, such as the parameters of requests, has the name that newer ones give it.
//! - Which revision has and requires what is data: [`methods`], [`objects`], and on each value
//!   [`missing_in`](Object::missing_in) and [`surplus_in`](Object::surplus_in).
//!
//! To read a message of an old revision, read it: what it lacks is `None`. To write one, leave `None` what it lacks. A member
//! too much does no harm, as every revision lets objects have members that it does not know; one that is missing does:
//!
//! ```
//! use oxmcp_proto::types::{ListToolsResult, Object, Tool};
//!
//! let mut result: ListToolsResult =
//!     serde_json::from_str(r#"{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}"#)?; // of 2024-11-05
//! assert_eq!(result.tools[0].name, "add");
//! assert!(result.result_type.is_none());
//!
//! result.result_type = Some("complete".into());
//! assert_eq!(result.missing_in("2026-07-28"), ["cacheScope", "ttlMs"]);
//! result.cache_scope = Some("private".into());
//! result.ttl_ms = Some(0.into());
//! assert!(result.missing_in("2026-07-28").is_empty());
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Nothing is lost
//!
//! A value that is read and written again is the same text but for white space and escapes in strings, as long as nobody
//! changes it: members that a type does not know are in its field `extra`, all members keep their order, [`Number`]s their
//! text, and payloads such as arguments are not decoded at all ([`JsonObject`], [`Json`]). An enum has `Other` and a union
//! `Unknown` for what was not known when it was made; a union also keeps what is of a known kind but not whole, so that one
//! bad block does not cost the others. One thing is dropped: an optional member that is null means the same as one that is
//! absent, and is left out. The types are read and written by `serde_json`.
//!
//! # Making values
//!
//! Types grow with the protocol, so they are made by `new`, which takes what every revision requires, or by `default` where
//! that is nothing; the rest is set by field.

mod choice;
mod generated;
mod info;
mod map;
mod number;
mod object;
mod open;
mod raw;

pub use choice::{OneOrMany, Outcome};
pub use generated::*;
pub use info::{
    CapabilityInfo, MemberInfo, MethodInfo, Notification, Object, Request, Revisions, TypeInfo, method, methods,
    objects, revisions,
};
pub use map::{Extra, Map, Members};
pub use number::Number;
pub use raw::JsonObject;

pub use crate::jsonrpc::{Json, RequestId};

use object::object;
use open::{constant, strings, union};
