//! The class `Session`: how it is driven and drained. What each side does is in its own file.

use napi::bindgen_prelude::BufferSlice;
use napi::{Env, JsString};
use napi_derive::napi;
use oxmcp::border::{HttpOrigin, Remote};
use oxmcp_proto::{Error, ErrorKind, InboundId, Instant};
use serde_json::Value;

use crate::error::Failure;
use crate::registry::AsText;
use crate::state::{Cause, Handle};

/// One end of a connection, driven by JavaScript with the clock passed in (milliseconds).
#[napi]
pub struct Session {
    pub(crate) handle: Handle,
}

/// What a session holds at the moment.
#[napi(object)]
pub struct Stats {
    /// Calls of the peer that wait for an answer.
    pub inbound: u32,
    /// Calls of ours that wait for an answer.
    pub outbound: u32,
    /// Bytes of a line that is not complete yet.
    pub buffered: u32,
}

#[napi]
impl Session {
    /// The number by which the functions of the hot path know this session.
    #[napi(getter)]
    pub fn handle(&self) -> u32 {
        self.handle.number()
    }

    /// Takes in bytes from the peer.
    #[napi]
    pub fn receive(&self, env: &Env, bytes: &[u8], now: f64) -> napi::Result<()> {
        self.drive_at(env, now, |session, now| {
            session.receive(bytes, now);
            Ok(())
        })
    }

    /// The peer closed its side.
    #[napi]
    pub fn end_input(&self, env: &Env, now: f64) -> napi::Result<()> {
        self.drive_at(env, now, |session, now| {
            session.end_input(now);
            Ok(())
        })
    }

    /// Answers the row `unauthorized`: names and values of header fields to be sent from now on, one after the other, or why
    /// there are none. False when nobody waits any more.
    #[napi]
    pub fn give_headers(&self, env: &Env, fields: Vec<String>, why_not: Option<String>) -> napi::Result<bool> {
        let fields = match why_not {
            Some(why) => Err(Error::new(ErrorKind::Usage, why)),
            None => Ok(fields
                .chunks_exact(2)
                .map(|field| (field[0].clone(), field[1].clone()))
                .collect()),
        };
        self.handle.with(env, |state| {
            Ok(state.remote().is_some_and(|remote| remote.give_headers(fields)))
        })
    }

    /// Ends the session.
    #[napi]
    pub fn close(&self, env: &Env, why: String) -> napi::Result<()> {
        self.drive(env, |session| session.close(&why))
    }

    /// Lets time pass.
    #[napi]
    pub fn handle_timeout(&self, env: &Env, now: f64) -> napi::Result<()> {
        self.drive_at(env, now, |session, now| {
            session.handle_timeout(now);
            Ok(())
        })
    }

    /// When `handleTimeout` must be called at the latest.
    #[napi]
    pub fn poll_timeout(&self, env: &Env) -> napi::Result<Option<f64>> {
        self.handle
            .with(env, |state| Ok(state.poll_timeout().map(Instant::as_millis)))
    }

