//! What a session of JavaScript is in Rust, and where it is kept.
//!
//! A session is here, driven by JavaScript, or elsewhere, driven by its transport (`hub.rs`): its outputs come by the
//! hub then.
//!
//! States lie in a table of their thread, under a number that JavaScript passes: it costs a tenth of unwrapping an
//! object, which the functions of the hot path (`hot.rs`) would otherwise do for every message.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::{Env, JsString};
use oxmcp::border::Remote;
use oxmcp_proto::{
    EntryId, Error, ErrorKind, InboundId, Instant, Output, Session, Target, encode_output, encode_text_result,
};

use crate::error::Failure;
use crate::registry::AsText;

/// How the text of events starts. The space is left out unless it has something to say.
const START: &[u8] = b" [";

/// Where a session is.
pub(crate) enum Place {
    Here(Box<Session>),
    Elsewhere(Remote),
    /// JavaScript has let go of it.
    Nowhere,
}

/// A session and the two buffers in which its outputs gather.
pub(crate) struct State {
    place: Place,
    /// Set by a panic: the session may be half changed, so nothing goes in or out any more.
    broken: Option<String>,
    /// Calls whose result JavaScript wants as text.
    as_text: HashSet<u64>,
    /// Tools whose arguments it wants so.
    tools_as_text: AsText,
    events: Vec<u8>,
    wire: Vec<u8>,
}

/// Whose doing it is that the session gets something to say.
#[derive(Clone, Copy)]
pub(crate) enum Cause {
    Us,
    Peer,
    /// Us: one of several things that belong together, before `settle`.
    Several,
}

/// The place of a state in the table of its thread.
pub(crate) struct Handle(u32);

/// The states of a thread. A place is free again when its handle is gone.
struct States {
    places: Vec<Option<Box<State>>>,
    free: Vec<u32>,
}

thread_local! {
    static STATES: RefCell<States> = const { RefCell::new(States { places: Vec::new(), free: Vec::new() }) };
    /// The handles of sessions elsewhere, by the numbers of their connections.
    static ELSEWHERE: RefCell<HashMap<u64, u32>> = RefCell::default();
}

/// The handle of the session of a connection, if it has one.
pub(crate) fn handle_of(connection: u64) -> Option<u32> {
    ELSEWHERE.with_borrow(|elsewhere| elsewhere.get(&connection).copied())
}

impl Handle {
    /// One that is here.
    pub(crate) fn here(session: Session, tools_as_text: AsText) -> Self {
        Self::new(Place::Here(Box::new(session)), tools_as_text)
    }

    /// One whose outputs come by a hub.
    pub(crate) fn elsewhere(remote: Remote, tools_as_text: AsText) -> Self {
        let connection = remote.number();
        let handle = Self::new(Place::Elsewhere(remote), tools_as_text);
        ELSEWHERE.with_borrow_mut(|elsewhere| elsewhere.insert(connection, handle.0));
        handle
    }

    fn new(place: Place, tools_as_text: AsText) -> Self {
        let state = Box::new(State {
            place,
            broken: None,
            as_text: HashSet::new(),
            tools_as_text,
            events: Vec::new(),
            wire: Vec::new(),
        });
        STATES.with_borrow_mut(|States { places, free }| {
            let place = free.pop().unwrap_or_else(|| {
                places.push(None);
                u32::try_from(places.len() - 1).unwrap_or_else(|_| unreachable!("memory ends before the numbers do"))
            });
            places[place as usize] = Some(state);
            Self(place)
        })
    }

    pub(crate) fn number(&self) -> u32 {
        self.0
    }

    pub(crate) fn with<T>(&self, env: &Env, work: impl FnOnce(&mut State) -> napi::Result<T>) -> napi::Result<T> {
        with(self.0, env, work)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // At the end of a thread its table may be gone first.
        let state = STATES.try_with(|states| {
            let mut states = states.borrow_mut();
            states.free.push(self.0);
            states.places[self.0 as usize].take()
        });
        if let Ok(Some(mut state)) = state {
            state.release();
        }
    }
}

/// Lends out the state of this number.
///
/// It leaves the table meanwhile: making a JavaScript value can collect garbage, which drops other handles.
pub(crate) fn with<T>(number: u32, env: &Env, work: impl FnOnce(&mut State) -> napi::Result<T>) -> napi::Result<T> {
    borrow(number, work).unwrap_or_else(|| Err(Failure::Broken("the session is gone".to_owned()).throw(env)))
}

