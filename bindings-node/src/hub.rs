//! The class `Hub`: where what happens on other threads comes to an environment's own.
//!
//! Connections over HTTP are driven by the threads of the core's runtime. What their sessions say waits in an inbox, which
//! wakes JavaScript once, by a function that keeps no process alive, and is drained in batches: as the text of one flat
//! JSON array, five elements a row.
//!
//! | first | the rest |
//! | --- | --- |
//! | the handle of a session | the row that the session would have given here |
//! | `-3` less the handle | the same, of a session that was not there before |
//! | `-1`: an exchange | `"head"`, token, `[status, [name, value, …]]`, the whole body or `null` |
//! | | `"chunk"`, token, text, `null` |
//! | | `"end"`, token, `null`, `null` |
//! | `-2`: a session that makes no call | `"trace"` or `"problem"` as above |
//! | | `"unauthorized"`, the status, the challenge or `null`, `null`: of a client, which is to give header fields |

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use napi::bindgen_prelude::{ClassInstance, Function};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, JsString};
use napi_derive::napi;
use oxmcp::border::{self, ExchangeEvent, Inbox, Item, Remote};
use oxmcp::transport::{Http, Unauthorized};
use oxmcp_proto::{Config, Output, encode_output};

use crate::error::Failure;
use crate::hot::answer_in;
use crate::options::optional_duration;
use crate::registry::{AsText, Registry};
use crate::session::Session;
use crate::state::{Cause, Handle, State, borrow, handle_of, js_string};

/// As many items as are handed over at once: other work of the environment has its turn between batches.
const BATCH: usize = 256;

const EXCHANGE: &[u8] = b"-1,";
const NO_SESSION: &[u8] = b"-2,";
const NEW_SESSION: i64 = -3;

/// What waits for this environment, of one server or one client's connection.
#[napi]
pub struct Hub {
    pub(crate) inbox: Arc<Inbox>,
    /// Of the registry that is served.
    as_text: AsText,
    /// Sessions that JavaScript knows by their handles alone.
    held: RefCell<HashMap<u32, Handle>>,
    items: RefCell<Vec<Item>>,
}

#[napi]
impl Hub {
    /// `wake` is called on the environment's own thread when something came, once until the next `drain`.
    #[napi(constructor)]
    pub fn new(wake: Function<'_, (), ()>, registry: Option<ClassInstance<'_, Registry>>) -> napi::Result<Self> {
        let wake = wake
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .callee_handled::<false>()
            .build()?;
        let inbox = Inbox::new(move || {
            // It fails when the environment is gone, and nobody is there to be woken.
            wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        });
        Ok(Self {
            inbox,
            as_text: registry.map_or_else(AsText::default, |registry| registry.as_text.clone()),
            held: RefCell::default(),
            items: RefCell::default(),
        })
    }

