//! Everything that is asked of a session or a registry seldom, as JSON: one crossing for bindings, in
//! place of one for each verb.
//!
//! A command is an object with one member, its name; what it gives is an object as well.
//!
//! | command | gives |
//! | --- | --- |
//! | `{"add":{kind, key, descriptor?, completes?, checks?:{input?,output?}}}` | `{"entry"}` |
//! | `{"describe":{kind, entry, descriptor}}` | `{}` |
//! | `{"setChecks":{entry, input, output}}`, of a tool | `{}` |
//! | `{"remove":{kind, entry}}`, `{"setEnabled":{kind, entry, enabled}}` | `{"done"}`: whether that changed anything |
//! | `{"addMethod":{name, extension?}}` | `{}` |
//! | `{"takeOver":{method, how}}`, `"replace"`, `"extend"` or `null` | `{}` |
//! | `{"setPageSize":{size}}`, a number or `null` | `{}` |
//! | `{"begin":{method, params?, options?}}`, `{"list":{method, options?}}` | `{"call"}` |
//! | `{"ask":{call, method, key?, params?, options?}}` | `{"call"}` |
//! | `{"inputRequired":{call, requests, state?}}` | `{"done"}` |
//! | `{"log":{level, data, logger?, call?}}` | `{"done"}`: whether it was sent |
//! | `{"resourceUpdated":{uri}}` | `{"done"}`: whether anyone was told |
//! | `{"caller":{call}}` | `{id?, protocolVersion, capabilities, info?, meta?, state?, inputResponses?}`, or `{}` when the call is over |
//!
//! Kinds are `"tool"`, `"resource"`, `"template"`, `"prompt"`. Options are `timeout`, `maxTotalTimeout`
//! (milliseconds), `resetTimeoutOnProgress`, `progress`, `fresh`, `logLevel`.

use serde::Deserialize;

use super::{Answer, CallOptions, Error, ErrorKind, InboundId, LogLevel, Session};
use crate::jsonrpc::{Json, ObjectWriter, reason};
use crate::{Checks, EntryId, Instant, Kind, Registry, RegistryError, TakeOver};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Command {
    Add {
        kind: Name<Kind>,
        key: String,
        descriptor: Option<Json>,
        #[serde(default)]
        completes: bool,
        #[serde(default)]
        checks: CheckSettings,
    },
    Describe {
        kind: Name<Kind>,
        entry: EntryId,
        descriptor: Json,
    },
    SetChecks {
        entry: EntryId,
        #[serde(default)]
        input: bool,
        #[serde(default)]
        output: bool,
    },
    Remove {
        kind: Name<Kind>,
        entry: EntryId,
    },
    SetEnabled {
        kind: Name<Kind>,
        entry: EntryId,
        enabled: bool,
    },
    AddMethod {
        name: String,
        extension: Option<String>,
    },
    TakeOver {
        method: String,
        how: Option<Name<TakeOver>>,
    },
    SetPageSize {
        size: Option<std::num::NonZeroUsize>,
    },
    Begin {
        method: String,
        params: Option<Json>,
        #[serde(default)]
        options: Options,
    },
    List {
        method: String,
        #[serde(default)]
        options: Options,
    },
    Ask {
        call: u64,
        method: String,
        key: Option<String>,
        params: Option<Json>,
        #[serde(default)]
        options: Options,
    },
    InputRequired {
        call: u64,
        requests: Json,
        state: Option<String>,
    },
    Log {
        level: Name<LogLevel>,
        data: Json,
        logger: Option<String>,
        call: Option<u64>,
    },
    ResourceUpdated {
        uri: String,
    },
    Caller {
        call: u64,
    },
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CheckSettings {
    input: bool,
    output: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    timeout: Option<f64>,
    max_total_timeout: Option<f64>,
    reset_timeout_on_progress: bool,
    progress: bool,
    fresh: bool,
    log_level: Option<Name<LogLevel>>,
}

impl Options {
    fn read(self) -> Result<CallOptions, Error> {
        let options = CallOptions::from_millis(
            self.timeout,
            self.max_total_timeout,
            self.reset_timeout_on_progress,
            self.progress,
        )?;
        Ok(CallOptions {
            fresh: self.fresh,
            log_level: self.log_level.map(|level| level.0),
            ..options
        })
    }
}

/// A value that is written as its name.
struct Name<T>(T);

impl<'de> Deserialize<'de> for Name<Kind> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, Kind::named, "tool, resource, template or prompt")
    }
}

impl<'de> Deserialize<'de> for Name<TakeOver> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |name: &str| match name {
            "replace" => Some(TakeOver::Replace),
            "extend" => Some(TakeOver::Extend),
            _ => None,
        };
        named(deserializer, read, "replace or extend")
    }
}

