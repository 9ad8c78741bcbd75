//! Header fields and body of a request in a revision without a handshake say the same.
//!
//! | what is wrong, in the order it is found | answer |
//! | --- | --- |
//! | `_meta` states no version where the header names one of these revisions, or states no string | 400, `-32602` |
//! | `MCP-Protocol-Version` is missing, or differs from `_meta` | 400, `-32020` |
//! | the revision is not spoken here | 400, `-32022` with those that are |
//! | `Mcp-Method` is missing, or differs from `method` | 400, `-32020` |
//! | `Mcp-Name` is missing, or differs from its source in `params` | 400, `-32020` |
//! | `_meta` states no capabilities | 400, `-32602` |
//! | `Mcp-Param-…` is missing, or differs from its argument | 400, `-32020` |
//!
//! | method | source of `Mcp-Name` |
//! | --- | --- |
//! | `tools/call`, `prompts/get` | `params.name` |
//! | `resources/read` | `params.uri` |
//! | `tasks/get`, `tasks/update`, `tasks/cancel` | `params.taskId` |
//!
//! A part of the network may have acted on the fields, so no handler runs on a request where they
//! disagree. (2026-07-28 streamable-http, Request Metadata; basic, Per-request protocol fields; the tasks
//! extension, Streamable HTTP.)

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;
use serde_json::value::RawValue;

use super::fields::{BadField, Fields, single};
use super::param_headers::{Disagreement, ParamHeaders};
use super::refusal::Refusal;
use super::value::decode_value;
use crate::Revision;
use crate::jsonrpc::{ErrorCode, ErrorObject, decode_str, members};

pub(super) const VERSION_FIELD: &str = "MCP-Protocol-Version";
pub(super) const METHOD_FIELD: &str = "Mcp-Method";
pub(super) const NAME_FIELD: &str = "Mcp-Name";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The member of `params` that `Mcp-Name` mirrors.
pub(super) fn name_source(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// A request as its body has it.
#[derive(Debug, Default)]
pub(super) struct Stated<'a> {
    params: Members<'a>,
    meta: Members<'a>,
}

impl<'a> Stated<'a> {
    /// Whether `params` may state a version: most requests of older revisions need not be read for it.
    /// An escape could hide it, and some writers put one before each slash.
    pub(super) fn may_be_modern(params: Option<&RawValue>) -> bool {
        let says = |text: &str| params.is_some_and(|it| memmem::find(it.get().as_bytes(), text.as_bytes()).is_some());
        says("protocolVersion") || says("\\u")
    }

    /// Reads what `params` states. A member that stands twice is found when it is asked for.
    pub(super) fn read(params: Option<&'a RawValue>) -> Self {
        let params = params.and_then(members).unwrap_or_default();
        let meta = only(&params, "_meta")
            .ok()
            .flatten()
            .and_then(members)
            .unwrap_or_default();
        Self { params, meta }
    }

    /// Whether `_meta` states a version, however ill: no request of an older revision does.
    pub(super) fn is_modern(&self) -> bool {
        self.meta.iter().any(|(key, _)| key == META_VERSION)
    }

    /// The member of `params` called `key`, if it is a string.
    pub(super) fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        only(&self.params, key).ok().flatten().and_then(decode_str)
    }

    pub(super) fn arguments(&self) -> Option<&'a RawValue> {
        only(&self.params, "arguments").ok().flatten()
    }

    fn version(&self) -> Result<Cow<'a, str>, Refusal> {
        only(&self.params, "_meta").map_err(|twice| incomplete(&twice.0))?;
        match only(&self.meta, META_VERSION).map_err(|twice| incomplete(&twice.0))? {
            Some(version) => {
                decode_str(version).ok_or_else(|| incomplete(&format!("\"{META_VERSION}\" must be a string")))
            }
            None => Err(incomplete(&format!("\"{META_VERSION}\" is missing in params._meta"))),
        }
    }
}

