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

use super::fields::{BadField, Fields, single};
use super::param_headers::{Disagreement, ParamHeaders};
use super::refusal::Refusal;
use super::value::decode_value;
use crate::Revision;
use crate::jsonrpc::{ErrorCode, ErrorObject, Params, decode_str};

pub(super) const VERSION_FIELD: &str = "MCP-Protocol-Version";
pub(super) const METHOD_FIELD: &str = "Mcp-Method";
pub(super) const NAME_FIELD: &str = "Mcp-Name";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The member of `params` that `Mcp-Name` mirrors.
pub(super) fn name_source(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Whether `_meta` states a version, however ill: no request of an older revision does.
pub(super) fn states_version(params: &Params<'_>) -> bool {
    !matches!(params.own(META_VERSION), Ok(None))
}

/// The member of `params` called `key`, if it is a string.
pub(super) fn string<'a>(params: &Params<'a>, key: &str) -> Option<Cow<'a, str>> {
    params.member(key).ok().flatten().and_then(decode_str)
}

fn stated_version<'a>(params: &Params<'a>) -> Result<Cow<'a, str>, Refusal> {
    params.check_meta().map_err(|twice| incomplete(&twice.0))?;
    match params.own(META_VERSION).map_err(|twice| incomplete(&twice.0))? {
        Some(version) => decode_str(version).ok_or_else(|| incomplete(&format!("\"{META_VERSION}\" must be a string"))),
        None => Err(incomplete(&format!("\"{META_VERSION}\" is missing in params._meta"))),
    }
}

/// Checks a request of a revision without a handshake.
pub(super) fn check(
    params: &Params<'_>,
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
        let version = stated_version(params).unwrap_or(Cow::Borrowed(newest));
        return Err(mismatch(format!(
            "the {VERSION_FIELD} header is missing; it must say \"{version}\""
        )));
    };
    let version = stated_version(params)?;
    if header != version {
        let why = format!("the {VERSION_FIELD} header says \"{header}\", and params._meta says \"{version}\"");
        return Err(mismatch(why));
    }
    let known = Revision::named(header).filter(|it| !it.has_handshake() && spoken.contains(it));
    let revision = known.ok_or_else(|| unsupported(header, spoken))?;
    check_mirrored(fields, METHOD_FIELD, &"method", method)?;
    check_name(params, method, fields)?;
    let capabilities = params.own(META_CAPABILITIES).map_err(|twice| incomplete(&twice.0))?;
    if !capabilities.is_some_and(|capabilities| capabilities.get().starts_with('{')) {
        return Err(incomplete(&format!(
            "\"{META_CAPABILITIES}\" must be an object in params._meta"
        )));
    }
    if method == "tools/call"
        && let Some(annotated) = string(params, "name").and_then(|name| tools(&name))
    {
        let arguments = params.member("arguments").map_err(|twice| mismatch(twice.0))?;
        annotated.check(arguments, fields).map_err(|error| mismatch(error.0))?;
    }
    Ok(revision)
}

/// Checks the one field that a notification may carry; which ones it must carry is not defined.
pub(super) fn check_notification(method: &str, fields: &dyn Fields) -> Result<(), Refusal> {
    match single(fields, METHOD_FIELD).map_err(garbled)? {
        Some(_) => check_mirrored(fields, METHOD_FIELD, &"method", method),
        None => Ok(()),
    }
}

fn check_name(params: &Params<'_>, method: &str, fields: &dyn Fields) -> Result<(), Refusal> {
    let Some(source) = name_source(method) else {
        return Ok(());
    };
    let value = params.member(source).map_err(|twice| mismatch(twice.0))?;
    if let Some(value) = value.and_then(decode_str) {
        return check_mirrored(fields, NAME_FIELD, &format_args!("params.{source}"), &value);
    }
    match single(fields, NAME_FIELD).map_err(garbled)? {
        // What is missing in the body is for the method to complain of.
        None => Ok(()),
        Some(header) => {
            let why = format!("the {NAME_FIELD} header says \"{header}\", and params.{source} is no string");
            Err(mismatch(why))
        }
    }
}

fn check_mirrored(
    fields: &dyn Fields,
    name: &'static str,
    place: &dyn std::fmt::Display,
    value: &str,
) -> Result<(), Refusal> {
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