    /// What came, with a space before the text when more waits: come back for it, nobody wakes.
    #[napi]
    pub fn drain<'env>(&self, env: &'env Env) -> napi::Result<JsString<'env>> {
        let mut items = self.items.take();
        let more = self.inbox.drain(BATCH, &mut items);
        let start: &[u8] = if more { b" [" } else { b"[" };
        let mut text = Vec::with_capacity(256 * items.len() + start.len() + 1);
        text.extend_from_slice(start);
        for item in items.drain(..) {
            let before = text.len();
            if before > start.len() {
                text.push(b',');
            }
            let told = match item {
                Item::Output(remote, output) => self.encode(&mut text, remote, output),
                Item::Exchange(token, event) => encode_exchange(&mut text, token, event),
                Item::Unauthorized(_, refused) => encode_refusal(&mut text, &refused),
            };
            if !told {
                text.truncate(before);
            }
        }
        self.items.replace(items);
        text.push(b']');
        js_string(env, &text)
    }

    /// Takes a session that is known by its handle alone, which nobody lets go of by `answer` from now on; `null` when there is
    /// none.
    #[napi]
    pub fn session(&self, handle: u32) -> Option<Session> {
        let handle = self.held.borrow_mut().remove(&handle)?;
        Some(Session { handle })
    }

    /// Answers calls, and lets go of sessions. `lines` are ended by a line feed each: the handle, a space, and an answer as that of
    /// the function `answer`, or nothing: the session is over. Gives the handles of sessions that broke at it.
    #[napi]
    pub fn answer(&self, lines: String) -> Vec<u32> {
        let mut broken = Vec::new();
        for line in lines.split_terminator('\n') {
            let Some((handle, rest)) = line.split_once(' ') else {
                continue;
            };
            let Ok(handle) = handle.parse() else { continue };
            match answer_in(rest) {
                Some((id, answer)) => {
                    let respond = |state: &mut State| {
                        state.attempt(0.0, Cause::Peer, |session, now| Ok(session.respond(id, answer, now)))
                    };
                    // A session that is over has no use for it.
                    if let Some(Err(Failure::Broken(_))) = borrow(handle, respond) {
                        broken.push(handle);
                    }
                }
                None => drop(self.held.borrow_mut().remove(&handle)),
            }
        }
        broken
    }

    /// A client's session over HTTP, which connects at once: it says `ready` or `connectFailed`. `options` are those of
    /// `Session.client`, `http` those of the core's `Http::from_json`. `probe` tells whether the server is asked for its
    /// era first; without, it is unless that is known. `renews`: the row `unauthorized` comes when the server wants other
    /// credentials.
    #[napi]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    pub fn connect(
        &self,
        env: &Env,
        info: String,
        options: String,
        methods: Option<ClassInstance<'_, Registry>>,
        url: String,
        http: String,
        renews: bool,
        probe: Option<bool>,
        timeout: Option<f64>,
    ) -> napi::Result<Session> {
        let methods = methods.map_or_else(Arc::default, |registry| Arc::clone(&registry.entries));
        let connect = || -> Result<Remote, Failure> {
            let config = Config::from_json(&info, &options)?;
            let timeout = optional_duration("timeout", timeout)?;
            let server = Http::from_json(&url, &http)?;
            let inbox = &self.inbox;
            Ok(border::connect_http(
                config, methods, server, renews, probe, timeout, inbox,
            )?)
        };
        let remote = connect().map_err(|failure| failure.throw(env))?;
        Ok(Session {
            handle: Handle::elsewhere(remote, AsText::default()),
        })
    }

    /// Nothing more is wanted.
    #[napi]
    pub fn close(&self) {
        self.inbox.close();
        self.held.take();
    }
}

impl Hub {
    /// The row of an output. False when it has none: it came too late.
    fn encode(&self, rows: &mut Vec<u8>, remote: Remote, output: Output) -> bool {
        let (number, mark) = match (handle_of(remote.number()), &output) {
            (Some(number), _) => (number, i64::from(number)),
            (None, Output::Call { .. } | Output::Describe { .. } | Output::Ready(_)) => {
                let handle = Handle::elsewhere(remote, self.as_text.clone());
                let number = handle.number();
                self.held.borrow_mut().insert(number, handle);
                (number, NEW_SESSION - i64::from(number))
            }
            (None, Output::Trace { .. } | Output::Problem(_)) => {
                rows.extend_from_slice(NO_SESSION);
                encode_output(rows, output);
                return true;
            }
            (None, _) => return false,
        };
        rows.extend_from_slice(format!("{mark},").as_bytes());
        borrow(number, |state| state.encode(rows, output)).is_some()
    }
}

fn encode_exchange(rows: &mut Vec<u8>, token: u64, event: ExchangeEvent) -> bool {
    rows.extend_from_slice(EXCHANGE);
    // Bodies are JSON or events, and events are whole.
    let text = |bytes: &[u8]| quoted(&String::from_utf8_lossy(bytes));
    let row = match event {
        ExchangeEvent::Head { status, headers, body } => {
            let headers: Vec<_> = headers
                .iter()
                .flat_map(|(name, value)| [text(name), text(value)])
                .collect();
            let body = body.as_deref().map_or_else(|| "null".to_owned(), text);
            format!("\"head\",{token},[{status},[{}]],{body}", headers.join(","))
        }
        ExchangeEvent::Chunk(chunk) => format!("\"chunk\",{token},{},null", text(&chunk)),
        ExchangeEvent::End => format!("\"end\",{token},null,null"),
    };
    rows.extend_from_slice(row.as_bytes());
    true
}

fn encode_refusal(rows: &mut Vec<u8>, refused: &Unauthorized) -> bool {
    let challenge = refused
        .www_authenticate
        .as_deref()
        .map_or_else(|| "null".to_owned(), quoted);
    rows.extend_from_slice(NO_SESSION);
    rows.extend_from_slice(format!("\"unauthorized\",{},{challenge},null", refused.status).as_bytes());
    true
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
