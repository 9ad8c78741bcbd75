//! Moves a session by the steps of a transcript.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject};
use oxmcp_proto::{
    Answer, CallOptions, Config, Error, InboundId, Instant, Kind, OutboundId, Registry, Session, duration_from_millis,
};
use serde_json::value::RawValue;

use super::exact::Exact;
use super::expect::{self, Event};
use super::fields::{Fields, decode};
use super::transcript::Transcript;

/// How the bytes of each `receive` step reach the session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// As one chunk.
    Whole,
    /// One byte at a time.
    EveryByte,
    /// In two chunks, the first one of this many bytes.
    After(usize),
    /// Together with the `receive` steps that follow at once.
    Joined,
}

/// One run of one transcript.
pub(crate) struct Runner {
    pub session: Session,
    pub registry: Arc<Registry>,
    pub now: Instant,
    pub wire: VecDeque<String>,
    pub events: VecDeque<Event>,
    /// Calls by the names the transcript gives them.
    pub names: HashMap<String, u64>,
    /// The keys of entries, by kind and number.
    keys: HashMap<(String, u64), String>,
    cut: Cut,
    joined: Vec<u8>,
    /// The longest `receive` so far, for the caller that tries every cut.
    pub longest: usize,
}

impl Runner {
    /// Runs a whole transcript; gives the length of its longest `receive`.
    pub(crate) fn run(transcript: &Transcript, cut: Cut) -> Result<usize, String> {
        let at = |line: usize| {
            let file = &transcript.file;
            move |error: String| format!("{file}:{line}: {error} [cut: {cut:?}]")
        };
        let mut runner = Self::start(&transcript.header, cut).map_err(at(1))?;
        for (line, step) in &transcript.steps {
            runner.step(step).map_err(at(*line))?;
        }
        let last = transcript.steps.last().map_or(1, |(line, _)| *line);
        runner.finish().map_err(at(last))?;
        Ok(runner.longest)
    }

    fn start(header: &str, cut: Cut) -> Result<Self, String> {
        let mut fields = Fields::parse(header)?;
        for text in ["name", "about"] {
            fields
                .take::<String>(text)?
                .ok_or_else(|| format!("the header needs \"{text}\""))?;
        }
        let role: String = fields.take("role")?.ok_or("the header needs \"role\"")?;
        let config = config(&mut fields)?;
        let registry = Arc::new(Registry::new());
        let session = match role.as_str() {
            "server" => Session::server(config, Arc::clone(&registry)),
            "client" => Session::client_with(config, Arc::clone(&registry)),
            other => return Err(format!("there is no role \"{other}\"")),
        };
        let mut runner = Self {
            session,
            registry,
            now: Instant::default(),
            wire: VecDeque::new(),
            events: VecDeque::new(),
            names: HashMap::new(),
            keys: HashMap::new(),
            cut,
            joined: Vec::new(),
            longest: 0,
        };
        for tool in fields.take::<Vec<Box<RawValue>>>("tools")?.unwrap_or_default() {
            runner.command(&add_tool(&tool)?)?.map_err(|error| error.to_string())?;
        }
        for command in fields.take::<Vec<Box<RawValue>>>("setup")?.unwrap_or_default() {
            runner.command(command.get())?.map_err(|error| error.to_string())?;
        }
        if let Some(revision) = fields.take::<String>("connected")? {
            let capabilities = fields.raw("peer_capabilities");
            runner.handshake(role == "server", &revision, capabilities.as_ref().map(|raw| raw.get()))?;
        }
        fields.finish()?;
        Ok(runner)
    }

    /// The handshake of a transcript that starts after it.
    fn handshake(&mut self, server: bool, revision: &str, capabilities: Option<&str>) -> Result<(), String> {
        if server {
            let capabilities = capabilities.unwrap_or("{}");
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"handshake\",\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\
                 \"{revision}\",\"capabilities\":{capabilities},\"clientInfo\":{{\"name\":\"peer\",\"version\":\"1\"}}}}}}\n\
                 {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n"
            );
            self.feed(line.as_bytes())?;
        } else {
            self.session
                .connect(None, self.now)
                .map_err(|error| error.to_string())?;
            let capabilities = capabilities.unwrap_or("{\"tools\":{}}");
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{{\"protocolVersion\":\"{revision}\",\"capabilities\":\
                 {capabilities},\"serverInfo\":{{\"name\":\"peer\",\"version\":\"1\"}}}}}}\n"
            );
            self.feed(line.as_bytes())?;
        }
        self.flush()?;
        match self.events.pop_front() {
            Some(event) if event.kind == "ready" && event.first.get().contains(revision) => {}
            other => return Err(format!("the handshake of the header gave {other:?}")),
        }
        self.wire.clear();
        self.quiet()
    }

