//! What is known now, or only once something was waited for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What is known at once, or later. Waiting for what is known at once costs nothing.
pub struct Later<T>(Kind<T>);

enum Kind<T> {
    Now(Option<T>),
    Then(Pin<Box<dyn Future<Output = T> + Send>>),
}

impl<T> Later<T> {
    /// What is known at once.
    pub fn now(value: T) -> Self {
        Self(Kind::Now(Some(value)))
    }

    /// What will be known.
    pub fn then(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Kind::Then(Box::pin(future)))
    }
}

impl<T: Unpin> Future for Later<T> {
    type Output = T;

    /// # Panics
    /// When it is polled again after it was ready, as futures may.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.get_mut().0 {
            Kind::Now(value) => Poll::Ready(value.take().expect("polled after it was ready")),
            Kind::Then(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for Later<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Now(_) => "Later::now",
            Kind::Then(_) => "Later::then",
        })
    }
}
