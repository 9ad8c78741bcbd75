//! Steps that say what the session must have done by now.

use std::rc::Rc;

use oxmcp_proto::Error;
use serde_json::value::RawValue;

use super::exact::Exact;
use super::fields::{Fields, decode};
use super::runner::{Runner, error_json, with_version};

/// One row of the flat array of events.
#[derive(Debug)]
pub(crate) struct Event {
    pub kind: String,
    pub id: Option<u64>,
    pub first: Box<RawValue>,
    pub second: Box<RawValue>,
    /// The whole array it came in, for checks of text.
    pub text: Rc<str>,
}

impl Event {
    pub(crate) fn read_all(array: Vec<u8>) -> Result<Vec<Self>, String> {
        let text: Rc<str> = String::from_utf8(array).map_err(|error| error.to_string())?.into();
        let values: Vec<Box<RawValue>> =
            serde_json::from_str(&text).map_err(|error| format!("the events are no JSON array: {error}: {text}"))?;
        let rows = values.chunks(4).map(|row| match row {
            [kind, id, first, second] => Ok(Self {
                kind: decode(kind)?,
                id: decode(id)?,
                first: first.clone(),
                second: second.clone(),
                text: Rc::clone(&text),
            }),
            _ => Err(format!("the events are not in rows of four: {text}")),
        });
        rows.collect()
    }
}

/// Checks one expectation. False when `verb` is none.
pub(crate) fn check(runner: &mut Runner, verb: &str, value: &RawValue, fields: &mut Fields) -> Result<bool, String> {
    match verb {
        "expect" => {
            let line = next_message(runner)?;
            same(&with_version(value.get()), &line)?;
        }
        "expect_text" => {
            let (wanted, line) = (decode::<String>(value)?, next_message(runner)?);
            if wanted != line {
                return Err(format!("expected the text {wanted}, got {line}"));
            }
        }
        "silence" => runner.quiet()?,
        "stats" => {
            let stats = runner.session.stats();
            let found = format!(
                "{{\"inbound\":{},\"outbound\":{},\"buffered\":{}}}",
                stats.inbound, stats.outbound, stats.buffered
            );
            same_members(value, &found)?;
        }
        "timer" => {
            let due = runner.session.poll_timeout().map(|due| (due - runner.now).as_millis());
            let wanted: Option<u128> = decode(value)?;
            if due != wanted {
                return Err(format!(
                    "expected the next deadline in {wanted:?} ms, it is in {due:?} ms"
                ));
            }
        }
        _ => return check_event(runner, verb, value, fields),
    }
    Ok(true)
}

fn check_event(runner: &mut Runner, verb: &str, value: &RawValue, fields: &mut Fields) -> Result<bool, String> {
    let kind = match verb {
        "connect_failed" => "connectFailed",
        "done" if fields.has("error") => "error",
        "done" => "result",
        "call" | "describe" | "cancelled" | "ready" | "progress" | "notification" | "problem" | "closed" => verb,
        _ => return Ok(false),
    };
    let event = runner
        .events
        .pop_front()
        .ok_or_else(|| format!("expected an event {kind}, there is none"))?;
    if event.kind != kind {
        return Err(format!("expected an event {kind}, got {event:?}"));
    }
    if let Some(part) = fields.take::<String>("text")?
        && !event.text.contains(&part)
    {
        return Err(format!("the text {part} is not in {}", event.text));
    }
    let id = event.id.unwrap_or(u64::MAX);
    match verb {
        "call" => {
            call(runner, value, &event)?;
            runner.name(fields, id)?;
        }
        "describe" => {
            let kind: String = fields.take("kind")?.unwrap_or_else(|| "tool".to_owned());
            same(&format!("\"{kind}\""), event.first.get())?;
            runner.names.extend([(decode(value)?, id)]);
        }
        "cancelled" => {
            same_call(runner, value, id)?;
            same_or_null(fields.raw("reason").as_deref(), &event.first)?;
        }
        "progress" => {
            same_call(runner, value, id)?;
            same_or_null(fields.raw("params").as_deref(), &event.first)?;
        }
        "done" => {
            same_call(runner, value, id)?;
            match (fields.raw("result"), fields.raw("error")) {
                (Some(result), None) => same(result.get(), event.first.get())?,
                (None, Some(error)) => same_members(&error, event.first.get())?,
                _ => return Err("done needs a result or an error".to_owned()),
            }
        }
        "notification" => {
            same(value.get(), event.first.get())?;
            same_or_null(fields.raw("params").as_deref(), &event.second)?;
            let subscription = fields.raw("subscription").map(|name| runner.named(&name)).transpose()?;
            if subscription != event.id {
                return Err(format!("expected it on the stream {subscription:?}, got {event:?}"));
            }
        }
        "problem" => {
            let found = format!("{{\"kind\":{},\"message\":{}}}", event.first, event.second);
            same_members(value, &found)?;
        }
        "ready" | "connect_failed" => same_members(value, event.first.get())?,
        _ => {}
    }
    Ok(true)
}

