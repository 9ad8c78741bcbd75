//! How a call of ours goes out and comes to its end, be it by one request or by several.
//!
//! | the result | the call |
//! | --- | --- |
//! | is complete | ends |
//! | is a page of a list that was asked for as a whole, and not the last | goes on with the next page |
//! | asks for input (2026-07-28) | goes on once that was given, see `input.rs` |
//! | is at hand and fresh (2026-07-28) | ends without a request |

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::elicitation;
use super::input::Input;
use super::outbound::Call;
use super::probe::{ResultType, result_type, with_meta, with_stated};
use super::{CallOptions, Error, ErrorKind, OutboundId, Session, wire_id};
use crate::client::cacheable;
use crate::jsonrpc::{ErrorCode, Json, ObjectWriter, decode_str, members, write};
use crate::{Instant, Kind};

/// Requests that a server may answer by asking for input (2026-07-28 mrtr, Supported Requests).
pub(super) const ROUNDS: [&str; 3] = ["prompts/get", "resources/read", "tools/call"];

/// What few calls need, and so no entry has room for.
#[derive(Debug, Default)]
pub(super) struct Extra {
    /// The params as the caller gave them, for calls that may be made again or be at hand.
    pub params: Option<Box<str>>,
    pub paging: Option<Paging>,
    pub input: Input,
}

/// A list that was asked for as a whole.
#[derive(Debug, Default)]
pub(super) struct Paging {
    /// The items of the pages so far, with commas.
    items: String,
    pages: usize,
    /// Where the next page begins, as JSON text.
    cursor: Option<Box<str>>,
    /// Whether it began anew, as a kept page led to a cursor that is no longer good.
    again: bool,
}

impl Session {
    pub(super) fn start(
        &mut self,
        method: &str,
        params: Option<&str>,
        options: CallOptions,
        paging: Option<Paging>,
        now: Instant,
    ) -> OutboundId {
        self.flush_notices();
        let id = self.outbound.insert(method, options, self.config.timeout, now);
        if paging.is_none() && !self.needs_extra(method) {
            self.write_call(id, params);
            return id;
        }
        if let Some(call) = self.outbound.get_mut(id) {
            call.extra = Some(Box::new(Extra {
                params: params.map(Into::into),
                paging,
                input: Input::default(),
            }));
        }
        self.go_on(id, now);
        id
    }

    fn needs_extra(&self, method: &str) -> bool {
        match method {
            "elicitation/create" => true,
            "tools/list" => self.config.validate_results || self.era().stateless,
            "tools/call" => !self.result_schemas.is_empty() || self.era().stateless,
            _ => self.era().stateless && (ROUNDS.contains(&method) || cacheable(method)),
        }
    }

    /// Sends the next request of a call, unless what it would give is at hand.
    pub(super) fn go_on(&mut self, id: OutboundId, now: Instant) {
        while let Some(hit) = self.at_hand(id, now) {
            let Some(call) = self.outbound.take(id) else { return };
            if !self.conclude(id, call, Ok(&hit), true, now) {
                return;
            }
        }
        let Some(extra) = self.outbound.get_mut(id).and_then(|call| call.extra.as_deref()) else {
            return;
        };
        let params = extra.next_params().map(Cow::into_owned);
        self.write_call(id, params.as_deref());
    }

    fn at_hand(&self, id: OutboundId, now: Instant) -> Option<Json> {
        let call = self.outbound.get(id).filter(|call| !call.fresh)?;
        let extra = call.extra.as_deref().filter(|extra| extra.input.rounds == 0)?;
        self.cache.get(&call.method, extra.next_params().as_deref(), now)
    }

    fn write_call(&mut self, id: OutboundId, params: Option<&str>) {
        let Some((call, wire)) = self.outbound.get(id).and_then(|call| Some((call, call.wire?))) else {
            return;
        };
        let token = call.wants_progress.then(|| ("progressToken", wire_id(id).to_string()));
        let params = match (self.stated(call.log_level), token) {
            (Some(stated), token) => Some(Cow::Owned(with_stated(params, stated, token))),
            (None, Some(token)) => Some(Cow::Owned(with_meta(params, std::iter::once(token)))),
            (None, None) => params.map(Cow::Borrowed),
        };
        write::request(&mut self.wire, wire_id(wire), &call.method, params.as_deref());
    }

