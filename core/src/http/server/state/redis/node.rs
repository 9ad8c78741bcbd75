//! A process among others: that it is there, and what it hears.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use oxmcp_proto::Kind;
use redis::aio::PubSubStream;

use super::note::{self, Heard};
use super::{Inner, millis, scripts, unavailable};
use crate::http::server::state::{Announcement, Note, StateError};

/// How long to wait before a connection is tried again, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// Commands in one pipeline.
const BATCH: usize = 256;

impl Inner {
    /// Begins to be there.
    pub(super) async fn begin(&self) -> Result<(), StateError> {
        self.renew().await?;
        // What was announced before is no news to this process.
        let (at, _): (u64, Vec<String>) = self.run(&scripts::CATCH_UP, &[b"+inf"]).await?;
        self.heard.store(at, Ordering::Release);
        Ok(())
    }

    /// Returns once this process hears what it is told.
    pub(super) async fn is_heard(&self) -> Result<(), StateError> {
        let mut hears = self.hears.subscribe();
        let heard = tokio::time::timeout(self.options.patience * 2, hears.wait_for(|hears| *hears)).await;
        match heard {
            Ok(Ok(_)) => Ok(()),
            _ => Err(StateError::Unavailable(
                "it takes no subscription to a channel in time".into(),
            )),
        }
    }

    async fn renew(&self) -> Result<(), StateError> {
        let mut renew = redis::pipe();
        let lease = millis(self.options.lease);
        renew
            .cmd("SET")
            .arg(self.key("n", &self.node))
            .arg("{\"v\":1}")
            .arg("PX")
            .arg(lease)
            .ignore();
        renew
            .cmd("PUBLISH")
            .arg(self.key("n", &self.node))
            .arg(note::beat())
            .ignore();
        if self.joined.get().is_some() {
            for name in ["sessions", "changes", "news"] {
                let key = format!("{}{name}", self.options.prefix);
                renew.cmd("PEXPIRE").arg(key).arg(self.idle() * 2).ignore();
            }
        }
        self.send(&renew).await
    }

    fn note_renewal(&self, renewed: bool) {
        let mut steady = self.steady.lock().unwrap_or_else(PoisonError::into_inner);
        *steady = steady
            .filter(|_| renewed)
            .or_else(|| renewed.then(tokio::time::Instant::now));
    }

    /// Ceases to be there.
    pub(super) async fn retire(&self) -> Result<(), StateError> {
        let mut retire = redis::pipe();
        retire.cmd("DEL").arg(self.key("n", &self.node)).ignore();
        self.send(&retire).await
    }

    async fn send(&self, commands: &redis::Pipeline) -> Result<(), StateError> {
        let mut manager = self.manager.clone();
        let sent = tokio::time::timeout(self.options.patience, commands.exec_async(&mut manager)).await;
        sent.map_err(|_| StateError::Unavailable("it does not answer in time".into()))?
            .map_err(|error| unavailable(&error))
    }

    /// Keeps what is in use from expiring, and finds out what was missed of it.
    async fn stretch(&self) -> Result<(), StateError> {
        let streams: Vec<_> = self
            .writes()
            .iter()
            .map(|(a, b)| (Arc::clone(a), Arc::clone(b)))
            .collect();
        for batch in streams.chunks(BATCH) {
            let mut stretch = redis::pipe();
            for (stream, session) in batch {
                for kind in ["m", "e"] {
                    let key = self.key(kind, &format!("{session}:{stream}"));
                    stretch.cmd("PEXPIRE").arg(key).arg(self.running()).ignore();
                }
            }
            self.send(&stretch).await?;
        }
        let Some(process) = self.process() else { return Ok(()) };
        for (session, place) in process.in_use() {
            match self.visit(&session, Some(place)).await? {
                None => self.tell(Note::Ended(session)),
                Some(visit) if visit.place.version != place.version => self.tell(Note::Set(session)),
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn hear(&self, text: &[u8]) {
        match note::read(text) {
            Some(Heard::More(stream)) => {
                for follower in self.followers().get(&stream).into_iter().flatten() {
                    follower.notify_one();
                }
            }
            Some(Heard::Note(note)) => self.tell(note),
            Some(Heard::Announced(number, from, announcement)) => {
                self.heard.fetch_max(number, Ordering::AcqRel);
                // Its own clients know already.
                if let Some(announcement) = announcement.filter(|_| from != self.node) {
                    self.tell(Note::Announced(announcement));
                }
            }
            Some(Heard::Beat) | None => {}
        }
    }

    fn tell(&self, note: Note) {
        if let Some(process) = self.process() {
            process.hear(note);
        }
    }

    /// Finds out what was announced while nothing could be heard.
    async fn catch_up(&self) -> Result<(), StateError> {
        let heard = self.heard.load(Ordering::Acquire);
        let (at, missed): (u64, Vec<String>) = self.run(&scripts::CATCH_UP, &[heard.to_string().as_bytes()]).await?;
        self.heard.store(at, Ordering::Release);
        let missed: Vec<_> = match at < heard {
            // The numbers began anew, as what was in Redis is lost: anything may have changed.
            true => Kind::ALL.map(Announcement::ListChanged).to_vec(),
            false => missed.iter().filter_map(|name| note::named(name)).collect(),
        };
        for announcement in missed {
            self.tell(Note::Announced(announcement));
        }
        for follower in self.followers().values().flatten() {
            follower.notify_one();
        }
        Ok(())
    }

    /// Subscribes to what this process is told.
    async fn subscribe(&self) -> Result<PubSubStream, StateError> {
        let subscribe = async {
            let channels = [self.key("n", &self.node), format!("{}all", self.options.prefix)];
            let mut connection = self.client.get_async_pubsub().await?;
            connection.subscribe(&channels).await?;
            Ok(connection.split().1)
        };
        let subscribed = tokio::time::timeout(self.options.patience, subscribe).await;
        let stream = subscribed
            .map_err(|_| StateError::Unavailable("it takes no subscription in time".into()))?
            .map_err(|error| unavailable(&error))?;
        self.catch_up().await?;
        self.hears.send_replace(true);
        Ok(stream)
    }
}

/// Says that the process is there, three times per lease.
pub(super) async fn beat(inner: Weak<Inner>) {
    loop {
        let Some(me) = inner.upgrade().filter(|me| !me.left.load(Ordering::Acquire)) else {
            return;
        };
        let renewed = me.renew().await.is_ok();
        me.note_renewal(renewed);
        let pause = me.options.lease / 3;
        drop(me);
        tokio::time::sleep(pause).await;
    }
}

/// Keeps what is in use.
pub(super) async fn keep(inner: Weak<Inner>) {
    loop {
        let Some(me) = inner.upgrade() else { return };
        let pause = (me.options.lease / 2).min(me.limits().idle / 3);
        // Next time it may be there again.
        let _ = me.stretch().await;
        drop(me);
        tokio::time::sleep(pause).await;
    }
}

/// Hears what the process is told.
pub(super) async fn listen(inner: Weak<Inner>) {
    let mut pause = PAUSE.0;
    loop {
        let Some(me) = inner.upgrade() else { return };
        let (subscribed, lease) = (me.subscribe().await, me.options.lease);
        drop(me);
        if let Ok(mut stream) = subscribed {
            pause = PAUSE.0;
            // It hears itself at least, or the connection is dead.
            while let Ok(Some(message)) = tokio::time::timeout(lease, stream.next()).await {
                let Some(me) = inner.upgrade() else { return };
                me.hear(message.get_payload_bytes());
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE.1);
    }
}