impl<'de> Deserialize<'de> for Name<LogLevel> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, LogLevel::named, &LogLevel::names())
    }
}

fn named<'de, T, D: serde::Deserializer<'de>>(
    deserializer: D,
    read: impl Fn(&str) -> Option<T>,
    known: &str,
) -> Result<Name<T>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let unknown = || serde::de::Error::custom(format!("\"{name}\" is none of {known}"));
    read(&name).map(Name).ok_or_else(unknown)
}

impl Registry {
    /// Runs a command of the registry's, given as JSON: `add`, `describe`, `remove`, `setEnabled`,
    /// `addMethod`, `setChecks`, `takeOver` or `setPageSize` (see [`Session::command`]).
    ///
    /// # Errors
    /// A command that nobody knows, or what the registry refused.
    pub fn command(&self, text: &str) -> Result<String, Error> {
        match self.run(parse(text)?) {
            Ok(given) => given,
            Err(_) => Err(usage("this command needs a session")),
        }
    }

    /// Gives the command back when it is none of the registry's.
    fn run(&self, command: Command) -> Result<Result<String, Error>, Command> {
        let nothing = |done: Result<(), RegistryError>| done.map(|()| "{}".to_owned());
        let given = match command {
            Command::Add {
                kind,
                key,
                descriptor,
                completes,
                checks,
            } => self.add_all(kind.0, &key, descriptor, completes, &checks),
            Command::Describe {
                kind,
                entry,
                descriptor,
            } => nothing(self.describe(kind.0, entry, &descriptor)),
            Command::SetChecks { entry, input, output } => nothing(self.set_checks(entry, Checks { input, output })),
            Command::Remove { kind, entry } => Ok(done(self.remove(kind.0, entry))),
            Command::SetEnabled { kind, entry, enabled } => Ok(done(self.set_enabled(kind.0, entry, enabled))),
            Command::AddMethod { name, extension } => nothing(self.add_method(&name, extension.as_deref())),
            Command::TakeOver { method, how } => nothing(self.take_over(&method, how.map(|how| how.0))),
            Command::SetPageSize { size } => {
                self.set_page_size(size);
                Ok("{}".to_owned())
            }
            other => return Err(other),
        };
        Ok(given.map_err(|error| usage(error.to_string())))
    }

    /// Adds an entry with all that is said of it, or nothing.
    fn add_all(
        &self,
        kind: Kind,
        key: &str,
        descriptor: Option<Json>,
        completes: bool,
        checks: &CheckSettings,
    ) -> Result<String, RegistryError> {
        if (checks.input || checks.output) && kind != Kind::Tool {
            return Err(RegistryError::Gone(Kind::Tool));
        }
        let checks = Checks {
            input: checks.input,
            output: checks.output,
        };
        let entry = match &descriptor {
            Some(descriptor) => self.add_checked(kind, key, descriptor, checks)?,
            None => self.add(kind, key)?,
        };
        if completes {
            self.set_completes(kind, entry)?;
        }
        if kind == Kind::Tool && descriptor.is_none() {
            self.set_checks(entry, checks)?;
        }
        Ok(format!("{{\"entry\":{entry}}}"))
    }
}

impl Session {
    /// Runs a command given as JSON, for bindings: each is an object with one member, and gives the text
    /// of an object.
    ///
    /// ```
    /// use oxmcp_proto::{Config, Implementation, Instant, Registry, Session};
    ///
    /// let config = Config::new(Implementation::new("demo", "1.0"));
    /// let mut server = Session::server(config, std::sync::Arc::new(Registry::new()));
    /// let given = server.command(r#"{"add":{"kind":"tool","key":"greet"}}"#, Instant::default())?;
    /// assert_eq!(given, r#"{"entry":0}"#);
    /// # Ok::<(), oxmcp_proto::Error>(())
    /// ```
    ///
    /// # Errors
    /// A command that nobody knows, or what its verb refuses.
    pub fn command(&mut self, text: &str, now: Instant) -> Result<String, Error> {
        self.see(now);
        match self.registry.run(parse(text)?) {
            Ok(given) => given,
            Err(command) => self.run_command(command, now),
        }
    }

