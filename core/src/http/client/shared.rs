//! What the tasks of one connection over HTTP share.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oxmcp_proto::http::client::{ClientSession, Ticket, ToolHeaders};
use oxmcp_proto::jsonrpc::{Message, RequestId};
use oxmcp_proto::{Error, ErrorKind, Limits, Problem, ProblemKind, Revision};
use reqwest::Url;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::AbortHandle;

use super::wire::Wire;
use crate::driver::Link;

/// Bytes taken in that the driver has not looked at, over which reading waits for it.
const UNSEEN: usize = 1024 * 1024;
/// Problems kept for a driver that does not look; more are dropped.
const PROBLEMS: usize = 64;

/// Whether requests may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Those of the handshake only.
    Opening,
    /// The one for the server's own stream: some servers drop what they have to say while there is none.
    Listening,
    /// All.
    Open,
    /// None: a lost session is begun anew.
    Renewing,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub link: Arc<Link>,
    pub wire: Wire,
    pub limits: Limits,
    /// How long a message of which no call waits for the answer may take to be taken in.
    pub patience: Duration,
    pub phase: watch::Sender<Phase>,
    /// How many sessions were begun, for those who hold a stream of one.
    pub sessions: watch::Sender<u64>,
    pub permits: Arc<Semaphore>,
    state: Mutex<State>,
    problems: Mutex<Vec<Problem>>,
    /// Bytes that wait to be sent.
    waiting: AtomicUsize,
    /// The driver found that more waits than should.
    pub full: AtomicBool,
    /// Whether more may be read.
    pub reading: watch::Sender<bool>,
    unseen: AtomicUsize,
    seen: Notify,
    /// Told when the server answers something.
    pub answered: Notify,
}

#[derive(Debug)]
pub(super) struct State {
    pub session: ClientSession,
    /// What was negotiated, once it was.
    pub revision: Option<Revision>,
    pub tools: ToolHeaders,
    /// The `initialize` that began the session.
    pub initialize: Option<Vec<u8>>,
    /// Why it could not be begun anew, the last time it could not.
    pub not_renewed: String,
    /// Where messages go, with HTTP+SSE.
    pub endpoint: Option<Url>,
    /// What is to be set again in a new session: requests by what they set.
    pub kept: Vec<(Kept, Vec<u8>)>,
    exchanges: HashMap<RequestId, Exchanging>,
    background: Vec<AbortHandle>,
    closed: bool,
}

/// Something that a server keeps for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    LogLevel,
    Subscription(String),
}

/// A request under way.
#[derive(Debug)]
struct Exchanging {
    task: AbortHandle,
    /// The server may know of it.
    sent: Arc<AtomicBool>,
    /// The session whose stream is waited on.
    streams_in: Option<Ticket>,
}