    /// Takes in the outcome of a call's request. True when the call goes on by another request.
    pub(super) fn conclude(
        &mut self,
        id: OutboundId,
        call: Call,
        outcome: Result<&RawValue, Error>,
        at_hand: bool,
        now: Instant,
    ) -> bool {
        if let Err(error) = &outcome
            && let Some(again) = self.begin_list_again(&call, error)
        {
            let mut call = call;
            call.extra = Some(again);
            self.outbound.resend(id, call, now);
            return true;
        }
        match outcome.and_then(|result| self.read_result(&call, result, at_hand, now)) {
            Ok(Next::Ended(result)) => self.complete(id, Ok(result)),
            Ok(Next::Page(cursor, items)) => return self.next_page(id, call, cursor, &items, now),
            Ok(Next::Input(result)) => return self.take_round(id, call, &result, now),
            Err(error) => self.complete(id, Err(error)),
        }
        false
    }

    fn read_result(&mut self, call: &Call, result: &RawValue, at_hand: bool, now: Instant) -> Result<Next, Error> {
        if !result.get().starts_with('{') {
            let message = "the peer answered with a result that is not an object";
            return Err(Error::new(ErrorKind::Protocol, message));
        }
        let stateless = self.era().stateless;
        if stateless && result_type(result)? == ResultType::InputRequired {
            return Ok(Next::Input(result.to_owned()));
        }
        let Some(extra) = call.extra.as_deref() else {
            return Ok(Next::Ended(result.to_owned()));
        };
        let params = extra.next_params();
        let keep = stateless && self.config.response_cache && cacheable(&call.method) && extra.input.rounds == 0;
        if keep && !at_hand {
            self.cache
                .put(&call.method, params.as_deref(), result, self.config.limits.list, now);
        }
        match &*call.method {
            "tools/list" if self.config.validate_results => self.result_schemas.learn(result),
            "tools/call" => self.check_structured(extra.params.as_deref(), result)?,
            "elicitation/create" => {
                let params = extra.params.as_deref().unwrap_or("{}");
                return elicitation::normalise(params, result).map(Next::Ended);
            }
            _ => {}
        }
        match &extra.paging {
            Some(paging) => read_page(&call.method, paging, result, self.era().empty_cursor_ends),
            None => Ok(Next::Ended(result.to_owned())),
        }
    }

    /// A list whose cursor is refused begins anew, once, without the pages at hand (2026-07-28 caching,
    /// Interaction with Pagination).
    fn begin_list_again(&mut self, call: &Call, error: &Error) -> Option<Box<Extra>> {
        let extra = call.extra.as_deref()?;
        let paging = extra.paging.as_ref()?;
        let refused = error.code() == Some(ErrorCode::INVALID_PARAMS);
        if !self.era().stateless || !refused || paging.again || paging.pages == 0 {
            return None;
        }
        self.cache.forget(&call.method);
        Some(Box::new(Extra {
            params: extra.params.clone(),
            paging: Some(Paging {
                again: true,
                ..Paging::default()
            }),
            input: Input::default(),
        }))
    }

    fn check_structured(&self, params: Option<&str>, result: &RawValue) -> Result<(), Error> {
        if self.result_schemas.is_empty() {
            return Ok(());
        }
        let params = params.and_then(|params| serde_json::from_str::<&RawValue>(params).ok());
        let name = params.and_then(members).and_then(|params| {
            let (_, name) = params.into_iter().find(|(key, _)| key == "name")?;
            decode_str(name)
        });
        name.map_or(Ok(()), |name| self.result_schemas.check(&name, result))
            .map_err(|why| Error::new(ErrorKind::Protocol, why))
    }

