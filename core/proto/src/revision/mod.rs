//! The revisions of the protocol and what differs between them.
//!
//! Every difference is a field of [`Era`], looked up once per connection; nothing else in the
//! core compares versions.

use std::fmt;

mod methods;

pub(crate) use methods::{Need, REMOVED, need_of_notification, need_of_request};

use crate::jsonrpc::ErrorCode;

/// A revision of the protocol, oldest first.
///
/// Those up to 2025-11-25 begin with an `initialize` handshake; from 2026-07-28 on every request
/// says for itself which revision it is in (2026-07-28 versioning, Terminology: legacy and modern).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05, the first one.
    V2024_11_05,
    /// 2025-03-26, the only one with batches.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25, the newest with a handshake.
    V2025_11_25,
    /// 2026-07-28, the first without one.
    V2026_07_28,
}

impl Revision {
    /// All revisions, newest first: the order in which a peer's list is searched.
    pub const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of this name, if we speak it.
    ///
    /// ```
    /// use oxmcp_proto::Revision;
    ///
    /// assert_eq!(Revision::named("2025-06-18"), Some(Revision::V2025_06_18));
    /// assert_eq!(Revision::named("1.0.0"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Whether a connection in this revision begins with `initialize`.
    pub const fn has_handshake(self) -> bool {
        !self.era().stateless
    }

    /// The request that asks for no more than a sign of life.
    pub const fn ping_method(self) -> &'static str {
        if self.has_handshake() {
            "ping"
        } else {
            "server/discover"
        }
    }

    /// What this revision does differently.
    pub(crate) const fn era(self) -> &'static Era {
        match self {
            Self::V2024_11_05 => &Era {
                completions_undeclared: true,
                ..Era::LEGACY
            },
            Self::V2025_06_18 => &Era::LEGACY,
            Self::V2025_03_26 => &Era {
                batches: true,
                ..Era::LEGACY
            },
            Self::V2025_11_25 => &Era {
                input_errors_are_results: true,
                primes_streams: true,
                ..Era::LEGACY
            },
            Self::V2026_07_28 => &Era {
                stateless: true,
                input_errors_are_results: true,
                empty_cursor_ends: false,
                resource_not_found: ErrorCode::INVALID_PARAMS,
                ..Era::LEGACY
            },
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The differences between revisions that the session acts on.
#[derive(Debug)]
pub(crate) struct Era {
    /// No handshake: each request carries revision and capabilities in its `_meta`, each result its
    /// `resultType` and the server's name, lists also say how long they keep (2026-07-28 basic).
    pub stateless: bool,
    /// An array of messages is a batch (2025-03-26 §Batching).
    pub batches: bool,
    /// Arguments that do not fit a tool's input schema come back as a result with `isError`, so
    /// that a model can correct itself (2025-11-25 tools, Error Handling); before, as `-32602`.
    pub input_errors_are_results: bool,
    /// An empty `nextCursor` ends a list, as deployed servers mean it; the clause is silent. From
    /// 2026-07-28 on it is a cursor like any other (pagination, Implementation Guidelines).
    pub empty_cursor_ends: bool,
    /// The code for a resource that does not exist (resources, Error Handling).
    pub resource_not_found: ErrorCode,
    /// A stream over HTTP begins with an event that has an id and no data (2025-11-25 transports).
    pub primes_streams: bool,
    /// Servers complete arguments without declaring so: 2024-11-05 has no such capability.
    pub completions_undeclared: bool,
}

impl Era {
    const LEGACY: Self = Self {
        stateless: false,
        batches: false,
        input_errors_are_results: false,
        empty_cursor_ends: true,
        resource_not_found: ErrorCode::RESOURCE_NOT_FOUND,
        primes_streams: false,
        completions_undeclared: false,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_are_ordered() {
        for revision in Revision::ALL {
            assert_eq!(Revision::named(revision.name()), Some(revision));
        }
        assert!(Revision::ALL.is_sorted_by(|a, b| a > b));
        let legacy = Revision::ALL.into_iter().filter(|revision| revision.has_handshake());
        assert_eq!(legacy.max(), Some(Revision::V2025_11_25));
    }
}