    /// Runs one step.
    pub(crate) fn step(&mut self, line: &str) -> Result<(), String> {
        let mut fields = Fields::parse(line)?;
        let (verb, value) = fields.verb()?;
        match self.receive_step(&verb, &value)? {
            Some(bytes) => self.feed(&bytes)?,
            None => {
                self.flush()?;
                match verb.as_str() {
                    "turn" => self.turn(&value)?,
                    _ if self.act(&verb, &value, &mut fields)? => {}
                    _ if expect::check(self, &verb, &value, &mut fields)? => {}
                    _ => return Err(format!("there is no step \"{verb}\"")),
                }
            }
        }
        self.drain()?;
        fields.finish()
    }

    /// Runs steps that make the session do something, and takes nothing out before the last one.
    fn turn(&mut self, steps: &RawValue) -> Result<(), String> {
        for mut step in decode::<Vec<Fields>>(steps)? {
            let (verb, value) = step.verb()?;
            if !self.act(&verb, &value, &mut step)? {
                return Err(format!("a turn has no step \"{verb}\""));
            }
            step.finish()?;
        }
        Ok(())
    }

    fn receive_step(&self, verb: &str, value: &RawValue) -> Result<Option<Vec<u8>>, String> {
        Ok(Some(match verb {
            "receive" => {
                let mut line = with_version(value.get()).into_bytes();
                line.push(b'\n');
                line
            }
            "receive_text" => decode::<String>(value)?.into_bytes(),
            "receive_hex" => hex(&decode::<String>(value)?)?,
            _ => return Ok(None),
        }))
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.longest = self.longest.max(bytes.len());
        let cut = match self.cut {
            Cut::Whole => bytes.len(),
            Cut::EveryByte => 1,
            Cut::After(length) => length,
            Cut::Joined => {
                self.joined.extend_from_slice(bytes);
                return Ok(());
            }
        };
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        let rest = if matches!(self.cut, Cut::EveryByte) {
            1
        } else {
            tail.len().max(1)
        };
        for chunk in std::iter::once(head).chain(tail.chunks(rest)) {
            self.session.receive(chunk, self.now);
            // What a chunk gave is taken out before the next, as a driver does.
            self.drain()?;
        }
        Ok(())
    }

    /// Hands over what `Cut::Joined` holds back.
    fn flush(&mut self) -> Result<(), String> {
        let bytes = std::mem::take(&mut self.joined);
        if !bytes.is_empty() {
            self.session.receive(&bytes, self.now);
        }
        self.drain()
    }

