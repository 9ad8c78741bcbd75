//! The settings of a session as bindings hand them over: typed fields in one JSON text.

use std::time::Duration;

use serde::Deserialize;

use super::{CallOptions, Config, Error, ErrorKind, Implementation, Limits};
use crate::Revision;

#[derive(Deserialize)]
struct Info {
    name: String,
    version: String,
    #[serde(default)]
    title: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Settings {
    instructions: Option<String>,
    strict: bool,
    probe: bool,
    revisions: Option<Vec<String>>,
    timeout: Option<f64>,
    limits: LimitSettings,
    trace: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct LimitSettings {
    message: Option<usize>,
    depth: Option<usize>,
    in_flight: Option<usize>,
    drain: Option<f64>,
}

impl Config {
    /// Reads a configuration from JSON, times in milliseconds.
    ///
    /// `info` is `{name, version, title?}`, `settings` is `{instructions?, strict?, probe?,
    /// revisions?, timeout?, limits?: {message?, depth?, inFlight?, drain?}, trace?}`.
    ///
    /// # Errors
    /// A member that nobody knows, or a value out of its range.
    ///
    /// ```
    /// use oxmcp_proto::Config;
    ///
    /// let config = Config::from_json(r#"{"name":"demo","version":"1"}"#, r#"{"timeout":1500}"#)?;
    /// assert_eq!(config.timeout.as_millis(), 1500);
    /// assert!(Config::from_json("{}", "{}").is_err());
    /// # Ok::<(), oxmcp_proto::Error>(())
    /// ```
    pub fn from_json(info: &str, settings: &str) -> Result<Self, Error> {
        let info: Info = serde_json::from_str(info)
            .map_err(|error| usage(format!("the implementation needs a name and a version: {error}")))?;
        let settings: Settings =
            serde_json::from_str(settings).map_err(|error| usage(format!("the options are wrong: {error}")))?;
        let mut config = Self::new(Implementation {
            name: info.name,
            title: info.title,
            version: info.version,
        });
        config.instructions = settings.instructions;
        config.strict_revision = settings.strict;
        config.probe = settings.probe;
        config.trace = settings.trace;
        if let Some(names) = settings.revisions {
            config.revisions = revisions(&names)?;
        }
        if let Some(timeout) = settings.timeout {
            config.timeout = duration_from_millis("timeout", timeout)?;
        }
        let defaults = Limits::default();
        let drain = settings
            .limits
            .drain
            .map(|drain| duration_from_millis("limits.drain", drain));
        config.limits = Limits {
            message: settings.limits.message.unwrap_or(defaults.message),
            depth: settings.limits.depth.unwrap_or(defaults.depth),
            in_flight: settings.limits.in_flight.unwrap_or(defaults.in_flight),
            drain: drain.transpose()?.unwrap_or(defaults.drain),
            ..defaults
        };
        Ok(config)
    }
}

impl CallOptions {
    /// The options of a call, times in milliseconds.
    ///
    /// # Errors
    /// A time that is none.
    pub fn from_millis(
        timeout: Option<f64>,
        max_total_timeout: Option<f64>,
        reset_timeout_on_progress: bool,
        progress: bool,
    ) -> Result<Self, Error> {
        let read = |name, value: Option<f64>| value.map(|value| duration_from_millis(name, value)).transpose();
        Ok(Self {
            timeout: read("timeout", timeout)?,
            max_total_timeout: read("maxTotalTimeout", max_total_timeout)?,
            reset_timeout_on_progress,
            progress,
        })
    }
}

/// A span of time in milliseconds; infinity is one that never ends.
///
/// # Errors
/// When it is negative or not a number.
pub fn duration_from_millis(name: &str, millis: f64) -> Result<Duration, Error> {
    if millis.is_nan() || millis < 0.0 {
        return Err(usage(format!(
            "{name} must be a number of milliseconds from 0 up, or Infinity; it is {millis}"
        )));
    }
    Ok(Duration::try_from_secs_f64(millis / 1000.0).unwrap_or(Duration::MAX))
}

fn revisions(names: &[String]) -> Result<Vec<Revision>, Error> {
    if names.is_empty() {
        return Err(usage("revisions must name at least one revision"));
    }
    let named = |name: &String| {
        Revision::named(name).ok_or_else(|| {
            let known = Revision::ALL.map(Revision::name).join(", ");
            usage(format!("the revision {name:?} is unknown; known are {known}"))
        })
    };
    names.iter().map(named).collect()
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}
