//! What the driver shares with the handles of a connection: the session under one lock, and the
//! host's side of each call.
//!
//! Every critical section is a few map operations and, at most, the parsing of one chunk. User
//! code, wakers and I/O run outside.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "http")]
use std::sync::{OnceLock, Weak};
use std::task::Waker;

#[cfg(feature = "http")]
use oxmcp_proto::jsonrpc::RequestId;
use oxmcp_proto::jsonrpc::{ErrorObject, Json};
use oxmcp_proto::{
    Answer, CallOptions, Caller, Direction, Error, Few, InboundId, Instant, LogLevel, OutboundId, Output, Peer,
    Problem, Session,
};
use tokio::sync::Notify;

use super::Incoming;
use super::outgoing::Outgoing;
use crate::Stats;
use crate::client::Slot;
use crate::handler::{Call, Reply};

/// How long changes of what is offered wait for more of them.
pub(crate) const MOMENT: std::time::Duration = std::time::Duration::from_millis(1);

/// One connection, as its handles see it.
#[derive(Debug)]
pub(crate) struct Link {
    state: Mutex<State>,
    /// Told when a full backlog has room again.
    room: Notify,
    epoch: tokio::time::Instant,
    #[cfg(feature = "http")]
    carrier: OnceLock<Weak<dyn Carrier>>,
}

/// What brings the messages of a connection, where that is requests of HTTP.
#[cfg(feature = "http")]
pub(crate) trait Carrier: Send + Sync {
    /// The head of the one that brought this request.
    fn request(&self, id: &RequestId) -> Option<Arc<http::request::Parts>>;
    fn session_id(&self) -> Option<Arc<str>>;
}

#[derive(Debug)]
struct State {
    session: Session,
    /// Who waits for the answer to each call of ours.
    callers: Few<OutboundId, Arc<Slot>>,
    /// The handlers that did not finish at once.
    handlers: Few<InboundId, Arc<Call>>,
    /// Something went into the session since its outputs were drained.
    dirty: bool,
    /// What is offered has changed.
    news: News,
    /// The driver, while it waits.
    waiting: Option<Waker>,
    /// Bytes in the driver's hands.
    backlog: usize,
    /// Of the bytes that wait, those the peer caused.
    owed: usize,
    /// Requests whose handlers gave up their streams.
    #[cfg(feature = "http")]
    ended_streams: Vec<RequestId>,
    /// What the session says goes to the host as it is.
    raw: bool,
}

/// Whether the peer is to be told of what is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    None,
    /// The driver does not know it yet.
    Fresh,
    /// It waits until then, unless there is something else to do before.
    Due(Instant),
}

/// What [`Link::drain`] hands to the driver, in order.
#[derive(Debug)]
pub(crate) enum Event {
    Call(Incoming),
    Describe(InboundId),
    Cancelled(InboundId, Option<String>),
    Ready(Peer),
    ConnectFailed(Error),
    Progress(Arc<Slot>, Json),
    Done(Arc<Slot>, Result<Json, Error>),
    Notification {
        method: String,
        params: Option<Json>,
        subscription: Option<OutboundId>,
    },
    Problem(Problem),
    Trace(Direction, String),
    /// For transports with a stream for each request: see [`Output::Message`].
    #[cfg(feature = "http")]
    Message {
        request: Option<RequestId>,
        answers: bool,
        line: Vec<u8>,
    },
    /// A handler gives up the stream of its request; what it still says is read after that.
    #[cfg(feature = "http")]
    EndStream(RequestId),
    /// For a host that looks at outputs itself.
    Output(Output),
}

impl Event {
    /// The revision that the handshake settled on, if this tells of its end.
    #[cfg(feature = "http")]
    pub(crate) fn agreed(&self) -> Option<oxmcp_proto::Revision> {
        match self {
            Self::Ready(peer) | Self::Output(Output::Ready(peer)) => Some(peer.revision),
            _ => None,
        }
    }
}

/// What the driver must know after a drain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drained {
    pub deadline: Option<Instant>,
    pub closed: bool,
    /// The peer does not read what it caused: take no more from it.
    pub stop_reading: bool,
    /// The backlog is over its limit.
    pub full: bool,
}

impl Link {
    pub(crate) fn new(session: Session) -> Arc<Self> {
        Self::of(session, false)
    }

    /// One whose host takes the session's outputs as they are, and knows by itself who waits for what.
    #[cfg(feature = "border")]
    pub(crate) fn raw(session: Session) -> Arc<Self> {
        Self::of(session, true)
    }

