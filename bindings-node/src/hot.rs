//! What crosses for every message: plain functions, each of which knows its session by number.

use napi::bindgen_prelude::{BufferSlice, Either};
use napi::{Env, JsString};
use napi_derive::napi;
use oxmcp_proto::{Answer, InboundId};

use crate::options::{CallTuple, call_options};
use crate::state::{Cause, State, js_string, with};

/// A wire up to this size goes out as a string, which Node writes without an object of its own.
const SHORT: usize = 16 * 1024;

/// `Session.receive` of the first `length` bytes, and `Session.takeEvents`: `null` when there are none.
///
/// The text starts with a space, which means nothing to JSON, when there is something to write as well.
#[napi]
pub fn receive<'env>(
    env: &'env Env,
    session: u32,
    buffer: &[u8],
    length: u32,
    now: f64,
) -> napi::Result<Option<JsString<'env>>> {
    let bytes = &buffer[..buffer.len().min(length as usize)];
    with(session, env, |state| {
        state.try_drive(env, now, Cause::Us, |session, now| {
            session.receive(bytes, now);
            Ok(())
        })?;
        state.take_events_and_mark_wire(env)
    })
}

/// The bytes for the peer, to be written as UTF-8; `null` when there are none.
type Wire<'env> = Option<Either<JsString<'env>, BufferSlice<'env>>>;

/// What waits for the peer, but for what a descriptor takes at once: that of a pipe or a socket which does not block, or -1. What goes
/// wrong in writing is left to whoever writes the rest.
#[napi]
pub fn take_wire<'env>(env: &'env Env, session: u32, descriptor: i32) -> napi::Result<Wire<'env>> {
    with(session, env, |state| wire_of(env, state, descriptor))
}

/// Answers calls, and gives the wire as `takeWire` does. `answers` has a line for each, ended by a line feed: `r`, the call's number, a
/// space and the JSON text of a result, or `t`, its number, a space and text that a tool gave.
#[napi]
pub fn answer<'env>(
    env: &'env Env,
    session: u32,
    answers: String,
    now: f64,
    descriptor: i32,
) -> napi::Result<Wire<'env>> {
    with(session, env, |state| {
        state.try_drive(env, now, Cause::Peer, |session, now| {
            for (id, answer) in answers.split_terminator('\n').filter_map(answer_in) {
                session.respond(id, answer, now);
            }
            Ok(())
        })?;
        wire_of(env, state, descriptor)
    })
}

pub(crate) fn answer_in(line: &str) -> Option<(InboundId, Answer<'_>)> {
    let (head, rest) = line.split_once(' ')?;
    let (kind, id) = head.split_at_checked(1)?;
    let answer = if kind == "t" {
        Answer::Text(rest)
    } else {
        Answer::Result(rest)
    };
    Some((InboundId(id.parse().ok()?), answer))
}

fn wire_of<'env>(env: &'env Env, state: &mut State, descriptor: i32) -> napi::Result<Wire<'env>> {
    let wire = state.take_wire(env, |wire| {
        let rest = write_now(descriptor, wire);
        Ok(if rest.is_empty() {
            None
        } else if rest.len() == wire.len() && wire.len() <= SHORT {
            Some(Either::A(js_string(env, wire)?))
        } else {
            // It may begin in the middle of a character.
            Some(Either::B(BufferSlice::copy_from(env, rest)?))
        })
    })?;
    Ok(wire.flatten())
}

/// Writes what can be written at once; gives the rest.
#[cfg(unix)]
fn write_now(descriptor: i32, mut wire: &[u8]) -> &[u8] {
    while descriptor >= 0 && !wire.is_empty() {
        // SAFETY: the bytes are there for the time of the call; a descriptor that is not open gives an error.
        let written = unsafe { libc::write(descriptor, wire.as_ptr().cast(), wire.len()) };
        let Ok(written) = usize::try_from(written) else { break };
        wire = &wire[written.min(wire.len())..];
    }
    wire
}

#[cfg(not(unix))]
fn write_now(_descriptor: i32, wire: &[u8]) -> &[u8] {
    wire
}

/// `Session.callTool`.
#[napi]
pub fn call_tool(
    env: &Env,
    session: u32,
    name: String,
    arguments: Option<String>,
    options: Option<CallTuple>,
    now: f64,
) -> napi::Result<i64> {
    with(session, env, |state| {
        state.try_drive(env, now, Cause::Us, |session, now| {
            let options = call_options(options)?;
            let id = session.call_tool(&name, arguments.as_deref(), options, now)?;
            // Ids count up from zero one by one, and so stay exact in JavaScript.
            Ok(id.0 as i64)
        })
    })
}

/// `Session.respondResult`.
#[napi]
pub fn respond_result(env: &Env, session: u32, id: i64, result: String, now: f64) -> napi::Result<bool> {
    with(session, env, |state| {
        state.try_drive(env, now, Cause::Peer, |session, now| {
            Ok(session.respond(InboundId(id as u64), Answer::Result(&result), now))
        })
    })
}

/// `Session.respondText`.
#[napi]
pub fn respond_text(env: &Env, session: u32, id: i64, text: String, now: f64) -> napi::Result<bool> {
    with(session, env, |state| {
        state.try_drive(env, now, Cause::Peer, |session, now| {
            Ok(session.respond(InboundId(id as u64), Answer::Text(&text), now))
        })
    })
}
