//! What is written without anybody waiting for it, in order and by the batch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use oxmcp_proto::http::EventId;
use oxmcp_proto::jsonrpc::RequestId;
use redis::{Pipeline, RedisResult, Script, ServerErrorKind, Value};
use tokio::sync::{mpsc, oneshot};

use super::{Inner, note, random_name, scripts};
use crate::http::server::state::Announcement;

/// How many may wait to be written, and how many bytes. What comes when more waits is dropped: a stream with a gap
/// cannot be resumed over it.
const WAITING: (usize, usize) = (16_384, 64 * 1024 * 1024);
/// How many are written at once.
const BATCH: usize = 256;
/// How long to wait after a failure, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// Streams that are kept of one session.
const STREAMS: usize = 1024;
/// What is announced and kept for those who do not listen at the moment.
const CHANGES: usize = 4096;

#[derive(Debug)]
pub(super) enum Write {
    Begin {
        session: Arc<str>,
        stream: Arc<str>,
        requests: Vec<RequestId>,
    },
    Append {
        session: Arc<str>,
        id: EventId,
        data: Arc<str>,
        answers: Option<String>,
    },
    Finish {
        session: Arc<str>,
        stream: Arc<str>,
    },
    GiveUp {
        session: Arc<str>,
        streams: Vec<Arc<str>>,
    },
    Post {
        session: Arc<str>,
        data: Arc<str>,
    },
    Forget {
        session: Arc<str>,
        number: u64,
    },
    Announce(Announcement),
    /// All before it was written.
    Flushed(oneshot::Sender<()>),
}