    pub(crate) fn drain(&mut self) -> Result<(), String> {
        let (mut events, mut wire) = (Vec::new(), Vec::new());
        self.session.encode_outputs(&mut events, &mut wire);
        self.events.extend(Event::read_all(events)?);
        let text = String::from_utf8(wire).map_err(|error| format!("what was written is not UTF-8: {error}"))?;
        for line in text.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else {
                return Err(format!("what was written does not end its line: {line}"));
            };
            Exact::parse(line)?;
            self.wire.push_back(line.to_owned());
        }
        Ok(())
    }

    /// Fails when something was not expected.
    pub(crate) fn quiet(&self) -> Result<(), String> {
        if let Some(line) = self.wire.front() {
            return Err(format!("nobody expected this message: {line}"));
        }
        match self.events.front() {
            Some(event) => Err(format!("nobody expected this event: {event:?}")),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        self.flush()?;
        self.quiet()?;
        let stats = self.session.stats();
        if self.session.is_closed() && stats != oxmcp_proto::Stats::default() {
            return Err(format!("a closed session still holds {stats:?}"));
        }
        Ok(())
    }

    /// Steps that make the session do something. False when `verb` is none of them.
    fn act(&mut self, verb: &str, value: &RawValue, fields: &mut Fields) -> Result<bool, String> {
        match verb {
            "connect" => {
                let timeout = decode::<Fields>(value)?.take("timeout")?.map(millis);
                let refused = fields.raw("refused");
                expect::refusal(self.session.connect(timeout, self.now), refused.as_deref())?;
            }
            "begin" | "call_tool" => self.begin(verb, value, fields)?,
            "notify" => {
                let mut message = decode::<Fields>(value)?;
                let method: String = message.take("method")?.ok_or("notify needs a method")?;
                let params = message.payload("params")?;
                message.finish()?;
                let sent = self.session.notify(&method, params.as_deref());
                expect::refusal(sent, fields.raw("refused").as_deref())?;
            }
            "cancel" => {
                let id = OutboundId(self.named(value)?);
                let reason: Option<String> = fields.take("reason")?;
                let sent = self.session.cancel(id, reason.as_deref());
                same_flag("sent", sent, fields)?;
            }
            "respond" => self.respond(value, fields)?,
            "report_progress" => {
                let id = InboundId(self.named(value)?);
                let progress = fields.take("progress")?.ok_or("report_progress needs progress")?;
                let (total, message) = (fields.take("total")?, fields.take::<String>("message")?);
                let sent = self.session.progress(id, progress, total, message.as_deref());
                same_flag("sent", sent, fields)?;
            }
            "command" => self.run_command(value, fields)?,
            "describe_tool" => self.describe_tool(value)?,
            "resume" => {
                let sent = self.session.resume(InboundId(self.named(value)?));
                same_flag("sent", sent, fields)?;
            }
            "advance" => self.advance(millis(decode(value)?))?,
            "end_input" => self.session.end_input(self.now),
            "close" => self.session.close(&decode::<String>(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn begin(&mut self, verb: &str, value: &RawValue, fields: &mut Fields) -> Result<(), String> {
        let mut call = decode::<Fields>(value)?;
        let options = CallOptions {
            timeout: call.take("timeout")?.map(millis),
            max_total_timeout: call.take("max_total_timeout")?.map(millis),
            reset_timeout_on_progress: call.take("reset_timeout_on_progress")?.unwrap_or(false),
            progress: call.take("progress")?.unwrap_or(false),
            ..CallOptions::default()
        };
        let begun = if verb == "begin" {
            let method: String = call.take("method")?.ok_or("begin needs a method")?;
            let params = call.payload("params")?;
            self.session.begin(&method, params.as_deref(), options, self.now)
        } else {
            let name: String = call.take("name")?.ok_or("call_tool needs a name")?;
            let arguments = call.payload("arguments")?;
            self.session.call_tool(&name, arguments.as_deref(), options, self.now)
        };
        call.finish()?;
        if let Ok(id) = &begun {
            self.name(fields, id.0)?;
        }
        expect::refusal(begun, fields.raw("refused").as_deref())
    }

    fn respond(&mut self, value: &RawValue, fields: &mut Fields) -> Result<(), String> {
        let id = InboundId(self.named(value)?);
        let result = fields.payload("result")?;
        let (failed, invalid) = (
            fields.take::<String>("tool_error")?,
            fields.take::<String>("invalid_arguments")?,
        );
        let error: Option<Fields> = fields.take("error")?;
        let answer = match (&result, &failed, &invalid, error) {
            (Some(text), None, None, None) => Answer::Result(text),
            (None, Some(message), None, None) => Answer::ToolError(message),
            (None, None, Some(what), None) => Answer::InvalidArguments(what),
            (None, None, None, Some(mut error)) => Answer::Error(ErrorObject {
                code: ErrorCode(error.take("code")?.ok_or("an error needs a code")?),
                message: error
                    .take::<String>("message")?
                    .ok_or("an error needs a message")?
                    .into(),
                data: error.raw("data"),
            }),
            _ => return Err("respond needs one answer".to_owned()),
        };
        let sent = self.session.respond(id, answer, self.now);
        same_flag("sent", sent, fields)
    }

    fn describe_tool(&mut self, descriptor: &RawValue) -> Result<(), String> {
        let name: String = decode::<Fields>(descriptor)?
            .take("name")?
            .ok_or("a tool needs a name")?;
        let entry = self.registry.find(Kind::Tool, &name).ok_or("there is no such tool")?;
        self.registry
            .describe(Kind::Tool, entry, descriptor)
            .map_err(|error| error.to_string())
    }

    /// Runs a command, with the calls in it by their numbers, and compares what it gives.
    fn run_command(&mut self, value: &RawValue, fields: &mut Fields) -> Result<(), String> {
        let mut command = decode::<Fields>(value)?;
        let (verb, inner) = command.verb()?;
        let mut inner = decode::<Fields>(&inner)?;
        let call = inner.raw("call").map(|name| self.named(&name)).transpose()?;
        let inner = inner.write(call.map(|id| ("call", id.to_string())));
        let given = self.command(&format!("{{\"{verb}\":{inner}}}"))?;
        if let Ok(given) = &given {
            let mut given = Fields::parse(given)?;
            if let Some(call) = given.take("call")? {
                self.name(fields, call)?;
            } else if let Some(gives) = fields.raw("gives") {
                expect::same(gives.get(), &given.write(None))?;
            }
        }
        expect::refusal(given, fields.raw("refused").as_deref())
    }

    /// Runs a command; remembers the keys of what it adds.
    fn command(&mut self, text: &str) -> Result<Result<String, Error>, String> {
        let given = self.session.command(text, self.now);
        if let Ok(given) = &given
            && let Some(entry) = Fields::parse(given)?.take("entry")?
        {
            let mut added: Fields = Fields::parse(text)?.take("add")?.ok_or("only add gives an entry")?;
            let kind = added.take("kind")?.unwrap_or_default();
            self.keys.insert((kind, entry), added.take("key")?.unwrap_or_default());
        }
        Ok(given)
    }

    /// The key of an entry, by the kind of a call.
    pub(crate) fn key(&self, kind: &str, entry: u64) -> Result<String, String> {
        let kind = kind.strip_suffix("Completion").unwrap_or(kind);
        let key = self.keys.get(&(kind.to_owned(), entry)).cloned();
        key.ok_or_else(|| format!("there is no {kind} {entry}"))
    }

    /// Lets time pass as a driver does: each deadline is handled when it comes.
    fn advance(&mut self, by: Duration) -> Result<(), String> {
        let target = self.now + by;
        while let Some(due) = self.session.poll_timeout().filter(|due| *due <= target) {
            self.now = self.now.max(due);
            self.session.handle_timeout(self.now);
            self.drain()?;
            if self.session.poll_timeout().is_some_and(|next| next <= self.now) {
                return Err("a deadline that was handled is still due: a driver would spin".to_owned());
            }
        }
        self.now = target;
        self.session.handle_timeout(target);
        Ok(())
    }

    /// Gives a call the name the step asks for.
    pub(crate) fn name(&mut self, fields: &mut Fields, id: u64) -> Result<(), String> {
        if let Some(name) = fields.take("as")? {
            self.names.insert(name, id);
        }
        Ok(())
    }

    /// The call a name stands for.
    pub(crate) fn named(&self, value: &RawValue) -> Result<u64, String> {
        let name: String = decode(value)?;
        let id = self.names.get(&name).copied();
        id.ok_or_else(|| format!("no earlier step named a call \"{name}\""))
    }
}

/// The options of a session, by the names its constructor in the bindings has for them.
fn config(fields: &mut Fields) -> Result<Config, String> {
    let mut info: Fields = fields.take("info")?.unwrap_or_else(Fields::empty);
    for (name, default) in [("name", "\"vectors\""), ("version", "\"1\"")] {
        if !info.has(name) {
            info.extend(name, Some(decode_text(default)?));
        }
    }
    let mut settings = fields.take("settings")?.unwrap_or_else(Fields::empty);
    for name in ["instructions", "strict", "probe", "revisions", "timeout", "limits"] {
        settings.extend(name, fields.raw(name));
    }
    if !settings.has("probe") {
        settings.extend("probe", Some(decode_text("false")?));
    }
    Config::from_json(&info.write(None), &settings.write(None)).map_err(|error| error.to_string())
}

/// The command that adds a tool: a whole descriptor, or a name as a JSON string.
fn add_tool(tool: &RawValue) -> Result<String, String> {
    if tool.get().starts_with('{') {
        let name: String = decode::<Fields>(tool)?.take("name")?.ok_or("a tool needs a name")?;
        let name = serde_json::Value::from(name);
        return Ok(format!(
            "{{\"add\":{{\"kind\":\"tool\",\"key\":{name},\"descriptor\":{tool}}}}}"
        ));
    }
    Ok(format!("{{\"add\":{{\"kind\":\"tool\",\"key\":{tool}}}}}"))
}

fn decode_text(text: &str) -> Result<Box<RawValue>, String> {
    oxmcp_proto::jsonrpc::json(text).map_err(|error| error.to_string())
}

fn same_flag(name: &str, was: bool, fields: &mut Fields) -> Result<(), String> {
    let wanted = fields.take(name)?.unwrap_or(true);
    if was == wanted {
        return Ok(());
    }
    Err(format!("it gave {was}, the transcript says \"{name}\": {wanted}"))
}

/// A message of a transcript with the member that all messages have.
pub(crate) fn with_version(message: &str) -> String {
    if !message.starts_with('{') || message.starts_with("{\"jsonrpc\"") {
        return message.to_owned();
    }
    let separator = if message == "{}" { "" } else { "," };
    format!("{{\"jsonrpc\":\"2.0\"{separator}{}", &message[1..])
}

fn millis(millis: f64) -> Duration {
    duration_from_millis("a time", millis).unwrap_or(Duration::MAX)
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or("?"), 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    bytes.ok_or_else(|| format!("not hexadecimal: {text}"))
}

/// An error as the bindings show it.
pub(crate) fn error_json(error: &Error) -> String {
    let code = error.code().map_or("null".to_owned(), |code| code.0.to_string());
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    format!(
        "{{\"kind\":{},\"code\":{code},\"message\":{},\"fault\":{},\"retryable\":{}}}",
        text(error.kind().name()),
        text(error.message()),
        text(error.fault().name()),
        error.is_retryable()
    )
}