    fn next_page(&mut self, id: OutboundId, mut call: Call, cursor: Box<str>, items: &str, now: Instant) -> bool {
        let limits = self.config.limits;
        let Some(paging) = call.extra.as_mut().and_then(|extra| extra.paging.as_mut()) else {
            return false;
        };
        paging.add(items);
        paging.pages += 1;
        paging.cursor = Some(cursor);
        let why = if paging.pages >= limits.pages {
            format!(
                "{} was not at its end after {} pages, which is the limit",
                call.method, limits.pages
            )
        } else if paging.items.len() > limits.list {
            format!(
                "{} is longer than {} bytes, which is the limit",
                call.method, limits.list
            )
        } else {
            self.outbound.resend(id, call, now);
            return true;
        };
        let why = format!("{why}; it may have none. Ask for it page by page, or raise the limit");
        self.complete(id, Err(Error::new(ErrorKind::Protocol, why)));
        false
    }
}

/// What a result means for its call.
enum Next {
    Ended(Json),
    /// There are more: the next cursor, and the items of this page.
    Page(Box<str>, String),
    Input(Json),
}

impl Extra {
    /// The params of the next request.
    fn next_params(&self) -> Option<Cow<'_, str>> {
        let params = self.params.as_deref();
        let cursor = self.paging.as_ref().and_then(|paging| paging.cursor.as_deref());
        match cursor {
            Some(cursor) => Some(Cow::Owned(with_members(params, &[("cursor", cursor)]))),
            None => self.input.add_to(params),
        }
    }
}

impl Paging {
    fn add(&mut self, items: &str) {
        if !self.items.is_empty() && !items.is_empty() {
            self.items.push(',');
        }
        self.items.push_str(items);
    }
}

/// The member of a list's result that holds the items.
pub(super) fn items_of(method: &str) -> Option<&'static str> {
    Kind::ALL
        .into_iter()
        .find(|kind| kind.list_method() == method)
        .map(Kind::list)
}

fn read_page(method: &str, paging: &Paging, result: &RawValue, empty_ends: bool) -> Result<Next, Error> {
    let broken = |what: &str| Error::new(ErrorKind::Protocol, format!("a page of {method} is broken: {what}"));
    let list = items_of(method).unwrap_or_default();
    let all = members(result).ok_or_else(|| broken("it is no object"))?;
    let member = |wanted: &str| all.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
    let items = member(list)
        .map(serde_json::value::RawValue::get)
        .filter(|items| items.starts_with('['));
    let items = items.ok_or_else(|| broken(&format!("\"{list}\" must be an array")))?;
    let items = items[1..items.len() - 1].trim();
    let next = member("nextCursor").filter(|cursor| cursor.get() != "null");
    if next.is_some_and(|cursor| decode_str(cursor).is_none()) {
        return Err(broken("\"nextCursor\" must be a string"));
    }
    match next.filter(|cursor| !(empty_ends && cursor.get() == "\"\"")) {
        Some(cursor) => Ok(Next::Page(cursor.get().into(), items.to_owned())),
        None if paging.pages == 0 && next.is_none() => Ok(Next::Ended(result.to_owned())),
        None => {
            let mut before = Paging {
                items: paging.items.clone(),
                ..Paging::default()
            };
            before.add(items);
            let mut whole = ObjectWriter::new().json(list, &format!("[{}]", before.items));
            for (key, value) in all.iter().filter(|(key, _)| key != list && key != "nextCursor") {
                whole = whole.json(key, value.get());
            }
            crate::jsonrpc::json(whole.finish())
                .map(Next::Ended)
                .map_err(|error| broken(&error.to_string()))
        }
    }
}

/// `params` with members set. Others and their order stay.
pub(super) fn with_members(params: Option<&str>, own: &[(&str, &str)]) -> String {
    let text = params.unwrap_or("{}");
    let theirs = serde_json::from_str(text).ok().and_then(members).unwrap_or_default();
    let mut whole = ObjectWriter::new();
    for (key, value) in theirs.iter().filter(|(key, _)| own.iter().all(|(ours, _)| key != ours)) {
        whole = whole.json(key, value.get());
    }
    own.iter()
        .fold(whole, |whole, (key, value)| whole.json(key, value))
        .finish()
}
