//! The settings of a session as bindings hand them over: typed fields in one JSON text.

use std::time::Duration;

use serde::Deserialize;

use super::{CacheHints, CallOptions, Config, Error, ErrorKind, Implementation, Limits};
use crate::jsonrpc::{Json, reason};
use crate::{Keyring, Revision, SealKey};

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Settings {
    instructions: Option<String>,
    capabilities: Option<Json>,
    logging: bool,
    subscriptions: bool,
    strict: bool,
    probe: Option<bool>,
    revisions: Option<Vec<String>>,
    timeout: Option<f64>,
    cache: Option<CacheSettings>,
    response_cache: Option<bool>,
    validate_results: Option<bool>,
    state_keys: Vec<String>,
    state_ttl: Option<f64>,
    principal: String,
    unix_epoch: u64,
    debounced: Option<Vec<Box<str>>>,
    limits: LimitSettings,
    trace: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheSettings {
    ttl: f64,
    #[serde(default)]
    public: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct LimitSettings {
    message: Option<usize>,
    depth: Option<usize>,
    in_flight: Option<usize>,
    drain: Option<f64>,
    subscriptions: Option<usize>,
    rounds: Option<usize>,
    pages: Option<usize>,
    list: Option<usize>,
}

impl Config {
    /// Reads a configuration from JSON, times in milliseconds.
    ///
    /// `info` is `{name, version, title?}` and whatever else is to be said of it; the members of `settings` are the fields of [`Config`] by
    /// their names in camel case, but for `strict` (`strict_revision`); `cache` is `{ttl, public?}`,
    /// `stateKeys` an array of secrets as text, at least 32 bytes each, the one that seals first. Each
    /// may be absent.
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
        let info: Implementation = serde_json::from_str(info).map_err(|error| {
            usage(format!(
                "the implementation needs a name and a version: {}",
                reason(&error)
            ))
        })?;
        let settings: Settings = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(settings))
            .map_err(|error| {
                let at = error.path().to_string();
                let option = if at == "." {
                    "an option".to_owned()
                } else {
                    format!("the option {at:?}")
                };
                usage(format!("{option} is wrong: {}", reason(error.inner())))
            })?;
        let mut config = Self::new(info);
        config.instructions = settings.instructions;
        config.logging = settings.logging;
        config.subscriptions = settings.subscriptions;
        config.strict_revision = settings.strict;
        config.probe = settings.probe.unwrap_or(config.probe);
        config.response_cache = settings.response_cache.unwrap_or(config.response_cache);
        config.validate_results = settings.validate_results.unwrap_or(config.validate_results);
        config.state_keys = keyring(&settings.state_keys)?;
        config.principal = settings.principal;
        config.unix_epoch = settings.unix_epoch;
        config.debounced = settings.debounced.unwrap_or(config.debounced);
        config.trace = settings.trace;
        if let Some(capabilities) = settings.capabilities {
            if !capabilities.get().starts_with('{') {
                return Err(usage("capabilities must be an object"));
            }
            config.capabilities = capabilities;
        }
        if let Some(names) = settings.revisions {
            config.revisions = revisions(&names)?;
        }
        if let Some(timeout) = settings.timeout {
            config.timeout = duration_from_millis("timeout", timeout)?;
        }
        if let Some(ttl) = settings.state_ttl {
            config.state_ttl = duration_from_millis("stateTtl", ttl)?;
        }
        if let Some(cache) = settings.cache {
            config.cache = CacheHints {
                ttl: duration_from_millis("cache.ttl", cache.ttl)?,
                public: cache.public,
            };
        }
        config.limits = settings.limits.over(config.limits)?;
        Ok(config)
    }
}

impl LimitSettings {
    fn over(self, defaults: Limits) -> Result<Limits, Error> {
        let drain = self.drain.map(|drain| duration_from_millis("limits.drain", drain));
        Ok(Limits {
            message: self.message.unwrap_or(defaults.message),
            depth: self.depth.unwrap_or(defaults.depth),
            in_flight: self.in_flight.unwrap_or(defaults.in_flight),
            backlog: defaults.backlog,
            drain: drain.transpose()?.unwrap_or(defaults.drain),
            subscriptions: self.subscriptions.unwrap_or(defaults.subscriptions),
            rounds: self.rounds.unwrap_or(defaults.rounds),
            pages: self.pages.unwrap_or(defaults.pages),
            list: self.list.unwrap_or(defaults.list),
        })
    }
}

fn keyring(secrets: &[String]) -> Result<Option<Keyring>, Error> {
    let key = |secret: &String| {
        SealKey::from_bytes(secret.as_bytes()).map_err(|error| usage(format!("a secret of stateKeys: {error}")))
    };
    let Some((current, old)) = secrets.split_first() else {
        return Ok(None);
    };
    old.iter()
        .try_fold(Keyring::new(key(current)?), |ring, old| Ok(ring.with_old(key(old)?)))
        .map(Some)
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
            ..Self::default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &str) -> Result<Config, Error> {
        Config::from_json(r#"{"name":"demo","version":"1"}"#, settings)
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (settings, said) in [
            (
                r#"{"limits":{"message":-1}}"#,
                r#"the option "limits.message" is wrong: invalid value: integer `-1`"#,
            ),
            (
                r#"{"limits":{"mesage":1}}"#,
                r#"the option "limits.mesage" is wrong: unknown field"#,
            ),
            (
                r#"{"timeout":"soon"}"#,
                r#"the option "timeout" is wrong: invalid type: string "soon""#,
            ),
            (
                r#"{"revisions":["2025-11-25",7]}"#,
                r#"the option "revisions[1]" is wrong: invalid type: integer `7`"#,
            ),
            ("7", "an option is wrong: invalid type: integer `7`"),
            (
                r#"{"timeout":-1}"#,
                "timeout must be a number of milliseconds from 0 up",
            ),
        ] {
            let message = read(settings).unwrap_err().message().to_owned();
            assert!(message.starts_with(said), "{settings}: {message}");
        }
        let config = read(r#"{"capabilities":{"experimental":{"x":{ }}},"limits":{"message":9}}"#).unwrap();
        assert_eq!(config.capabilities.get(), r#"{"experimental":{"x":{ }}}"#);
        assert_eq!(config.limits.message, 9);
    }
}
