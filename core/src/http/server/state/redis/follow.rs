//! Reading a stream that may be written by any process.

use std::sync::Arc;

use oxmcp_proto::http::EventId;
use redis::Value;
use tokio::sync::Notify;

use super::{Inner, next, note, random_name, scripts, unavailable};
use crate::http::server::state::{Feed, Following, StateError};

/// Events that are read at once.
const BATCH: usize = 64;
/// The largest number that scripts can count to.
const LAST: u64 = (1 << 53) - 1;

/// What follows the id in the answer to a request whose process is gone.
pub(super) const LOST: &str = r#","error":{"code":-32603,"message":"the call is lost: the process that ran it ended; whether it had an effect is not known"}}"#;

/// Begins to follow.
pub(super) async fn begin(
    inner: Arc<Inner>,
    session: Arc<str>,
    after: Option<EventId>,
    feed: Arc<dyn Feed>,
) -> Result<Following, StateError> {
    let token = next(&inner.tokens).to_string();
    let (stream, number) = match &after {
        Some(after) if after.number > LAST => return Err(StateError::Gone),
        Some(after) => (&*after.stream, after.number),
        None => ("", 0),
    };
    let name = random_name().ok_or_else(|| StateError::Unavailable("the system gives no random bytes".into()))?;
    let answer: Vec<Value> = inner
        .run(
            &scripts::FOLLOW,
            &[
                session.as_bytes(),
                stream.as_bytes(),
                number.to_string().as_bytes(),
                inner.node.as_bytes(),
                token.as_bytes(),
                name.as_bytes(),
                inner.idle().to_string().as_bytes(),
            ],
        )
        .await?;
    let mut parts = answer.into_iter();
    let (Some(stream), Some(number), Some(stands), Some(missed)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(StateError::Gone);
    };
    let broken = |error: redis::ParsingError| unavailable(&error.into());
    let stream: String = redis::from_redis_value(stream).map_err(broken)?;
    let after = EventId {
        stream: stream.into(),
        number: redis::from_redis_value(number).map_err(broken)?,
    };
    let stands: u32 = redis::from_redis_value(stands).map_err(broken)?;
    let missed: Vec<String> = redis::from_redis_value(missed).map_err(broken)?;
    let follower = Follower::new(inner, session, after.clone(), token);
    Ok(Following {
        after,
        stands: stands == 1,
        missed: missed.iter().filter_map(|name| note::named(name)).collect(),
        task: Box::pin(follower.feed(feed)),
    })
}

/// Who follows a stream, until it is dropped.
struct Follower {
    inner: Arc<Inner>,
    session: Arc<str>,
    after: EventId,
    token: String,
    more: Arc<Notify>,
}

/// What was read.
struct Read {
    /// Nothing follows.
    done: bool,
    events: Vec<(u64, String)>,
}

impl Follower {
    fn new(inner: Arc<Inner>, session: Arc<str>, after: EventId, token: String) -> Self {
        let more = Arc::new(Notify::new());
        let mut followers = inner.followers();
        let others = followers.entry(Arc::clone(&after.stream)).or_default();
        others.push(Arc::clone(&more));
        drop(followers);
        Self {
            inner,
            session,
            after,
            token,
            more,
        }
    }

    async fn feed(mut self, feed: Arc<dyn Feed>) {
        while let Some(read) = self.read().await {
            let is_empty = read.events.is_empty();
            for (number, data) in read.events {
                // Over a gap nobody can go on.
                if number != self.after.number + 1 {
                    return feed.end();
                }
                self.after.number = number;
                if !data.is_empty() && !feed.event(&self.after, &data) {
                    return;
                }
            }
            if read.done {
                break;
            }
            // It is read once more after the last event, which tells how far the client has come.
            if is_empty {
                self.wait().await;
            }
        }
        feed.end();
    }

    /// What follows now; `None` when another one follows the stream, or it is gone.
    async fn read(&self) -> Option<Read> {
        loop {
            let judges = if self.inner.is_steady() { "1" } else { "0" };
            let answer: Result<Vec<Value>, _> = self
                .inner
                .run(
                    &scripts::READ,
                    &[
                        self.session.as_bytes(),
                        self.after.stream.as_bytes(),
                        self.after.number.to_string().as_bytes(),
                        self.inner.node.as_bytes(),
                        self.token.as_bytes(),
                        BATCH.to_string().as_bytes(),
                        judges.as_bytes(),
                        LOST.as_bytes(),
                        self.inner.keep().to_string().as_bytes(),
                    ],
                )
                .await;
            match answer {
                Ok(answer) => return read_events(answer),
                // Redis is away; the client waits until it is back, or leaves.
                Err(_) => self.wait().await,
            }
        }
    }

    /// Waits until there may be more.
    async fn wait(&self) {
        let often = self.inner.options.lease / 3;
        // The time tells that the writer is gone, and makes up for news that got lost.
        let _ = tokio::time::timeout(often, self.more.notified()).await;
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut followers = self.inner.followers();
        if let Some(others) = followers.get_mut(&self.after.stream) {
            others.retain(|other| !Arc::ptr_eq(other, &self.more));
            if others.is_empty() {
                followers.remove(&self.after.stream);
            }
        }
    }
}

fn read_events(answer: Vec<Value>) -> Option<Read> {
    let mut parts = answer.into_iter();
    let done: u32 = redis::from_redis_value(parts.next()?).ok()?;
    let mut events = Vec::new();
    while let (Some(number), Some(data)) = (parts.next(), parts.next()) {
        events.push((
            redis::from_redis_value(number).ok()?,
            redis::from_redis_value(data).ok()?,
        ));
    }
    Some(Read {
        done: done == 1,
        events,
    })
}
