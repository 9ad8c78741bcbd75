//! Requests of the peer: who answers what.
//!
//! | the method is | answered by |
//! | --- | --- |
//! | `initialize`, `ping`, `server/discover`, `logging/setLevel`, `resources/subscribe`, a list | the core, at once |
//! | `subscriptions/listen` | the core, once the stream ends |
//! | `tools/call`, `prompts/get`, `resources/read`, `completion/complete` of something the registry has | its handler |
//! | asked of a client that declared the capability for it | the client's handler |
//! | taken over by the host ([`Registry::take_over`](crate::Registry::take_over)) | its handler |
//! | in the registry as a method of the user's | its handler |
//! | anything else | `-32601` |

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::hand_over::is_last;
use super::inbound::{Call, Origin, Work};
use super::output::{LogLevel, Target};
use super::receive::invalid_params;
use super::transmit::ROUNDS;
use super::{InboundId, Output, ProblemKind, Role, Session, State};
use crate::jsonrpc::{
    ErrorCode, ErrorObject, Json, ObjectWriter, Params, RequestId, decode_str, json, members, object, write,
};
use crate::revision::need_of_request;
use crate::schema::LazySchema;
use crate::server::Found;
use crate::uri_template::UriValue;
use crate::{Kind, Revision, TakeOver};

/// The params of `tools/call` and `prompts/get`.
#[derive(Deserialize)]
pub(super) struct NamedParams<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct ReadParams<'a> {
    #[serde(borrow)]
    pub uri: Cow<'a, str>,
}

#[derive(Deserialize)]
struct CompleteParams<'a> {
    #[serde(borrow, rename = "ref")]
    reference: &'a RawValue,
    #[serde(borrow)]
    argument: &'a RawValue,
}

#[derive(Deserialize)]
struct Reference<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uri: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Argument {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "value")]
    _value: String,
}

#[derive(Deserialize)]
struct Paginated<'a> {
    #[serde(borrow, default)]
    cursor: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct SetLevel<'a> {
    #[serde(borrow)]
    level: Cow<'a, str>,
}

/// A request on its way to whoever answers it.
pub(super) struct Request<'a> {
    pub id: RequestId,
    pub revision: Revision,
    pub method: &'a str,
    pub params: &'a Params<'a>,
}

impl Request<'_> {
    pub(super) fn invalid(&self, what: &str) -> ErrorObject {
        let message = format!("Invalid params for {}: {what}", self.method);
        ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// The params of `tools/call` and `prompts/get`. Their members are at hand; serde says best what is wrong with them.
    pub(super) fn named(&self) -> Result<NamedParams<'_>, ErrorObject> {
        let params = self.params;
        let present = |member: &str| match params.member(member) {
            Ok(value) => Some(value.filter(|value| value.get() != "null")),
            Err(_) => None,
        };
        let name = present("name").flatten().and_then(decode_str);
        match (name, present("arguments")) {
            (Some(name), Some(arguments)) => Ok(NamedParams { name, arguments }),
            _ => self.read(),
        }
    }

    /// The params as a handler gets them that is given them whole.
    fn params_json(&self) -> Option<Json> {
        json(self.params.text()?).ok()
    }

    pub(super) fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ErrorObject> {
        serde_json::from_str(self.params.text_or_empty()).map_err(|error| invalid_params(self.method, &error))
    }
}

impl Session {
    pub(super) fn receive_request(&mut self, id: RequestId, method: &str, params: &Params<'_>) {
        self.route_to(Some(&id));
        self.take_request(id, method, params);
        self.route_to(None);
    }

