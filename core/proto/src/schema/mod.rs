//! JSON Schema: whether a value fits, and which defaults a form's answer lacks.
//!
//! | subject | rule |
//! | --- | --- |
//! | dialect | 2020-12, or what `$schema` declares: 2020-12, 2019-09 or draft-07; another is an error |
//! | `$ref` | resolved inside the document; nothing is ever fetched, a remote one is an error |
//! | `format`, `contentEncoding`, `contentMediaType` | say something about a value, and forbid none |
//! | `pattern` | ECMA 262 syntax; linear time, but for look-around and back references, which may try 2,000 times |
//! | numbers | integers are exact from -2^63 to 2^64 - 1, as divisors up to 2^53; all others are 64 bit floating point |
//! | halves of surrogate pairs | stand for U+FFFD while a value is checked |
//!
//! Schemas and values can come from anyone, so both are bounded. A schema has at most 1 MiB of text,
//! 128 levels, 10,000 subschemas and 256 patterns. A check that would take too long, as nested
//! alternatives can make it, is given up, and the value does not pass.

mod check;
mod defaults;
mod explain;
mod meter;
mod node;
mod plain;
mod prepare;

pub use check::{Invalid, LazySchema, Schema, SchemaError};
pub use defaults::with_defaults;

#[cfg(test)]
mod tests;
