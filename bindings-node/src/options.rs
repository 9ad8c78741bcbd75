//! What JavaScript says about a session, read from JSON, and about a call, read from a tuple.

use std::time::Duration;

use oxmcp_proto::{CallOptions, Config, Implementation, Limits, Revision};
use serde::Deserialize;

use crate::error::Failure;

/// `[timeout, maxTotalTimeout, resetTimeoutOnProgress, progress]`, times in milliseconds.
pub(crate) type CallTuple = (Option<f64>, Option<f64>, bool, bool);

#[derive(Deserialize)]
struct Info {
    name: String,
    version: String,
    #[serde(default)]
    title: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Options {
    instructions: Option<String>,
    strict: bool,
    revisions: Option<Vec<String>>,
    timeout: Option<f64>,
    limits: LimitOptions,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct LimitOptions {
    message: Option<usize>,
    depth: Option<usize>,
    in_flight: Option<usize>,
    drain: Option<f64>,
}

/// Reads the settings of a session from the JSON text of its information and options.
pub(crate) fn config(info: &str, options: &str) -> Result<Config, Failure> {
    let info: Info =
        serde_json::from_str(info).map_err(|error| bad("the implementation needs a name and a version", &error))?;
    let options: Options = serde_json::from_str(options).map_err(|error| bad("the options are wrong", &error))?;
    let mut config = Config::new(Implementation {
        title: info.title,
        ..Implementation::new(info.name, info.version)
    });
    config.instructions = options.instructions;
    config.strict_revision = options.strict;
    if let Some(names) = options.revisions {
        config.revisions = revisions(&names)?;
    }
    if let Some(timeout) = options.timeout {
        config.timeout = duration("timeout", timeout)?;
    }
    config.limits = limits(&options.limits)?;
    Ok(config)
}

/// Reads the options of a call; absent ones are the defaults.
pub(crate) fn call_options(tuple: Option<CallTuple>) -> Result<CallOptions, Failure> {
    let Some((timeout, total, reset_timeout_on_progress, progress)) = tuple else {
        return Ok(CallOptions::default());
    };
    Ok(CallOptions {
        timeout: optional_duration("timeout", timeout)?,
        max_total_timeout: optional_duration("maxTotalTimeout", total)?,
        reset_timeout_on_progress,
        progress,
    })
}

pub(crate) fn optional_duration(name: &str, millis: Option<f64>) -> Result<Option<Duration>, Failure> {
    millis.map(|millis| duration(name, millis)).transpose()
}

/// Milliseconds from JavaScript; infinity is a time that never comes.
pub(crate) fn duration(name: &str, millis: f64) -> Result<Duration, Failure> {
    if millis.is_nan() || millis < 0.0 {
        return Err(Failure::usage(format!(
            "{name} must be a number of milliseconds from 0 up, or Infinity; it is {millis}"
        )));
    }
    Ok(Duration::try_from_secs_f64(millis / 1000.0).unwrap_or(Duration::MAX))
}

fn revisions(names: &[String]) -> Result<Vec<Revision>, Failure> {
    let named = |name: &String| {
        Revision::named(name).ok_or_else(|| {
            let known = Revision::ALL.map(Revision::name).join(", ");
            Failure::usage(format!("the revision {name:?} is unknown; known are {known}"))
        })
    };
    let revisions = names.iter().map(named).collect::<Result<Vec<_>, _>>()?;
    if revisions.is_empty() {
        return Err(Failure::usage("revisions must name at least one revision"));
    }
    Ok(revisions)
}

fn limits(options: &LimitOptions) -> Result<Limits, Failure> {
    let defaults = Limits::default();
    Ok(Limits {
        message: options.message.unwrap_or(defaults.message),
        depth: options.depth.unwrap_or(defaults.depth),
        in_flight: options.in_flight.unwrap_or(defaults.in_flight),
        drain: optional_duration("limits.drain", options.drain)?.unwrap_or(defaults.drain),
        ..defaults
    })
}

fn bad(what: &str, error: &serde_json::Error) -> Failure {
    Failure::usage(format!("{what}: {error}"))
}