/// Compares a call for the host: `{kind: key, params?, progress?}`, and for a tool `arguments`.
fn call(runner: &Runner, value: &RawValue, event: &Event) -> Result<(), String> {
    let (kind, target, progress): (String, Box<RawValue>, bool) = decode(&event.first)?;
    let mut wanted = decode::<Fields>(value)?;
    let (wanted_kind, key) = wanted.verb()?;
    let key: String = decode(&key)?;
    let found = match kind.as_str() {
        "method" => decode(&target)?,
        _ => runner.key(&kind, decode(&target)?)?,
    };
    if (wanted_kind, &key) != (kind, &found) || progress != wanted.take("progress")?.unwrap_or(false) {
        return Err(format!("expected a call of {key}, got {event:?}"));
    }
    let params = wanted.raw("params").or_else(|| wanted.raw("arguments"));
    same_or_null(params.as_deref(), &event.second)?;
    wanted.finish()
}

/// Compares an attempt with the `refused` of its step.
pub(crate) fn refusal<T>(attempt: Result<T, Error>, refused: Option<&RawValue>) -> Result<(), String> {
    match (attempt, refused) {
        (Ok(_), None) => Ok(()),
        (Ok(_), Some(wanted)) => Err(format!("expected it to be refused as {wanted}, it was not")),
        (Err(error), None) => Err(format!("it was refused: {}", error_json(&error))),
        (Err(error), Some(wanted)) => same_members(wanted, &error_json(&error)),
    }
}

fn next_message(runner: &mut Runner) -> Result<String, String> {
    let next = runner.wire.pop_front();
    next.ok_or_else(|| "expected a message, nothing was written".to_owned())
}

pub(crate) fn same(wanted: &str, found: &str) -> Result<(), String> {
    if Exact::parse(wanted)?.matches(&Exact::parse(found)?) {
        return Ok(());
    }
    Err(format!("expected {wanted}, got {found}"))
}

fn same_or_null(wanted: Option<&RawValue>, found: &RawValue) -> Result<(), String> {
    same(wanted.map_or("null", RawValue::get), found.get())
}

/// Compares the members that `wanted` names; of `message`, a part is enough.
fn same_members(wanted: &RawValue, found: &str) -> Result<(), String> {
    let (Exact::Object(members), Exact::Object(all)) = (Exact::parse(wanted.get())?, Exact::parse(found)?) else {
        return Err(format!("expected {wanted}, got {found}"));
    };
    let agrees = |(key, value): (&String, &Exact)| match (key.as_str(), value, all.get(key)) {
        ("message", Exact::Text(part), Some(Exact::Text(text))) => text.contains(part.as_str()),
        (_, value, Some(found)) => value.matches(found),
        (_, value, None) => *value == Exact::Null,
    };
    if members.iter().all(agrees) {
        return Ok(());
    }
    Err(format!("expected {wanted}, got {found}"))
}

fn same_call(runner: &Runner, value: &RawValue, id: u64) -> Result<(), String> {
    let wanted = runner.named(value)?;
    if wanted == id {
        return Ok(());
    }
    Err(format!(
        "expected it of the call {value} ({wanted}), it is of call {id}"
    ))
}
