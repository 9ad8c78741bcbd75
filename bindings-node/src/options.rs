//! What JavaScript says about a call, from a tuple, and about times.

use std::time::Duration;

use oxmcp_proto::{CallOptions, duration_from_millis};

use crate::error::Failure;

/// `[timeout, maxTotalTimeout, resetTimeoutOnProgress, progress]`, times in milliseconds.
pub(crate) type CallTuple = (Option<f64>, Option<f64>, bool, bool);

/// Reads the options of a call; absent ones are the defaults.
pub(crate) fn call_options(tuple: Option<CallTuple>) -> Result<CallOptions, Failure> {
    let Some((timeout, total, reset_timeout_on_progress, progress)) = tuple else {
        return Ok(CallOptions::default());
    };
    Ok(CallOptions::from_millis(
        timeout,
        total,
        reset_timeout_on_progress,
        progress,
    )?)
}

pub(crate) fn optional_duration(name: &str, millis: Option<f64>) -> Result<Option<Duration>, Failure> {
    Ok(millis.map(|millis| duration_from_millis(name, millis)).transpose()?)
}