    fn of(session: Session, raw: bool) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                session,
                callers: Few::default(),
                handlers: Few::default(),
                dirty: true,
                news: News::None,
                waiting: None,
                backlog: 0,
                owed: 0,
                #[cfg(feature = "http")]
                ended_streams: Vec::new(),
                raw,
            }),
            room: Notify::new(),
            epoch: tokio::time::Instant::now(),
            #[cfg(feature = "http")]
            carrier: OnceLock::new(),
        })
    }

    /// To be set once, before anything comes.
    #[cfg(feature = "http")]
    pub(crate) fn set_carrier(&self, carrier: Weak<dyn Carrier>) {
        self.carrier.get_or_init(|| carrier);
    }

    #[cfg(feature = "http")]
    fn carrier(&self) -> Option<Arc<dyn Carrier>> {
        self.carrier.get()?.upgrade()
    }

    /// The head of the HTTP request that brought a call; `None` when the call is over.
    #[cfg(feature = "http")]
    pub(crate) fn http_request(&self, id: InboundId) -> Option<Arc<http::request::Parts>> {
        let carrier = self.carrier()?;
        let request = self.lock().session.request_of(id).cloned()?;
        carrier.request(&request)
    }

    /// The id of the session over HTTP.
    #[cfg(feature = "http")]
    pub(crate) fn session_id(&self) -> Option<Arc<str>> {
        self.carrier()?.session_id()
    }

    /// The clock of the session.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_micros(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// A time of the session on the runtime's clock; far away if it cannot be told.
    pub(crate) fn on_clock(&self, at: Instant) -> tokio::time::Instant {
        const FAR: std::time::Duration = std::time::Duration::from_secs(60 * 60 * 24 * 365);
        let after = Instant::default().until(at).min(FAR);
        self.epoch + after
    }

    pub(crate) fn stats(&self) -> Stats {
        let state = self.lock();
        let session = state.session.stats();
        Stats {
            inbound: session.inbound,
            outbound: session.outbound,
            handlers: state.handlers.len(),
            callers: state.callers.len(),
            buffered: session.buffered,
            unwritten: state.unwritten(),
        }
    }

    /// One input to the session. What the peer caused counts against what it may leave unread.
    #[cfg(feature = "http")]
    pub(crate) fn with<T>(&self, caused_by_peer: bool, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        let now = self.now();
        self.input(|state| match caused_by_peer {
            true => state.as_owed(|session| work(session, now)),
            false => work(&mut state.session, now),
        })
    }

    /// The same, which the driver is not woken for: more of it follows.
    #[cfg(feature = "border")]
    pub(crate) fn with_more<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        let now = self.now();
        let mut state = self.lock();
        state.dirty = true;
        work(&mut state.session, now)
    }

    /// Whether more waits to be written than should.
    #[cfg(feature = "border")]
    pub(crate) fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    // What the handles of a client do.

    pub(crate) fn connect(&self, timeout: Option<std::time::Duration>) -> Result<(), Error> {
        let now = self.now();
        self.input(|state| state.session.connect(timeout, now))
    }

    pub(crate) fn begin(
        &self,
        method: &str,
        params: Option<&str>,
        options: CallOptions,
        caller: &Arc<Slot>,
    ) -> Result<OutboundId, Error> {
        let now = self.now();
        self.input(|state| {
            let id = state.session.begin(method, params, options, now)?;
            state.callers.insert(id, Arc::clone(caller));
            Ok(id)
        })
    }

    /// Asks for a whole list.
    pub(crate) fn list(&self, method: &str, options: CallOptions, caller: &Arc<Slot>) -> Result<OutboundId, Error> {
        let now = self.now();
        self.input(|state| {
            let id = state.session.list(method, options, now)?;
            state.callers.insert(id, Arc::clone(caller));
            Ok(id)
        })
    }

    pub(crate) fn cancel(&self, id: OutboundId, reason: &str) {
        self.input(|state| state.session.cancel(id, Some(reason)));
    }

    pub(crate) fn notify(&self, method: &str, params: Option<&str>) -> Result<(), Error> {
        self.input(|state| state.session.notify(method, params))
    }

    pub(crate) fn close(&self, why: &str) {
        self.input(|state| state.session.close(why));
    }

    /// Waits until the backlog is not full.
    pub(crate) async fn has_room(&self) {
        loop {
            let room = self.room.notified();
            if !self.lock().is_full() {
                return;
            }
            room.await;
        }
    }

    // What handlers do.

    pub(crate) fn add_handler(&self, call: &Arc<Call>) {
        self.lock().handlers.insert(call.id, Arc::clone(call));
    }

    pub(crate) fn take_handler(&self, id: InboundId) -> Option<Arc<Call>> {
        self.lock().handlers.remove(&id)
    }

    /// What is known of who makes a call; `None` when it is over.
    pub(crate) fn caller<T>(&self, id: InboundId, read: impl FnOnce(Caller<'_>) -> T) -> Option<T> {
        self.lock().session.caller(id).map(read)
    }

    /// Makes a call of ours for a call of the peer's.
    pub(crate) fn ask(
        &self,
        call: InboundId,
        key: Option<&str>,
        method: &str,
        params: Option<&str>,
        options: CallOptions,
        caller: &Arc<Slot>,
    ) -> Result<OutboundId, Error> {
        let now = self.now();
        self.input(|state| {
            let id = state.session.ask(call, key, method, params, options, now)?;
            state.callers.insert(id, Arc::clone(caller));
            Ok(id)
        })
    }

    /// A message that nobody reads is dropped, so that a handler that logs much holds a bounded amount.
    pub(crate) fn log(
        &self,
        id: Option<InboundId>,
        level: LogLevel,
        logger: Option<&str>,
        data: &str,
    ) -> Result<bool, Error> {
        self.input(|state| match state.is_full() {
            true => Ok(false),
            false => state.as_owed(|session| session.log(id, level, logger, data)),
        })
    }

    /// Gives up the stream that the answer to a call would go on.
    #[cfg(feature = "http")]
    pub(crate) fn end_stream(&self, id: InboundId) {
        self.input(|state| {
            let request = state.session.request_of(id).cloned();
            state.ended_streams.extend(request);
        });
    }

    pub(crate) fn resource_updated(&self, uri: &str) -> Result<bool, Error> {
        self.input(|state| state.session.resource_updated(uri))
    }

    pub(crate) fn respond(&self, id: InboundId, reply: &Reply) {
        let now = self.now();
        self.input(|state| {
            state.handlers.remove(&id);
            let answer = match reply {
                Reply::Result(text) => Answer::Result(text),
                Reply::Text(text) => Answer::Text(text),
                Reply::ToolError(message) => Answer::ToolError(message),
                Reply::InvalidArguments(what) => Answer::InvalidArguments(what),
                Reply::InputRequired { requests, state } => Answer::InputRequired {
                    requests,
                    state: state.as_deref(),
                },
                Reply::Error(error) => Answer::Error(ErrorObject::clone(error)),
            };
            state.as_owed(|session| session.respond(id, answer, now))
        });
    }

    /// Progress that nobody reads is dropped: newer progress says all that older did.
    pub(crate) fn progress(&self, id: InboundId, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        self.input(|state| !state.is_full() && state.as_owed(|session| session.progress(id, progress, total, message)))
    }

    // What the driver does.

    pub(crate) fn receive(&self, bytes: &[u8]) {
        let now = self.now();
        let mut state = self.lock();
        state.dirty = true;
        state.as_owed(|session| session.receive(bytes, now));
    }

    #[cfg(feature = "http")]
    pub(crate) fn receive_message(&self, message: oxmcp_proto::jsonrpc::Message<'_>, text: &[u8]) {
        let now = self.now();
        let mut state = self.lock();
        state.dirty = true;
        state.as_owed(|session| session.receive_message(message, text, now));
    }

    /// Takes in a request whose params were read.
    #[cfg(feature = "http")]
    pub(crate) fn receive_read(
        &self,
        id: RequestId,
        method: &str,
        params: &oxmcp_proto::jsonrpc::Params<'_>,
        text: &[u8],
    ) {
        let now = self.now();
        let mut state = self.lock();
        state.dirty = true;
        state.as_owed(|session| session.receive_read(id, method, params, text, now));
    }

    pub(crate) fn end_input(&self) {
        let now = self.now();
        self.input(|state| state.as_owed(|session| session.end_input(now)));
    }

    /// The peer is gone; what it said last counts.
    pub(crate) fn lose_peer(&self, why: &str) {
        let now = self.now();
        self.input(|state| state.as_owed(|session| session.lose_peer(why, now)));
    }

    /// The server left at the first question, and another one is there in its place: see [`Session::start_over`].
    pub(crate) fn start_over(&self) -> bool {
        let now = self.now();
        self.input(|state| state.session.start_over(now))
    }

    pub(crate) fn handle_timeout(&self) {
        let now = self.now();
        self.input(|state| state.session.handle_timeout(now));
    }

    pub(crate) fn resume(&self, id: InboundId) {
        self.input(|state| state.as_owed(|session| session.resume(id)));
    }

    /// Moves all outputs of the session to `events` and `outgoing`, unless all there is are news whose time has not come.
    pub(crate) fn drain(&self, events: &mut Vec<Event>, outgoing: &mut Outgoing) -> Drained {
        let mut state = self.lock();
        let news_due = state.news_due(|| self.now());
        if news_due.is_none() {
            state.dirty = false;
            state.news = News::None;
            while let Some(output) = state.session.poll_output() {
                state.sort(output, events, outgoing);
            }
            #[cfg(feature = "http")]
            events.extend(state.ended_streams.drain(..).map(Event::EndStream));
        }
        state.set_backlog(outgoing.len());
        Drained {
            deadline: [state.session.poll_timeout(), news_due].into_iter().flatten().min(),
            closed: state.session.is_closed(),
            stop_reading: state.owed > state.session.config().limits.backlog,
            full: state.is_full(),
        }
    }

    /// Takes note of what was written, when that may matter to those who wait for room.
    pub(crate) fn written(&self, left: usize) -> bool {
        let mut state = self.lock();
        state.set_backlog(left);
        let full = state.is_full();
        drop(state);
        if !full {
            self.room.notify_waiters();
        }
        full
    }

    /// Lets the driver wait until the next input, with so much left to be written; false when there
    /// was one meanwhile.
    pub(crate) fn park(&self, waker: &Waker, left: usize) -> bool {
        let mut state = self.lock();
        state.set_backlog(left);
        if state.dirty || state.news == News::Fresh {
            return false;
        }
        state.waiting = Some(waker.clone());
        true
    }

    /// The driver works: inputs need not wake it.
    pub(crate) fn unpark(&self) {
        self.lock().waiting = None;
    }

    /// The session has something to say that no input of this connection led to.
    #[cfg(feature = "http")]
    pub(crate) fn wake(&self) {
        self.input(|_| ());
    }

    /// What is offered has changed. The peer is told a moment later, so that changes made together take one notice.
    pub(crate) fn offers_changed(&self) {
        let mut state = self.lock();
        if state.news != News::None {
            return;
        }
        state.news = News::Fresh;
        let driver = state.waiting.take();
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// One input from outside the driver, which then has outputs to drain.
    fn input<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        state.dirty = true;
        let done = work(&mut state);
        let driver = state.waiting.take();
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
        done
    }

    // A panic inside a critical section is a defect of the core; the connection is then closed by
    // the driver's end, for which the state must stay reachable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn unwritten(&self) -> usize {
        self.backlog + self.session.unwritten()
    }

    /// When to tell of what is offered, if there is nothing else to do and the time has not come.
    fn news_due(&mut self, now: impl FnOnce() -> Instant) -> Option<Instant> {
        if self.news == News::None || self.dirty {
            return None;
        }
        let now = now();
        let due = match self.news {
            News::Due(due) => due,
            News::Fresh | News::None => now + MOMENT,
        };
        self.news = News::Due(due);
        (now < due).then_some(due)
    }

    fn set_backlog(&mut self, left: usize) {
        self.backlog = left;
        self.owed = self.owed.min(left);
    }

    fn is_full(&self) -> bool {
        self.unwritten() > self.session.config().limits.backlog
    }

    /// Does something of which the peer is the cause, and counts the bytes it leads to.
    ///
    /// Our own requests do not count: two sides that both stop reading until their requests are
    /// written would wait for each other.
    fn as_owed<T>(&mut self, work: impl FnOnce(&mut Session) -> T) -> T {
        let before = self.session.unwritten();
        let done = work(&mut self.session);
        self.owed += self.session.unwritten() - before;
        done
    }

    fn sort(&mut self, output: Output, events: &mut Vec<Event>, outgoing: &mut Outgoing) {
        events.push(match output {
            Output::Wire(bytes) => return self.session.recycle(outgoing.push(bytes)),
            #[cfg(feature = "http")]
            Output::Message { request, answers, line } => Event::Message { request, answers, line },
            // Only told where it is asked for.
            #[cfg(not(feature = "http"))]
            Output::Message { .. } => return,
            output if self.raw => Event::Output(output),
            Output::Closed => return,
            Output::Progress { id, params } => match self.callers.get(&id) {
                Some(caller) => Event::Progress(Arc::clone(caller), params),
                None => return,
            },
            Output::Done { id, outcome } => match self.callers.remove(&id) {
                Some(caller) => Event::Done(caller, outcome),
                None => return,
            },
            Output::Call {
                id,
                target,
                params,
                wants_progress,
            } => Event::Call(Incoming {
                id,
                target,
                params,
                wants_progress,
            }),
            Output::Describe { id, .. } => Event::Describe(id),
            Output::Cancelled { id, reason } => Event::Cancelled(id, reason),
            Output::Ready(peer) => Event::Ready(peer),
            Output::ConnectFailed(error) => Event::ConnectFailed(error),
            Output::Notification {
                method,
                params,
                subscription,
            } => Event::Notification {
                method,
                params,
                subscription,
            },
            Output::Problem(problem) => Event::Problem(problem),
            Output::Trace { direction, line } => Event::Trace(direction, line),
        });
    }
}