impl Shared {
    pub(super) fn new(link: Arc<Link>, wire: Wire) -> Arc<Self> {
        let (limits, patience) = link.with(false, |session, _| {
            let config = session.config();
            (config.limits, config.timeout)
        });
        let settings = wire.settings();
        let (renew, permits) = (settings.renew, settings.max_requests.min(Semaphore::MAX_PERMITS));
        Arc::new(Self {
            link,
            wire,
            limits,
            patience,
            phase: watch::Sender::new(Phase::Opening),
            sessions: watch::Sender::new(0),
            permits: Arc::new(Semaphore::new(permits)),
            state: Mutex::new(State {
                session: ClientSession::new(renew),
                revision: None,
                tools: ToolHeaders::default(),
                initialize: None,
                not_renewed: String::new(),
                endpoint: None,
                kept: Vec::new(),
                exchanges: HashMap::new(),
                background: Vec::new(),
                closed: false,
            }),
            problems: Mutex::default(),
            waiting: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            reading: watch::Sender::new(true),
            unseen: AtomicUsize::new(0),
            seen: Notify::new(),
            answered: Notify::new(),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        *self.phase.borrow() == Phase::Open
    }

    /// Waits until requests may be sent.
    pub(super) async fn opened(&self) {
        let mut phase = self.phase.subscribe();
        // It fails only when nobody is left to tell.
        let _ = phase.wait_for(|phase| *phase == Phase::Open).await;
    }

    /// Waits until the handshake is complete.
    pub(super) async fn greeted(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase != Phase::Opening).await;
    }

    /// The server's own stream is there, or is not waited for any longer.
    pub(super) fn listens(&self) {
        self.phase.send_if_modified(|phase| {
            let waited = *phase == Phase::Listening;
            if waited {
                *phase = Phase::Open;
            }
            waited
        });
    }

    /// Gives the session a message of the server, in whatever lines its text is.
    pub(super) fn deliver(&self, text: &[u8]) {
        let mut line = Vec::with_capacity(text.len() + 1);
        // In valid JSON they are between tokens only.
        line.extend(
            text.iter()
                .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }),
        );
        line.push(b'\n');
        self.unseen.fetch_add(line.len(), Ordering::Relaxed);
        self.link.with(true, |session, now| session.receive(&line, now));
    }

    /// The same for a message that was read from its text.
    pub(super) fn deliver_message(&self, message: Message<'_>, text: &[u8]) {
        self.unseen.fetch_add(text.len(), Ordering::Relaxed);
        self.link
            .with(true, |session, now| session.receive_message(message, text, now));
    }

    /// The driver has looked at all that was taken in.
    pub(super) fn saw_all(&self) {
        if self.unseen.swap(0, Ordering::Relaxed) > UNSEEN {
            self.seen.notify_waiters();
        }
    }

    /// Waits until more may be read.
    pub(super) async fn may_read(&self) {
        loop {
            let seen = self.seen.notified();
            if self.unseen.load(Ordering::Relaxed) <= UNSEEN {
                break;
            }
            seen.await;
        }
        let mut reading = self.reading.subscribe();
        let _ = reading.wait_for(|reading| *reading).await;
    }

    /// Ends the call that a request was sent for, if it still waits.
    pub(super) fn fail(&self, request: &RequestId, error: Error) -> bool {
        self.link
            .with(false, |session, now| session.fail_request(request, error, now))
    }

    /// Whether the session waits for the answer to a request.
    pub(super) fn awaits(&self, request: &RequestId) -> bool {
        self.link.with(false, |session, _| session.awaits(request))
    }

    /// Reports what no call is told of.
    pub(super) fn problem(&self, kind: ProblemKind, message: impl Into<String>) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < PROBLEMS {
            let message = message.into();
            problems.push(Problem { kind, message });
        }
        drop(problems);
        self.link.wake();
    }

    pub(super) fn take_problems(&self) -> Vec<Problem> {
        std::mem::take(&mut *self.problems.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts a task that ends with the connection.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.state();
        if !state.closed {
            state.background.retain(|task| !task.is_finished());
            state.background.push(tokio::spawn(task).abort_handle());
        }
    }

    /// Starts the task of a request.
    pub(super) fn exchange(
        &self,
        id: &RequestId,
        sent: &Arc<AtomicBool>,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        // Under the lock, so that the task cannot be over before it is listed.
        let exchanging = Exchanging {
            task: tokio::spawn(task).abort_handle(),
            sent: Arc::clone(sent),
            streams_in: None,
        };
        state.exchanges.insert(id.clone(), exchanging);
    }

    /// The task of a request is over.
    pub(super) fn exchanged(&self, id: &RequestId) {
        self.state().exchanges.remove(id);
    }

    /// Whether a request is wanted still.
    pub(super) fn is_under_way(&self, id: &RequestId) -> bool {
        self.state().exchanges.contains_key(id)
    }

    /// Takes a request out of those under way: its task, and whether the server may know of it.
    pub(super) fn withdraw(&self, id: &RequestId) -> Option<(AbortHandle, bool)> {
        let exchanging = self.state().exchanges.remove(id)?;
        Some((exchanging.task, exchanging.sent.load(Ordering::Acquire)))
    }

    /// A request waits on a stream of a session.
    pub(super) fn streams(&self, id: &RequestId, ticket: Ticket) {
        if let Some(exchanging) = self.state().exchanges.get_mut(id) {
            exchanging.streams_in = Some(ticket);
        }
    }

    /// Fails the calls that wait on streams of a session that is over.
    pub(super) fn fail_streams_of(&self, ticket: Ticket) {
        let mut state = self.state();
        let of_it = |exchanging: &Exchanging| exchanging.streams_in == Some(ticket);
        let lost: Vec<_> = state.exchanges.extract_if(|_, exchanging| of_it(exchanging)).collect();
        drop(state);
        for (id, exchanging) in lost {
            let message = "the call was not answered: the server lost the session it was made in";
            self.fail(&id, Error::new(ErrorKind::Closed, message));
            exchanging.task.abort();
        }
    }

    /// How much waits to be sent.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    /// Counts what waits to be sent.
    pub(super) fn weigh(self: &Arc<Self>, bytes: usize) -> Weight {
        self.waiting.fetch_add(bytes, Ordering::AcqRel);
        Weight {
            shared: Arc::clone(self),
            bytes: AtomicUsize::new(bytes),
        }
    }

    /// Ends all tasks.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let exchanges = std::mem::take(&mut state.exchanges);
        let background = std::mem::take(&mut state.background);
        drop(state);
        for exchanging in exchanges.into_values() {
            exchanging.task.abort();
        }
        for task in background {
            task.abort();
        }
    }
}

/// Bytes that wait to be sent, until they are or nobody wants it any more.
#[derive(Debug)]
pub(super) struct Weight {
    shared: Arc<Shared>,
    bytes: AtomicUsize,
}

impl Weight {
    /// They are on their way.
    pub(super) fn lift(&self) {
        let bytes = self.bytes.swap(0, Ordering::AcqRel);
        if bytes == 0 {
            return;
        }
        let left = self.shared.waiting.fetch_sub(bytes, Ordering::AcqRel) - bytes;
        if self.shared.full.load(Ordering::Acquire) {
            let full = self.shared.link.written(left);
            self.shared.full.store(full, Ordering::Release);
        }
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.lift();
    }
}