    /// All events since the last time, as the text of one flat JSON array, and the bytes for the peer.
    #[napi]
    pub fn poll<'env>(&self, env: &'env Env) -> napi::Result<(JsString<'env>, BufferSlice<'env>)> {
        let events = match self.take_events(env)? {
            Some(events) => events,
            None => env.create_string("[]")?,
        };
        let copy = |wire: &[u8]| BufferSlice::copy_from(env, wire);
        let wire = match self.handle.with(env, |state| state.take_wire(env, copy))? {
            Some(wire) => wire,
            None => copy(&[])?,
        };
        Ok((events, wire))
    }

    /// The events alone; `null` when there are none.
    #[napi]
    pub fn take_events<'env>(&self, env: &'env Env) -> napi::Result<Option<JsString<'env>>> {
        self.handle.with(env, |state| state.take_events(env))
    }

    /// Gives the result of this call of ours as JSON text, in an event `"text"` in place of `"result"`.
    #[napi]
    pub fn keep_text(&self, env: &Env, id: i64) -> napi::Result<()> {
        self.handle.with(env, |state| {
            state.keep_text(id as u64);
            Ok(())
        })
    }

    /// Lets go of a session that is elsewhere, once nothing more is to be said to it: its memory is free at once.
    #[napi]
    pub fn release(&self, env: &Env) -> napi::Result<()> {
        self.handle.with(env, |state| {
            state.release();
            Ok(())
        })
    }

    /// Runs a command, given and answered as JSON (see `Session::command` in oxmcp-proto).
    #[napi]
    pub fn command(&self, env: &Env, text: String, now: f64) -> napi::Result<String> {
        self.drive_at(env, now, |session, now| Ok(session.command(&text, now)?))
    }

    /// `command` for one of several questions that are asked together: of a session that is elsewhere they leave with
    /// `settle`.
    #[napi]
    pub fn ask(&self, env: &Env, text: String, now: f64) -> napi::Result<String> {
        let ask = |session: &mut oxmcp_proto::Session, now| Ok(session.command(&text, now)?);
        self.handle
            .with(env, |state| state.try_drive(env, now, Cause::Several, ask))
    }

    /// All questions of this turn are asked.
    #[napi]
    pub fn settle(&self, env: &Env) -> napi::Result<()> {
        self.handle.with(env, |state| {
            state.settle();
            Ok(())
        })
    }

    /// The HTTP request that brought a call of the peer, while that is under way, as JSON text:
    /// `[token, method, target, authority, name, value, …]`. `token` is that of the exchange, `null` for a request to a port of the
    /// core's own; values of header fields have a character for each byte.
    #[napi]
    pub fn http_request(&self, env: &Env, id: i64) -> napi::Result<Option<String>> {
        self.handle.with(env, |state| {
            let origin = state
                .remote()
                .and_then(|remote| remote.http_request(InboundId(id as u64)));
            Ok(origin.map(|origin| head_text(&origin)))
        })
    }

    /// The name of the session, where its transport has named sessions.
    #[napi]
    pub fn session_id(&self, env: &Env) -> napi::Result<Option<String>> {
        self.handle.with(env, |state| {
            let id = state.remote().and_then(Remote::session_id);
            Ok(id.map(|id| String::from(&*id)))
        })
    }

    /// Panics as a fault of the core would, for the test that only this session ends by it.
    #[napi]
    pub fn provoke_fault(&self, env: &Env) -> napi::Result<()> {
        self.drive(env, |_| panic!("provoked"))
    }

    /// How many calls the session holds.
    #[napi]
    pub fn stats(&self, env: &Env) -> napi::Result<Stats> {
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.handle.with(env, |state| {
            let stats = state.drive(env, |session| session.stats())?;
            Ok(Stats {
                inbound: narrow(stats.inbound),
                outbound: narrow(stats.outbound),
                buffered: narrow(stats.buffered),
            })
        })
    }
}

impl Session {
    pub(crate) fn new(session: oxmcp_proto::Session, as_text: AsText) -> Self {
        Self {
            handle: Handle::here(session, as_text),
        }
    }

    pub(crate) fn drive<T>(&self, env: &Env, work: impl FnOnce(&mut oxmcp_proto::Session) -> T) -> napi::Result<T> {
        self.handle.with(env, |state| state.drive(env, work))
    }

    pub(crate) fn drive_at<T>(
        &self,
        env: &Env,
        now: f64,
        work: impl FnOnce(&mut oxmcp_proto::Session, Instant) -> Result<T, Failure>,
    ) -> napi::Result<T> {
        self.handle
            .with(env, |state| state.try_drive(env, now, Cause::Us, work))
    }
}

fn head_text(HttpOrigin { token, request }: &HttpOrigin) -> String {
    let latin1 = |bytes: &[u8]| -> Value { bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into() };
    let mut head: Vec<Value> = vec![
        (*token).into(),
        request.method.as_str().into(),
        request.target.as_str().into(),
        request.authority.as_deref().into(),
    ];
    for (name, value) in &request.headers {
        head.extend([latin1(name), latin1(value)]);
    }
    Value::from(head).to_string()
}