impl Write {
    fn size(&self) -> usize {
        match self {
            Self::Append { data, .. } | Self::Post { data, .. } => data.len(),
            _ => 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct Outbox {
    writes: mpsc::Sender<Write>,
    bytes: Arc<AtomicUsize>,
}

/// The other end of an outbox.
pub(super) struct Writes {
    writes: mpsc::Receiver<Write>,
    bytes: Arc<AtomicUsize>,
}

impl Outbox {
    pub(super) fn new() -> (Self, Writes) {
        let (sender, writes) = mpsc::channel(WAITING.0);
        let bytes = Arc::new(AtomicUsize::new(0));
        let outbox = Self {
            writes: sender,
            bytes: Arc::clone(&bytes),
        };
        (outbox, Writes { writes, bytes })
    }

    pub(super) fn add(&self, write: Write) {
        let size = write.size();
        let before = self.bytes.fetch_add(size, Ordering::AcqRel);
        if before + size > WAITING.1 || self.writes.try_send(write).is_err() {
            self.bytes.fetch_sub(size, Ordering::AcqRel);
        }
    }

    /// Waits until all that is in it was written.
    pub(super) async fn flush(&self) {
        let (flushed, when_flushed) = oneshot::channel();
        // Nobody is left who writes, or it was written.
        let _ = self.writes.send(Write::Flushed(flushed)).await;
        let _ = when_flushed.await;
    }
}

/// Writes what comes, until nothing more can come.
pub(super) async fn write(inner: Weak<Inner>, mut from: Writes) {
    let mut counted = 0;
    let mut batch = Vec::new();
    while from.writes.recv_many(&mut batch, BATCH).await > 0 {
        let size: usize = batch.iter().map(Write::size).sum();
        let Some(me) = inner.upgrade() else { return };
        let mut pipeline = redis::pipe();
        let mut flushed = Vec::new();
        for write in batch.drain(..) {
            me.add(&mut pipeline, write, &mut counted, &mut flushed);
        }
        drop(me);
        let mut pause = PAUSE.0;
        loop {
            let Some(me) = inner.upgrade() else { return };
            if me.send_writes(&pipeline).await.is_ok() {
                break;
            }
            drop(me);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
        from.bytes.fetch_sub(size, Ordering::AcqRel);
        for flushed in flushed {
            // Whoever waited may have left.
            let _ = flushed.send(());
        }
    }
}

impl Inner {
    fn add(&self, to: &mut Pipeline, write: Write, counted: &mut u64, flushed: &mut Vec<oneshot::Sender<()>>) {
        let events = self.limits().events;
        let (kept, bytes) = (events.events_per_stream.max(1), events.bytes);
        match write {
            Write::Begin {
                session,
                stream,
                requests,
            } => {
                self.call(to, &scripts::BEGIN_STREAM)
                    .arg(&*session)
                    .arg(&*stream)
                    .arg(&self.node)
                    .arg(self.running())
                    .arg(bytes)
                    .arg(STREAMS);
                for request in requests {
                    to.arg(request.to_string());
                }
            }
            Write::Append {
                session,
                id,
                data,
                answers,
            } => {
                self.call(to, &scripts::APPEND)
                    .arg(&*session)
                    .arg(&*id.stream)
                    .arg(id.number)
                    .arg(&*data)
                    .arg(answers.unwrap_or_default())
                    .arg(kept)
                    .arg(self.running())
                    .arg(bytes)
                    .arg(STREAMS);
            }
            Write::Finish { session, stream } => {
                self.call(to, &scripts::FINISH)
                    .arg(&*session)
                    .arg(&*stream)
                    .arg(self.keep());
            }
            Write::GiveUp { session, streams } => {
                self.call(to, &scripts::GIVE_UP)
                    .arg(&*session)
                    .arg(self.keep())
                    .arg(super::follow::LOST);
                for stream in streams {
                    to.arg(&*stream);
                }
            }
            Write::Post { session, data } => {
                *counted += 1;
                self.call(to, &scripts::POST)
                    .arg(&*session)
                    // Without random bytes this is a name that is not unguessable, which it need not be.
                    .arg(random_name().unwrap_or_else(|| self.node.clone()))
                    .arg(&self.node)
                    .arg(*counted)
                    .arg(&*data)
                    .arg(kept)
                    .arg(self.idle());
            }
            Write::Forget { session, number } => {
                to.cmd("HDEL").arg(self.key("r", &session)).arg(number);
            }
            Write::Announce(announcement) => {
                let (start, end) = note::announced(&self.node, &announcement);
                self.call(to, &scripts::ANNOUNCE)
                    .arg(&*note::name(&announcement))
                    .arg(start)
                    .arg(end)
                    .arg(CHANGES)
                    .arg(self.idle() * 2);
            }
            Write::Flushed(sender) => flushed.push(sender),
        }
    }

    fn call<'a>(&self, to: &'a mut Pipeline, script: &Script) -> &'a mut Pipeline {
        to.cmd("EVALSHA")
            .arg(script.get_hash())
            .arg(1)
            .arg(&self.options.prefix)
    }

    async fn send_writes(&self, writes: &Pipeline) -> RedisResult<()> {
        let count = writes.len();
        if count == 0 {
            return Ok(());
        }
        let mut manager = self.manager.clone();
        let sent = manager.send_packed_commands(writes, 0, count);
        let sent = tokio::time::timeout(self.options.patience, sent).await;
        let values =
            sent.map_err(|_| redis::RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut)))??;
        let is_unknown = |value: &Value| match value {
            Value::ServerError(error) => error.kind() == Some(ServerErrorKind::NoScript),
            _ => false,
        };
        if values.iter().any(is_unknown) {
            self.load().await?;
            // Once more: what was done already is not done twice.
            return Err((redis::ErrorKind::Client, "the scripts were not there").into());
        }
        Ok(())
    }

    /// Tells Redis the scripts that are called by their names.
    async fn load(&self) -> RedisResult<()> {
        let mut manager = self.manager.clone();
        for script in [
            &scripts::BEGIN_STREAM,
            &scripts::APPEND,
            &scripts::FINISH,
            &scripts::GIVE_UP,
            &scripts::POST,
            &scripts::ANNOUNCE,
        ] {
            script.load_async(&mut manager).await?;
        }
        Ok(())
    }
}
