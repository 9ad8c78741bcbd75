//! A session without a connection: bytes and the clock are arguments. For the shared transcripts (`tests/vectors`), which
//! so run through the same envelopes as connections do.

use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmcp_proto::{Config, Instant, Output, Session, duration_from_millis};

use crate::event::Happening;
use crate::failure::{Refusal, guarded};
use crate::registry::Registry;
use crate::verbs::{self, Notice, Reply, Request, RequestOptions};

/// One end of a connection that nothing moves but its caller. Times are in milliseconds.
#[derive(Debug, uniffi::Object)]
pub struct Transcript {
    session: Mutex<Session>,
}

/// What a session said since the last time.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct Said {
    /// For the host.
    pub events: Vec<Happening>,
    /// For the peer.
    pub wire: Vec<u8>,
}

/// How much is held at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, uniffi::Record)]
pub struct Stats {
    /// Connections that are open.
    pub connections: u64,
    /// Calls of the peer that wait for an answer.
    pub inbound: u64,
    /// Calls of ours that wait for an answer.
    pub outbound: u64,
    /// Bytes of a line that is not complete yet.
    pub buffered: u64,
}

#[uniffi::export]
impl Transcript {
    /// The end of a `server` or a `client`. `info` and `settings` are JSON text, see `Config::from_json`.
    ///
    /// # Errors
    /// Settings that are wrong.
    #[uniffi::constructor]
    pub fn new(server: bool, info: &str, settings: &str, registry: &Registry) -> Result<Self, Refusal> {
        let config = Config::from_json(info, settings)?;
        let entries = std::sync::Arc::clone(&registry.entries);
        let session = if server {
            Session::server(config, entries)
        } else {
            Session::client_with(config, entries)
        };
        Ok(Self {
            session: Mutex::new(session),
        })
    }

    /// Takes in bytes from the peer.
    pub fn receive(&self, bytes: &[u8], now: f64) {
        self.lock().receive(bytes, Instant::from_millis(now));
    }

    /// The peer closed its side.
    pub fn end_input(&self, now: f64) {
        self.lock().end_input(Instant::from_millis(now));
    }

    /// Lets time pass.
    pub fn handle_timeout(&self, now: f64) {
        self.lock().handle_timeout(Instant::from_millis(now));
    }

    /// When `handle_timeout` must be called at the latest.
    pub fn poll_timeout(&self) -> Option<f64> {
        self.lock().poll_timeout().map(Instant::as_millis)
    }

    /// Takes out all that the session has to say.
    pub fn poll(&self) -> Said {
        let mut session = self.lock();
        let mut said = Said {
            events: Vec::new(),
            wire: Vec::new(),
        };
        while let Some(output) = session.poll_output() {
            match output {
                Output::Wire(bytes) => {
                    said.wire.extend_from_slice(&bytes);
                    session.recycle(bytes);
                }
                output => said.events.extend(Happening::of(output)),
            }
        }
        said
    }

    /// Starts a client's handshake.
    ///
    /// # Errors
    /// When it was started before, or the time is none.
    pub fn connect(&self, timeout: Option<f64>, now: f64) -> Result<(), Refusal> {
        let timeout = timeout.map(|timeout| duration_from_millis("timeout", timeout));
        Ok(self.lock().connect(timeout.transpose()?, Instant::from_millis(now))?)
    }

    /// Makes a call; gives its id.
    ///
    /// # Errors
    /// When it can not be made.
    pub fn begin(&self, request: Request, options: Option<RequestOptions>, now: f64) -> Result<u64, Refusal> {
        verbs::begin(&mut self.lock(), request, options, Instant::from_millis(now))
    }

    /// Answers a call of the peer. False when it was cancelled or answered before.
    ///
    /// # Errors
    /// When the answer is none.
    pub fn respond(&self, id: u64, reply: Reply, now: f64) -> Result<bool, Refusal> {
        verbs::respond(&mut self.lock(), id, reply, Instant::from_millis(now))
    }

    /// Tells the peer something. False when nothing was sent.
    ///
    /// # Errors
    /// When the peer can not be told.
    pub fn notify(&self, notice: Notice) -> Result<bool, Refusal> {
        verbs::notify(&mut self.lock(), notice)
    }

    /// Gives a call up. False when it had ended.
    pub fn cancel(&self, id: u64, reason: Option<String>) -> bool {
        verbs::cancel(&mut self.lock(), id, reason.as_deref())
    }

    /// Runs a command, given and answered as JSON.
    ///
    /// # Errors
    /// A command that nobody knows, or what its verb refuses.
    pub fn command(&self, text: &str, now: f64) -> Result<String, Refusal> {
        guarded(|| Ok(self.lock().command(text, Instant::from_millis(now))?))
    }

    /// What the session holds.
    pub fn stats(&self) -> Stats {
        Stats::of(&self.lock().stats(), 1)
    }

    /// Ends the session.
    pub fn close(&self, why: &str) {
        self.lock().close(why);
    }
}

impl Transcript {
    fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stats {
    pub(crate) fn of(stats: &oxmcp_proto::Stats, connections: u64) -> Self {
        Self {
            connections,
            inbound: stats.inbound as u64,
            outbound: stats.outbound as u64,
            buffered: stats.buffered as u64,
        }
    }
}
