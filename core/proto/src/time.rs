//! Time as an argument: the core has no clock of its own.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A point on the caller's monotonic clock, in microseconds since an epoch the caller chose.
///
/// The core only compares and adds, so any epoch works: process start for a driver, zero for a test.
///
/// ```
/// use oxmcp_proto::Instant;
/// use std::time::Duration;
///
/// let start = Instant::from_micros(0);
/// let later = start + Duration::from_secs(60);
/// assert_eq!(later - start, Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The point `micros` microseconds after the epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The point `millis` milliseconds after the epoch, rounded up to a whole microsecond.
    ///
    /// Hosts whose clocks count fractional milliseconds (JavaScript) use this one. Negative and
    /// non-finite values count as the epoch.
    pub fn from_millis(millis: f64) -> Self {
        Self((millis * 1000.0).ceil() as u64)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Milliseconds since the epoch, with the fraction.
    pub fn as_millis(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Time from `self` until `deadline`; zero when the deadline has passed.
    pub fn until(self, deadline: Instant) -> Duration {
        Duration::from_micros(deadline.0.saturating_sub(self.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// Saturates: a timeout of `Duration::MAX` is a deadline that never comes.
    fn add(self, by: Duration) -> Instant {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        Instant(self.0.saturating_add(micros))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        earlier.until(self)
    }
}
