//! What JavaScript says about a call, from a tuple, and about times.

use std::time::Duration;

use oxmcp_proto::{CallOptions, LogLevel, duration_from_millis};

use crate::error::Failure;

/// `[timeout, maxTotalTimeout, resetTimeoutOnProgress, progress, fresh, logLevel]`, times in milliseconds.
pub(crate) type CallTuple = (Option<f64>, Option<f64>, bool, bool, bool, Option<String>);

/// Reads the options of a call; absent ones are the defaults.
pub(crate) fn call_options(tuple: Option<CallTuple>) -> Result<CallOptions, Failure> {
    let Some((timeout, total, reset_timeout_on_progress, progress, fresh, level)) = tuple else {
        return Ok(CallOptions::default());
    };
    let log_level = level.map(|level| {
        let unknown = || Failure::usage(format!("logLevel must be a level of the protocol; it is {level:?}"));
        LogLevel::named(&level).ok_or_else(unknown)
    });
    Ok(CallOptions {
        fresh,
        log_level: log_level.transpose()?,
        ..CallOptions::from_millis(timeout, total, reset_timeout_on_progress, progress)?
    })
}

pub(crate) fn optional_duration(name: &str, millis: Option<f64>) -> Result<Option<Duration>, Failure> {
    Ok(millis.map(|millis| duration_from_millis(name, millis)).transpose()?)
}