/// The same; `None` where there is none.
pub(crate) fn borrow<T>(number: u32, work: impl FnOnce(&mut State) -> T) -> Option<T> {
    let mut state = STATES.with_borrow_mut(|states| states.places.get_mut(number as usize)?.take())?;
    let outcome = work(&mut state);
    STATES.with_borrow_mut(|states| states.places[number as usize] = Some(state));
    Some(outcome)
}

impl State {
    /// Runs one input. A panic in it breaks this session alone.
    pub(crate) fn drive<T>(&mut self, env: &Env, work: impl FnOnce(&mut Session) -> T) -> napi::Result<T> {
        self.try_drive(env, 0.0, Cause::Us, |session, _| Ok(work(session)))
    }

    /// `drive` for work of a time, which the core may refuse. A session that is elsewhere has a clock of its own.
    pub(crate) fn try_drive<T>(
        &mut self,
        env: &Env,
        now: f64,
        cause: Cause,
        work: impl FnOnce(&mut Session, Instant) -> Result<T, Failure>,
    ) -> napi::Result<T> {
        self.attempt(now, cause, work).map_err(|failure| failure.throw(env))
    }

    /// `try_drive`, of which JavaScript is not told.
    pub(crate) fn attempt<T>(
        &mut self,
        now: f64,
        cause: Cause,
        work: impl FnOnce(&mut Session, Instant) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(why) = &self.broken {
            return Err(Failure::Broken(why.clone()));
        }
        let place = &mut self.place;
        let driven = AssertUnwindSafe(|| match (place, cause) {
            (Place::Here(session), _) => work(session, Instant::from_millis(now)),
            (Place::Elsewhere(remote), Cause::Us) => remote.with(work),
            (Place::Elsewhere(remote), Cause::Peer) => remote.with_owed(work),
            (Place::Elsewhere(remote), Cause::Several) => remote.with_more(work),
            (Place::Nowhere, _) => Err(Error::new(ErrorKind::Closed, "the request is over").into()),
        });
        match catch_unwind(driven) {
            Ok(outcome) => outcome,
            Err(panic) => {
                let why = format!("a fault inside oxmcp ended this connection: {}", panic_text(&*panic));
                self.broken = Some(why.clone());
                if let Place::Elsewhere(remote) = &self.place {
                    // Its transport goes on, and the peer waits there. That this panics too changes nothing.
                    let _ = catch_unwind(AssertUnwindSafe(|| remote.close(&why)));
                }
                Err(Failure::Broken(why))
            }
        }
    }