    fn take_request(&mut self, id: RequestId, method: &str, params: &Params<'_>) {
        if self.draining.is_some() {
            return;
        }
        if self.role == Role::Client && self.era().stateless {
            // A client of these revisions writes no responses (2026-07-28 stdio, Sending Messages).
            let message = format!("the server made the request {method}, which revision 2026-07-28 does not allow");
            return self.problem(ProblemKind::UnexpectedRequest, message);
        }
        if self.inbound.holds(&id) {
            let message = format!("Invalid request: the id {id} is in use by a call that is not answered yet");
            return self.reply_error(&id, ErrorObject::new(ErrorCode::INVALID_REQUEST, message));
        }
        let request = |revision| Request {
            id: id.clone(),
            revision,
            method,
            params,
        };
        match self.stated_revision(params) {
            Ok(Some(revision)) => return self.dispatch(request(revision)),
            Ok(None) => {}
            Err(error) => return self.reply_error(&id, error),
        }
        let has_handshake = || self.config.with_handshake().next().is_some();
        if method == "server/discover" || (method != "initialize" && !has_handshake()) {
            let error = super::stateless::incomplete(&format!("\"{}\" is missing", super::stateless::VERSION));
            return self.reply_error(&id, error);
        }
        // Who goes on is initialized, even if the notification that says so is missing.
        self.initialized |= matches!(self.state, State::Ready { .. });
        match method {
            "ping" => write::result(&mut self.wire, &id, "{}"),
            "initialize" if self.role == Role::Server => self.receive_initialize(&id, params.text_or_empty()),
            _ if !matches!(self.state, State::Ready { .. }) => {
                let message = format!("Invalid request: {method} came before the handshake");
                let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, message);
                self.reply_error(&id, error.with_data(&"initialize first"));
            }
            _ => self.dispatch(request(self.revision())),
        }
    }

    /// Serves a request, once its revision is known.
    fn dispatch(&mut self, request: Request<'_>) {
        let outcome = match self.role {
            Role::Server => self.dispatch_to_server(&request),
            Role::Client => Err(None),
        };
        let outcome = match outcome {
            Err(None) => self.dispatch_to_method(&request),
            other => other,
        };
        match outcome {
            Ok(()) => {}
            Err(Some(error)) => self.reply_error(&request.id, error),
            Err(None) => {
                let message = format!("Method not found: {}", request.method);
                self.reply_error(&request.id, ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, message));
            }
        }
    }

    /// `Err(None)` when the server has no such method.
    fn dispatch_to_server(&mut self, request: &Request<'_>) -> Result<(), Option<ErrorObject>> {
        if self.registry.taken_over(request.method) == Some(TakeOver::Replace) {
            return self.hand_over(request);
        }
        let era = request.revision.era();
        let declares = |name: &str| self.capabilities_in(request.revision).has(name);
        let has_resources = || self.registry.has(Kind::Resource) || self.registry.has(Kind::Template);
        let has_resources = || has_resources() || declares("resources");
        match request.method {
            "tools/call" | "tools/list" => self.when_described(Kind::Tool, request),
            "prompts/get" | "prompts/list" => self.when_described(Kind::Prompt, request),
            "resources/read" if has_resources() => self.read_resource(request).map_err(Some),
            "resources/list" if has_resources() => self.when_described(Kind::Resource, request),
            "resources/templates/list" if has_resources() => self.when_described(Kind::Template, request),
            "completion/complete" if self.registry.has_completions() => self.complete_argument(request).map_err(Some),
            "server/discover" if era.stateless => {
                self.discover(&request.id, era);
                Ok(())
            }
            "subscriptions/listen" if era.stateless => {
                self.receive_listen(request.id.clone(), request.revision, request.params.text_or_empty());
                Ok(())
            }
            "logging/setLevel" if !era.stateless && declares("logging") => self.set_level(request).map_err(Some),
            "resources/subscribe" | "resources/unsubscribe" if !era.stateless && declares("resources.subscribe") => {
                self.receive_subscribe(&request.id, request.method, request.params.text_or_empty());
                Ok(())
            }
            _ => Err(None),
        }
    }

    /// What a server asks of a client, and methods of the user's own.
    fn dispatch_to_method(&mut self, request: &Request<'_>) -> Result<(), Option<ErrorObject>> {
        let offered = match need_of_request(request.method, request.params.text()) {
            Some(need) if need.declared_by != self.role || self.role != Role::Client => false,
            Some(need) if self.own.has(need.name) => true,
            // The method is there, but not in this way (elicitation, Error Handling).
            Some(need) if need.name.split_once('.').is_some_and(|(base, _)| self.own.has(base)) => {
                let what = format!("this client does not declare the capability \"{}\"", need.name);
                return Err(Some(request.invalid(&what)));
            }
            Some(_) => false,
            None => match self.registry.method(request.method) {
                Some(Some(extension)) => {
                    self.check_extension(request, &extension)?;
                    true
                }
                Some(None) => true,
                None => false,
            },
        };
        if !offered {
            return Err(None);
        }
        self.call_method(request, None).map_err(Some)
    }

    /// Hands a request to the host as it came. `page` is what it adds to.
    pub(super) fn call_method(&mut self, request: &Request<'_>, page: Option<Arc<str>>) -> Result<(), ErrorObject> {
        let target = Target::Method(request.method.into());
        self.call_handler(request, target, request.params_json(), page)
    }

    /// A method of an extension is there for those who declared the extension.
    fn check_extension(&self, request: &Request<'_>, extension: &str) -> Result<(), Option<ErrorObject>> {
        let stated = request.params.own(super::stateless::CAPABILITIES).ok().flatten();
        let declared = match (&self.state, stated) {
            (_, Some(capabilities)) if request.revision.era().stateless => has_extension(capabilities, extension),
            (State::Ready { peer, .. }, _) => has_extension(&peer.capabilities, extension),
            _ => false,
        };
        if declared {
            return Ok(());
        }
        if !request.revision.era().stateless {
            return Err(None);
        }
        let needed = ObjectWriter::new().json(extension, "{}").finish();
        let needed = ObjectWriter::new().json("extensions", &needed).finish();
        let message = format!("{} needs the extension {extension}", request.method);
        let mut error = ErrorObject::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, message);
        error.data = json(ObjectWriter::new().json("requiredCapabilities", &needed).finish()).ok();
        Err(Some(error))
    }

    /// Serves a request that rests on the descriptors of a kind; without them it waits for
    /// [`resume`](Self::resume).
    fn when_described(&mut self, kind: Kind, request: &Request<'_>) -> Result<(), Option<ErrorObject>> {
        match self.registry.state(kind) {
            (false, _) if !self.offers(kind, request.revision) => return Err(None),
            (_, true) => return self.serve_described(kind, request).map_err(Some),
            (_, false) => {}
        }
        let work = Work::Parked {
            kind,
            method: request.method.into(),
            params: request.params_json(),
        };
        let call = Call::new(Origin::Request(request.id.clone()), request.revision, work);
        let id = self.admit(call).map_err(Some)?;
        self.outputs.push_back(Output::Describe { id, kind });
        Ok(())
    }

    /// Whether a server that has nothing of a kind declares it all the same.
    fn offers(&self, kind: Kind, revision: Revision) -> bool {
        match kind {
            Kind::Tool => self.capabilities_in(revision).has("tools"),
            Kind::Prompt => self.capabilities_in(revision).has("prompts"),
            Kind::Resource | Kind::Template => true,
        }
    }

    fn serve_described(&mut self, kind: Kind, request: &Request<'_>) -> Result<(), ErrorObject> {
        match request.method {
            "tools/call" => self.receive_tool_call(request),
            "prompts/get" => self.get_prompt(request),
            _ => self.reply_list(kind, request),
        }
    }

    /// Serves a call that waited for the registry ([`Output::Describe`]). False when it was
    /// cancelled meanwhile.
    pub fn resume(&mut self, id: InboundId) -> bool {
        let Some(Call {
            origin: Origin::Request(id),
            revision,
            work: Work::Parked { kind, method, params },
            ..
        }) = self.inbound.take_parked(id)
        else {
            return false;
        };
        let request = Request {
            id,
            revision,
            method: &method,
            params: &Params::read(params.as_deref().map(RawValue::get)),
        };
        self.route_to(Some(&request.id));
        if let Err(error) = self.serve_described(kind, &request) {
            self.reply_error(&request.id, error);
        }
        self.route_to(None);
        self.end_drain_if_idle();
        true
    }

    fn reply_list(&mut self, kind: Kind, request: &Request<'_>) -> Result<(), ErrorObject> {
        let cursor = request.read::<Paginated<'_>>()?.cursor;
        let older = !request.revision.era().stateless;
        let page = self.registry.page(kind, cursor.as_deref(), older);
        let page = page.map_err(|_| ErrorObject::new(ErrorCode::INVALID_PARAMS, "Invalid cursor"))?;
        if self.registry.taken_over(request.method) == Some(TakeOver::Extend) && is_last(&page) {
            return self.ask_for_more(request, page);
        }
        self.reply_cacheable(&request.id, request.revision.era(), &page);
        Ok(())
    }

    fn receive_tool_call(&mut self, request: &Request<'_>) -> Result<(), ErrorObject> {
        let call = request.named()?;
        let Some((tool, schema)) = self.registry.find_tool(&call.name) else {
            let message = format!("Unknown tool: {}", call.name);
            return Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
        };
        let arguments = arguments(request, call.arguments)?;
        if let Some(what) = schema.map_or(Ok(None), |schema| check_input(&schema, arguments))? {
            let call = Call::new(
                Origin::Request(request.id.clone()),
                request.revision,
                Work::Run(Target::Tool(tool)),
            );
            self.refuse_arguments(&request.id, &call, &what);
            return Ok(());
        }
        let arguments = arguments.map(RawValue::to_owned);
        self.call_handler(request, Target::Tool(tool), arguments, None)
    }

    fn get_prompt(&mut self, request: &Request<'_>) -> Result<(), ErrorObject> {
        let call = request.named()?;
        let Some(prompt) = self.registry.find(Kind::Prompt, &call.name) else {
            let message = format!("Unknown prompt: {}", call.name);
            return Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
        };
        let arguments = arguments(request, call.arguments)?;
        let given = arguments.and_then(members).unwrap_or_default();
        if let Some((name, _)) = given.iter().find(|(_, value)| !value.get().starts_with('"')) {
            return Err(request.invalid(&format!("the argument \"{name}\" must be a string")));
        }
        let required = self.registry.required_arguments(prompt);
        if let Some(name) = required
            .iter()
            .find(|name| !given.iter().any(|(key, _)| **key == ***name))
        {
            return Err(request.invalid(&format!("the argument \"{name}\" is missing")));
        }
        let arguments = arguments.map(RawValue::to_owned);
        self.call_handler(request, Target::Prompt(prompt), arguments, None)
    }

    fn read_resource(&mut self, request: &Request<'_>) -> Result<(), ErrorObject> {
        let read: ReadParams<'_> = request.read()?;
        let params = ObjectWriter::new().string("uri", &read.uri);
        let (target, params) = match self.registry.resolve(&read.uri) {
            Some(Found::Resource(id)) => (Target::Resource(id), params),
            Some(Found::Template(id, variables)) => (
                Target::Template(id),
                params.json("variables", &variables_object(&variables)),
            ),
            None => {
                let code = request.revision.era().resource_not_found;
                let error = ErrorObject::new(code, format!("Resource not found: {}", read.uri));
                return Err(error.with_data(&serde_json::json!({ "uri": read.uri })));
            }
        };
        let params = json(params.finish()).ok();
        self.call_handler(request, target, params, None)
    }

    fn complete_argument(&mut self, request: &Request<'_>) -> Result<(), ErrorObject> {
        let call: CompleteParams<'_> = request.read()?;
        let invalid = |error| invalid_params(request.method, &error);
        object::<Argument>(call.argument).map_err(invalid)?;
        let reference: Reference<'_> = object(call.reference).map_err(invalid)?;
        let (kind, key) = match (&*reference.kind, reference.name, reference.uri) {
            ("ref/prompt", Some(name), _) => (Kind::Prompt, name),
            ("ref/resource", _, Some(uri)) => (Kind::Template, uri),
            _ => {
                let what = "\"ref\" must be a \"ref/prompt\" with a \"name\", or a \"ref/resource\" with a \"uri\"";
                return Err(request.invalid(what));
            }
        };
        let nothing = "{\"completion\":{\"values\":[]}}";
        let Some(entry) = self.registry.find(kind, &key) else {
            // A resource without variables has nothing to complete, but it exists.
            if kind == Kind::Template && self.registry.find(Kind::Resource, &key).is_some() {
                self.reply_result(&request.id, request.revision.era(), nothing);
                return Ok(());
            }
            return Err(request.invalid(&format!("there is no {} \"{key}\"", kind.name())));
        };
        if !self.registry.completes(kind, entry) {
            self.reply_result(&request.id, request.revision.era(), nothing);
            return Ok(());
        }
        let target = match kind {
            Kind::Prompt => Target::PromptCompletion(entry),
            _ => Target::TemplateCompletion(entry),
        };
        self.call_handler(request, target, request.params_json(), None)
    }

    fn set_level(&mut self, request: &Request<'_>) -> Result<(), ErrorObject> {
        self.note_level(request)?;
        write::result(&mut self.wire, &request.id, "{}");
        Ok(())
    }

    pub(super) fn note_level(&mut self, request: &Request<'_>) -> Result<(), ErrorObject> {
        let level = request.read::<SetLevel<'_>>()?.level;
        let Some(level) = LogLevel::named(&level) else {
            return Err(request.invalid(&format!("\"level\" must be one of {}", LogLevel::names())));
        };
        self.log_level = level;
        Ok(())
    }

    /// Hands a request to a handler.
    fn call_handler(
        &mut self,
        request: &Request<'_>,
        target: Target,
        params: Option<Json>,
        page: Option<Arc<str>>,
    ) -> Result<(), ErrorObject> {
        let stateless = request.revision.era().stateless;
        let work = Work::Run(target.clone());
        let mut call = Call::new(Origin::Request(request.id.clone()), request.revision, work);
        call.page = page;
        let meta = request.params.meta().map_err(|what| request.invalid(&what))?;
        call.progress_token = read_progress_token(request.params).map_err(|what| request.invalid(&what))?;
        call.meta = meta.map(Into::into);
        if let Some(whole) = request
            .params
            .text()
            .filter(|_| stateless && ROUNDS.contains(&request.method))
        {
            call.replay = self.read_replay(request.method, request.params)?;
            call.params = Some(whole.into());
        }
        let wants_progress = call.progress_token.is_some();
        let id = self.admit(call)?;
        self.outputs.push_back(Output::Call {
            id,
            target,
            params,
            wants_progress,
        });
        Ok(())
    }

    /// Opens an entry for a call, unless too many wait already.
    fn admit(&mut self, call: Call) -> Result<InboundId, ErrorObject> {
        let limit = self.config.limits.in_flight;
        if self.inbound.working() >= limit {
            let message = format!("{limit} calls wait for an answer already; try again when some are done");
            return Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
        }
        Ok(self.inbound.insert(call))
    }
}

