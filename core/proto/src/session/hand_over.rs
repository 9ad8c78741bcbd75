//! Requests of the protocol that the host answers itself ([`Registry::take_over`](crate::Registry::take_over)).
//!
//! | the host | the session |
//! | --- | --- |
//! | replaces a request | checks what every handler of it may rely on, notes what it must know itself (log level, subscriptions), and writes the host's result as the revision wants it |
//! | extends a list | writes all pages but the last itself, and adds the host's items to that |

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Session;
use super::answer::bound_completion;
use super::dispatch::{ReadParams, Request, arguments};
use super::inbound::Call;
use crate::Kind;
use crate::jsonrpc::{ErrorCode, ErrorObject, Json, ObjectWriter, RequestId, json, members, write};
use crate::revision::{REMOVED, need_of_request};

impl Session {
    /// Hands a request to the host, in place of the registry. `Err(None)` when this server does not offer it.
    pub(super) fn hand_over(&mut self, request: &Request<'_>) -> Result<(), Option<ErrorObject>> {
        let era = request.revision.era();
        if era.stateless && REMOVED.contains(&request.method) {
            return Err(None);
        }
        let need = need_of_request(request.method, None).ok_or(None)?;
        let declared = self.capabilities_in(request.revision).has(need.name);
        let needs_none = need.name == "completions" && era.completions_undeclared;
        if !(declared || needs_none) {
            return Err(None);
        }
        match request.method {
            "tools/call" | "prompts/get" => {
                let call = request.named().map_err(Some)?;
                arguments(request, call.arguments).map_err(Some)?;
            }
            "resources/read" => drop(request.read::<ReadParams<'_>>().map_err(Some)?),
            "logging/setLevel" => self.note_level(request).map_err(Some)?,
            "resources/subscribe" | "resources/unsubscribe" => {
                self.note_subscription(request.method, request.params.text_or_empty())
                    .map_err(Some)?;
            }
            _ => {}
        }
        self.call_method(request, None).map_err(Some)
    }

    /// Asks the host for the items that follow the last page of a list.
    pub(super) fn ask_for_more(&mut self, request: &Request<'_>, page: Arc<str>) -> Result<(), ErrorObject> {
        self.call_method(request, Some(page))
    }

    /// Writes what the host answered.
    pub(super) fn answer_method(&mut self, request: &RequestId, call: &Call, method: &str, text: &str) {
        let era = call.revision.era();
        let list = Kind::ALL.into_iter().find(|kind| kind.list_method() == method);
        match (list, &call.page) {
            (Some(kind), Some(page)) => match joined(kind.list(), page, text) {
                Ok(whole) => self.reply_cacheable(request, era, &whole),
                Err(what) => {
                    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, what);
                    write::error(&mut self.wire, Some(request), &error);
                }
            },
            (Some(_), None) => self.reply_cacheable(request, era, text),
            (None, _) if method == "resources/read" => self.reply_cacheable(request, era, text),
            (None, _) if method == "completion/complete" => {
                let bounded = bound_completion(text);
                self.reply_result(request, era, bounded.as_deref().unwrap_or(text));
            }
            (None, _) => self.reply_result(request, era, text),
        }
    }
}

/// Whether no page follows.
pub(super) fn is_last(page: &str) -> bool {
    let page = serde_json::from_str::<&RawValue>(page).ok();
    let all = page.and_then(members).unwrap_or_default();
    !all.iter().any(|(key, _)| key == "nextCursor")
}

/// A page with the host's items at its end.
fn joined(list: &str, page: &str, more: &str) -> Result<String, String> {
    let items = |text: &str| -> Option<Json> {
        let result = json(text).ok()?;
        let (_, items) = members(&result)?.into_iter().find(|(key, _)| key == list)?;
        items.get().starts_with('[').then(|| items.to_owned())
    };
    let wrong = || format!("what the server adds to the list must be an object with an array \"{list}\"");
    let (ours, theirs) = (items(page).ok_or_else(wrong)?, items(more).ok_or_else(wrong)?);
    let inner = |items: &Json| items.get()[1..items.get().len() - 1].trim().to_owned();
    let both: Vec<String> = [&ours, &theirs]
        .into_iter()
        .map(inner)
        .filter(|items| !items.is_empty())
        .collect();
    Ok(ObjectWriter::new()
        .json(list, &format!("[{}]", both.join(",")))
        .finish())
}