    /// All events since the last time, as the text of one flat JSON array; `None` when there are none.
    pub(crate) fn take_events<'env>(&mut self, env: &'env Env) -> napi::Result<Option<JsString<'env>>> {
        self.pump(env)?;
        if self.events.len() <= START.len() {
            return Ok(None);
        }
        self.take_text(env, START.len() - 1).map(Some)
    }

    /// `take_events`, with a space before the text, which may be `[]`, when there is something to write.
    pub(crate) fn take_events_and_mark_wire<'env>(&mut self, env: &'env Env) -> napi::Result<Option<JsString<'env>>> {
        if self.wire.is_empty() {
            self.pump(env)?;
        }
        if self.wire.is_empty() {
            return self.take_events(env);
        }
        self.take_text(env, 0).map(Some)
    }

    fn take_text<'env>(&mut self, env: &'env Env, from: usize) -> napi::Result<JsString<'env>> {
        if self.events.is_empty() {
            self.events.extend_from_slice(START);
        }
        self.events.push(b']');
        let text = js_string(env, &self.events[from..])?;
        empty(&mut self.events);
        Ok(text)
    }

    /// Hands the bytes for the peer to `take`; `None` when there are none.
    pub(crate) fn take_wire<T>(
        &mut self,
        env: &Env,
        take: impl FnOnce(&[u8]) -> napi::Result<T>,
    ) -> napi::Result<Option<T>> {
        self.pump(env)?;
        if self.wire.is_empty() {
            return Ok(None);
        }
        let taken = take(&self.wire)?;
        let wire = std::mem::take(&mut self.wire);
        if let Place::Here(session) = &mut self.place {
            session.recycle(wire);
        }
        Ok(Some(taken))
    }

    pub(crate) fn keep_text(&mut self, id: u64) {
        self.as_text.insert(id);
    }

    /// When `handle_timeout` is due; never for a session that is elsewhere.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match &self.place {
            Place::Here(session) => session.poll_timeout(),
            Place::Elsewhere(_) | Place::Nowhere => None,
        }
    }

    /// The session, where it is elsewhere.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match &self.place {
            Place::Elsewhere(remote) => Some(remote),
            Place::Here(_) | Place::Nowhere => None,
        }
    }

    /// Gives up the stream that the answer to a call would go on, where each has one.
    pub(crate) fn end_stream(&self, call: InboundId) {
        if let Some(remote) = self.remote() {
            remote.end_stream(call);
        }
    }

    /// That was all of what came first.
    pub(crate) fn settle(&self) {
        if let Some(remote) = self.remote() {
            remote.settle();
        }
    }

    /// Lets go of the session: nothing more is said to it.
    pub(crate) fn release(&mut self) {
        if let Place::Elsewhere(remote) = std::mem::replace(&mut self.place, Place::Nowhere) {
            let _ = ELSEWHERE.try_with(|elsewhere| elsewhere.borrow_mut().remove(&remote.number()));
        }
    }

    /// Moves what the core has to say into the two buffers.
    fn pump(&mut self, env: &Env) -> napi::Result<()> {
        if !matches!(self.place, Place::Here(_)) {
            return Ok(());
        }
        while let Some(output) = self.drive(env, Session::poll_output)? {
            match output {
                Output::Wire(bytes) if self.wire.is_empty() => self.wire = bytes,
                Output::Wire(bytes) => {
                    self.wire.extend_from_slice(&bytes);
                    self.drive(env, |session| session.recycle(bytes))?;
                }
                output => self.push_event(output),
            }
        }
        Ok(())
    }

    fn push_event(&mut self, output: Output) {
        let mut events = std::mem::take(&mut self.events);
        if events.len() > START.len() {
            events.push(b',');
        } else {
            events.clear();
            events.extend_from_slice(START);
        }
        self.encode(&mut events, output);
        self.events = events;
    }

    /// Adds the row of an output, as JavaScript wants it.
    pub(crate) fn encode(&mut self, events: &mut Vec<u8>, mut output: Output) {
        if let Output::Done { id, outcome } = &output
            && !self.as_text.is_empty()
            && self.as_text.remove(&id.0)
            && let Ok(result) = outcome
        {
            return encode_text_result(events, *id, result);
        }
        if let Output::Call {
            target: Target::Tool(tool),
            params: Some(arguments),
            ..
        } = &mut output
            && self.tools_as_text.has(*tool)
            && let Ok(text) = serde_json::value::to_raw_value(arguments.get())
        {
            *arguments = text;
        }
        match &output {
            Output::Call {
                id,
                target: Target::Tool(tool),
                params,
                wants_progress: false,
            } => encode_tool_call(
                events,
                *id,
                *tool,
                params.as_ref().map_or("null", |params| params.get()),
            ),
            _ => encode_output(events, output),
        }
    }
}

/// Nearly all calls are such: as the row `"tool"`, call, tool, arguments. A row within the row would take JavaScript as long to read as
/// all the rest of it.
fn encode_tool_call(events: &mut Vec<u8>, id: InboundId, tool: EntryId, arguments: &str) {
    // Writing to memory does not fail.
    let _ = write!(events, "\"tool\",{},{tool},{arguments}", id.0);
}

/// JSON text as a JavaScript string; plain ASCII is copied as it is.
pub(crate) fn js_string<'env>(env: &'env Env, text: &[u8]) -> napi::Result<JsString<'env>> {
    if text.is_ascii() {
        return env.create_string_latin1(text);
    }
    let text = std::str::from_utf8(text).map_err(|error| napi::Error::from_reason(format!("not UTF-8: {error}")))?;
    env.create_string(text)
}

/// Empties the events; a rare huge text must not pin its memory for the life of the connection.
fn empty(events: &mut Vec<u8>) {
    const KEPT: usize = 256 * 1024;
    events.truncate(START.len());
    events.shrink_to(KEPT);
}

pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown")
}