fn has_extension(capabilities: &RawValue, extension: &str) -> bool {
    let all = members(capabilities).unwrap_or_default();
    let extensions = all
        .into_iter()
        .find(|(key, _)| key == "extensions")
        .map(|(_, value)| value);
    let extensions = extensions.and_then(members).unwrap_or_default();
    extensions
        .iter()
        .any(|(key, value)| key == extension && value.get() != "null")
}

/// What is wrong with the arguments of a tool whose schema the core is to check.
fn check_input(schema: &LazySchema, arguments: Option<&RawValue>) -> Result<Option<String>, ErrorObject> {
    let fault = |what: String| ErrorObject::new(ErrorCode::INTERNAL_ERROR, what);
    let schema = schema
        .get()
        .map_err(|why| fault(format!("the input schema of the tool: {why}")))?;
    let empty = json("{}").map_err(|error| fault(error.to_string()))?;
    let checked = schema.validate(arguments.unwrap_or(&empty));
    Ok(checked.err().map(|why| why.to_string()))
}

/// The `arguments` of a call, if there are any.
pub(super) fn arguments<'a>(
    request: &Request<'_>,
    arguments: Option<&'a RawValue>,
) -> Result<Option<&'a RawValue>, ErrorObject> {
    let arguments = arguments.filter(|arguments| arguments.get() != "null");
    if arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
        return Err(request.invalid("\"arguments\" must be an object"));
    }
    Ok(arguments)
}

/// The variables of a template as the text of an object.
fn variables_object(variables: &[(String, UriValue)]) -> String {
    let mut object = ObjectWriter::new();
    for (name, value) in variables {
        object = match value {
            UriValue::Text(text) => object.string(name, text),
            UriValue::List(list) => object.json(name, &super::handshake::to_json(list)),
            UriValue::Map(map) => {
                let inner = map
                    .iter()
                    .fold(ObjectWriter::new(), |inner, (key, value)| inner.string(key, value));
                object.json(name, &inner.finish())
            }
        };
    }
    object.finish()
}

/// The progress token in `_meta`, as JSON text to be echoed.
fn read_progress_token(params: &Params<'_>) -> Result<Option<Box<str>>, String> {
    match params.own("progressToken").map_err(|twice| twice.0)? {
        Some(token) if token.get() != "null" => match RequestId::read(token) {
            Some(_) => Ok(Some(token.get().into())),
            None => Err("\"progressToken\" must be a string or an integer".to_owned()),
        },
        _ => Ok(None),
    }
}
