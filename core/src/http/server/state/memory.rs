//! A state that no other process shares.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use oxmcp_proto::http::{EventCommand, EventId, EventLimits, EventReply, MemoryEvents};
use oxmcp_proto::jsonrpc::RequestId;
use oxmcp_proto::{Error, Instant, Terms};

use super::{
    Addressee, Announcement, Feed, Following, Later, Place, Process, SharedState, StateError, StateLimits, TermsChange,
    Visit,
};

/// The events of streams, in memory. Sessions and what they are told are the service's own business.
#[derive(Debug)]
pub(in super::super) struct MemoryState {
    events: Mutex<MemoryEvents>,
    epoch: tokio::time::Instant,
}

impl MemoryState {
    pub(in super::super) fn new(limits: EventLimits) -> Self {
        Self {
            events: Mutex::new(MemoryEvents::new(limits)),
            epoch: tokio::time::Instant::now(),
        }
    }

    fn run(&self, command: EventCommand) -> EventReply {
        let passed = u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.events().run(command, Instant::from_micros(passed))
    }

    fn events(&self) -> MutexGuard<'_, MemoryEvents> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState for MemoryState {
    fn is_shared(&self) -> bool {
        false
    }

    fn join(&self, _: Weak<dyn Process>, _: StateLimits) -> Result<(), Error> {
        Ok(())
    }

    fn leave(&self) -> Later<()> {
        Later::now(())
    }

    fn begin_stream(&self, _: &Arc<str>, _: &Arc<str>, _: Vec<RequestId>) {}

    fn append(&self, session: &Arc<str>, id: EventId, data: Arc<str>, _: Option<&RequestId>) {
        let session = Arc::clone(session);
        self.run(EventCommand::Append { session, id, data });
    }

    fn stored(&self) -> Later<()> {
        Later::now(())
    }

    fn finish(&self, session: &Arc<str>, stream: &Arc<str>) {
        let (session, stream) = (Arc::clone(session), Arc::clone(stream));
        self.run(EventCommand::Finish { session, stream });
    }

    fn taken(&self, session: &Arc<str>, stream: &Arc<str>) {
        let (session, stream) = (Arc::clone(session), Arc::clone(stream));
        self.run(EventCommand::Taken { session, stream });
    }

    /// The connection is the session.
    fn give_up(&self, session: &Arc<str>, _: Vec<Arc<str>>) {
        let session = Arc::clone(session);
        self.run(EventCommand::Forget { session });
    }

    fn replay(&self, session: &Arc<str>, after: &EventId) -> Option<EventReply> {
        let (session, after) = (Arc::clone(session), after.clone());
        Some(self.run(EventCommand::Replay { session, after }))
    }

    fn begin_session(&self, _: &Arc<str>, _: Terms) -> Later<Result<(), StateError>> {
        Later::now(Ok(()))
    }

    /// Nobody else knows of any.
    fn visit(&self, _: &Arc<str>, _: Option<Place>) -> Later<Result<Option<Visit>, StateError>> {
        Later::now(Ok(None))
    }

    fn set(&self, _: &Arc<str>, _: TermsChange) -> Later<Result<(), StateError>> {
        Later::now(Ok(()))
    }

    fn end_session(&self, _: &Arc<str>) -> Later<Result<(), StateError>> {
        Later::now(Ok(()))
    }

    fn forget_session(&self, _: &Arc<str>, _: Place) {}

    fn forward(&self, _: &Arc<str>, _: Addressee, _: String) -> Later<Result<(), StateError>> {
        Later::now(Ok(()))
    }

    fn post(&self, _: &Arc<str>, _: Arc<str>) {}

    fn follow(&self, _: &Arc<str>, _: Option<EventId>, _: Arc<dyn Feed>) -> Later<Result<Following, StateError>> {
        Later::now(Err(StateError::Gone))
    }

    fn announce(&self, _: Announcement) {}
}
