//! What crosses for every message: four plain functions, each of which knows its session by number.

use napi::bindgen_prelude::{BufferSlice, Either};
use napi::{Env, JsString};
use napi_derive::napi;
use oxmcp_proto::{Answer, InboundId};

use crate::options::{CallTuple, call_options};
use crate::state::{Cause, js_string, with};

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
#[napi]
pub fn take_wire<'env>(
    env: &'env Env,
    session: u32,
) -> napi::Result<Option<Either<JsString<'env>, BufferSlice<'env>>>> {
    with(session, env, |state| {
        state.take_wire(env, |wire| {
            Ok(if wire.len() <= SHORT {
                Either::A(js_string(env, wire)?)
            } else {
                Either::B(BufferSlice::copy_from(env, wire)?)
            })
        })
    })
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
