//! Failures as plain data: each language builds its own error classes from them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxmcp_proto::{Error, ErrorKind};

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Failure {
    /// `response`, `timeout`, `cancelled`, `closed`, `not_negotiated`, `usage`, `protocol`, `handler` or `internal`.
    pub kind: String,
    /// The JSON-RPC code.
    pub code: Option<i64>,
    /// One sentence for a person.
    pub message: String,
    /// The peer's `data`, as JSON text.
    pub data: Option<String>,
    /// Whose fault it was: `local`, `peer` or `transport`.
    pub fault: String,
    /// Whether the same call may succeed if it is made again.
    pub retryable: bool,
    /// The status of the HTTP response that it came with.
    pub http_status: Option<u16>,
}

/// What every verb throws.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Error)]
pub enum Refusal {
    /// It was refused, or this package has a fault.
    Refused {
        /// Why.
        failure: Failure,
    },
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Refused { failure } = self;
        f.write_str(&failure.message)
    }
}

impl std::error::Error for Refusal {}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self {
            kind: error.kind().name().to_owned(),
            code: error.code().map(|code| code.0),
            message: error.message().to_owned(),
            data: error.data().map(str::to_owned),
            fault: error.fault().name().to_owned(),
            retryable: error.is_retryable(),
            http_status: error.http_status(),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Refused {
            failure: Failure::from(&error),
        }
    }
}

impl Refusal {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Usage, message).into()
    }

    pub(crate) fn internal(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("unknown");
        Self::Refused {
            failure: Failure {
                kind: "internal".to_owned(),
                code: None,
                message: format!("a fault inside oxmcp: {text}"),
                data: None,
                fault: "local".to_owned(),
                retryable: false,
                http_status: None,
            },
        }
    }
}

/// Runs `work`; a panic in it becomes a refusal.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Refusal::internal(&*panic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_refusal_that_says_what_it_was() {
        let works: [fn() -> Result<(), Refusal>; 2] = [|| panic!("odd"), || panic!("{}", "odd".to_owned())];
        for work in works {
            let Refusal::Refused { failure } = guarded(work).unwrap_err();
            assert_eq!(failure.kind, "internal");
            assert_eq!(failure.message, "a fault inside oxmcp: odd");
        }
    }
}