/// Checks a request of a revision without a handshake.
pub(super) fn check(
    stated: &Stated<'_>,
    method: &str,
    fields: &dyn Fields,
    spoken: &[Revision],
    tools: impl FnOnce(&str) -> Option<Arc<ParamHeaders>>,
) -> Result<Revision, Refusal> {
    let header = single(fields, VERSION_FIELD).map_err(garbled)?;
    let Some(header) = header else {
        let newest = spoken
            .iter()
            .find(|it| !it.has_handshake())
            .map_or("2026-07-28", |it| it.name());
        let version = stated.version().unwrap_or(Cow::Borrowed(newest));
        return Err(mismatch(format!(
            "the {VERSION_FIELD} header is missing; it must say \"{version}\""
        )));
    };
    let version = stated.version()?;
    if header != version {
        let why = format!("the {VERSION_FIELD} header says \"{header}\", and params._meta says \"{version}\"");
        return Err(mismatch(why));
    }
    let known = Revision::named(header).filter(|it| !it.has_handshake() && spoken.contains(it));
    let revision = known.ok_or_else(|| unsupported(header, spoken))?;
    check_mirrored(fields, METHOD_FIELD, "method", method)?;
    check_name(stated, method, fields)?;
    let capabilities = only(&stated.meta, META_CAPABILITIES).map_err(|twice| incomplete(&twice.0))?;
    if !capabilities.is_some_and(|capabilities| capabilities.get().starts_with('{')) {
        return Err(incomplete(&format!(
            "\"{META_CAPABILITIES}\" must be an object in params._meta"
        )));
    }
    if method == "tools/call"
        && let Some(annotated) = stated.string("name").and_then(|name| tools(&name))
    {
        let arguments = only(&stated.params, "arguments").map_err(|twice| mismatch(twice.0))?;
        annotated.check(arguments, fields).map_err(|error| mismatch(error.0))?;
    }
    Ok(revision)
}

/// Checks the one field that a notification may carry; which ones it must carry is not defined.
pub(super) fn check_notification(method: &str, fields: &dyn Fields) -> Result<(), Refusal> {
    match single(fields, METHOD_FIELD).map_err(garbled)? {
        Some(_) => check_mirrored(fields, METHOD_FIELD, "method", method),
        None => Ok(()),
    }
}

fn check_name(stated: &Stated<'_>, method: &str, fields: &dyn Fields) -> Result<(), Refusal> {
    let Some(source) = name_source(method) else {
        return Ok(());
    };
    let value = only(&stated.params, source).map_err(|twice| mismatch(twice.0))?;
    let place = format!("params.{source}");
    match (value.and_then(decode_str), single(fields, NAME_FIELD).map_err(garbled)?) {
        (Some(value), _) => check_mirrored(fields, NAME_FIELD, &place, &value),
        // What is missing in the body is for the method to complain of.
        (None, None) => Ok(()),
        (None, Some(header)) => {
            let why = format!("the {NAME_FIELD} header says \"{header}\", and {place} is no string");
            Err(mismatch(why))
        }
    }
}

fn check_mirrored(fields: &dyn Fields, name: &'static str, place: &str, value: &str) -> Result<(), Refusal> {
    let Some(header) = single(fields, name).map_err(garbled)? else {
        return Err(mismatch(format!(
            "the {name} header is missing, and {place} is {value:?}"
        )));
    };
    let decoded = if name == NAME_FIELD {
        decode_value(header)
    } else {
        Some(Cow::Borrowed(header))
    };
    match decoded {
        Some(decoded) if decoded == value => Ok(()),
        Some(decoded) => Err(mismatch(format!(
            "the {name} header says {decoded:?}, and {place} is {value:?}"
        ))),
        None => Err(mismatch(format!(
            "the {name} header {header:?} is not valid Base64 of UTF-8 text"
        ))),
    }
}

/// A member that stands twice: who reads the first and who reads the last would see different values.
struct Twice(String);

fn only<'a>(all: &[(Cow<'a, str>, &'a RawValue)], wanted: &str) -> Result<Option<&'a RawValue>, Twice> {
    let mut found = all.iter().filter(|(key, _)| key == wanted);
    let first = found.next().map(|(_, value)| *value);
    match found.next() {
        Some(_) => Err(Twice(format!("\"{wanted}\" stands twice in the body"))),
        None => Ok(first),
    }
}

fn incomplete(why: &str) -> Refusal {
    Refusal::new(400, ErrorCode::INVALID_PARAMS, format!("Invalid params: {why}"))
}

fn mismatch(why: String) -> Refusal {
    Refusal::new(400, ErrorCode::HEADER_MISMATCH, format!("Header mismatch: {why}"))
}

pub(super) fn garbled(error: BadField) -> Refusal {
    mismatch(error.to_string())
}

/// The refusal of a revision: it names those that can be asked for in the same way.
pub(super) fn unsupported(requested: &str, spoken: &[Revision]) -> Refusal {
    #[derive(serde::Serialize)]
    struct Data<'a> {
        supported: Vec<&'static str>,
        requested: &'a str,
    }
    let supported = spoken
        .iter()
        .filter(|it| !it.has_handshake())
        .map(|it| it.name())
        .collect();
    let error = ErrorObject::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version");
    Refusal::because(400, error.with_data(&Data { supported, requested }))
}

impl From<Disagreement> for Refusal {
    fn from(error: Disagreement) -> Self {
        mismatch(error.0)
    }
}