    fn run_command(&mut self, command: Command, now: Instant) -> Result<String, Error> {
        let text = |json: &Option<Json>| json.as_ref().map(|json| json.get().to_owned());
        let call = match command {
            Command::Begin {
                method,
                params,
                options,
            } => self.begin(&method, text(&params).as_deref(), options.read()?, now)?,
            Command::List { method, options } => self.list(&method, options.read()?, now)?,
            Command::Ask {
                call,
                method,
                key,
                params,
                options,
            } => {
                let (key, params, options) = (key.as_deref(), text(&params), options.read()?);
                self.ask(InboundId(call), key, &method, params.as_deref(), options, now)?
            }
            Command::InputRequired { call, requests, state } => {
                let answer = Answer::InputRequired {
                    requests: requests.get(),
                    state: state.as_deref(),
                };
                return Ok(done(self.respond(InboundId(call), answer, now)));
            }
            Command::Log {
                level,
                data,
                logger,
                call,
            } => {
                let call = call.map(InboundId);
                return self.log(call, level.0, logger.as_deref(), data.get()).map(done);
            }
            Command::ResourceUpdated { uri } => return self.resource_updated(&uri).map(done),
            Command::Caller { call } => return Ok(self.describe_caller(InboundId(call))),
            _ => return Err(usage("this command is the registry's")),
        };
        Ok(format!("{{\"call\":{}}}", call.0))
    }

    fn describe_caller(&self, id: InboundId) -> String {
        let Some(caller) = self.caller(id) else {
            return "{}".to_owned();
        };
        let mut object = ObjectWriter::new();
        if let Some(request) = self.request_of(id) {
            object = object.json("id", &request.to_string());
        }
        object = object
            .string("protocolVersion", caller.revision.name())
            .json("capabilities", caller.capabilities);
        for (name, value) in [
            ("info", caller.info),
            ("meta", caller.meta),
            ("inputResponses", caller.input_responses),
        ] {
            if let Some(value) = value {
                object = object.json(name, value);
            }
        }
        match caller.state {
            Some(state) => object.string("state", state).finish(),
            None => object.finish(),
        }
    }
}

fn parse(text: &str) -> Result<Command, Error> {
    serde_json::from_str(text).map_err(|error| usage(reason(&error)))
}

fn done(done: bool) -> String {
    format!("{{\"done\":{done}}}")
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_gives_what_a_command_made_or_says_what_is_wrong_with_it() {
        let registry = Registry::new();
        for (command, given) in [
            (
                r#"{"add":{"kind":"prompt","key":"p","descriptor":{"name":"p"},"completes":true}}"#,
                r#"{"entry":0}"#,
            ),
            (
                r#"{"setEnabled":{"kind":"prompt","entry":0,"enabled":false}}"#,
                r#"{"done":true}"#,
            ),
            (r#"{"remove":{"kind":"prompt","entry":0}}"#, r#"{"done":true}"#),
            (r#"{"remove":{"kind":"prompt","entry":0}}"#, r#"{"done":false}"#),
            (r#"{"setPageSize":{"size":null}}"#, "{}"),
            (r#"{"addMethod":{"name":"acme/do"}}"#, "{}"),
            (r#"{"takeOver":{"method":"tools/list","how":"replace"}}"#, "{}"),
            (r#"{"takeOver":{"method":"resources/list","how":"extend"}}"#, "{}"),
            (r#"{"takeOver":{"method":"tools/list","how":null}}"#, "{}"),
            (
                r#"{"add":{"kind":"tool","key":"checked","descriptor":{"name":"checked","inputSchema":{"type":"object"}}}}"#,
                r#"{"entry":0}"#,
            ),
            (r#"{"setChecks":{"entry":0,"input":true}}"#, "{}"),
        ] {
            assert_eq!(registry.command(command).unwrap(), given, "{command}");
        }
        for (command, part) in [
            ("[]", "expected"),
            (r#"{"fly":{}}"#, "fly"),
            (r#"{"add":{"kind":"thing","key":"x"}}"#, "none of tool, resource"),
            (r#"{"add":{"kind":"tool","key":"x","more":1}}"#, "more"),
            (
                r#"{"add":{"kind":"tool","key":"x","descriptor":{}}}"#,
                "\"name\" must be \"x\"",
            ),
            (r#"{"log":{"level":"info","data":1}}"#, "needs a session"),
            (r#"{"setPageSize":{"size":0}}"#, "nonzero"),
            (
                r#"{"takeOver":{"method":"ping","how":"replace"}}"#,
                "that can be: tools/list, tools/call",
            ),
            (r#"{"takeOver":{"method":"tools/call","how":"extend"}}"#, "is no list"),
            (r#"{"setChecks":{"entry":7}}"#, "there is no such tool"),
            (
                r#"{"add":{"kind":"tool","key":"x","checks":{"output":true},"descriptor":{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"objekt"}}}}"#,
                "its \"outputSchema\": the schema cannot be used",
            ),
        ] {
            let error = registry.command(command).unwrap_err();
            assert!(error.message().contains(part), "{error}");
            assert!(!error.message().contains("column"), "{error}");
        }
        assert_eq!(
            registry.find(Kind::Tool, "x"),
            None,
            "what could not be described was not added"
        );
    }
}
