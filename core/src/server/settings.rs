//! The settings of a server.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::{CacheHints, Direction, Keyring, Limits, Problem, Revision};
use serde::Serialize;

use super::Server;

impl Server {
    /// Sets the name that people see.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.config.info.title = Some(title.into());
        self
    }

    /// Tells a model how to use this server.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.config.instructions = Some(text.into());
        self
    }

    /// Sets the bounds on what a client can make the server hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Refuses a client that asks for a revision of the protocol that we do not speak, instead of
    /// offering it our newest.
    #[must_use]
    pub fn strict_revision(mut self) -> Self {
        self.config.strict_revision = true;
        self
    }

    /// Is told of what goes wrong without being the answer to a call: a line that is no message, a
    /// handler that panicked. The connection goes on. `hook` runs on the runtime and must not block.
    ///
    /// ```
    /// let server = oxmcp::Server::new("demo", "1.0").on_problem(|problem| eprintln!("{}", problem.message));
    /// ```
    #[must_use]
    pub fn on_problem(mut self, hook: impl Fn(&Problem) + Send + Sync + 'static) -> Self {
        self.hooks.on_problem = Some(Arc::new(hook));
        self
    }

    /// Is shown every message, as it is on the wire and in its order. `hook` runs on the runtime and
    /// must not block.
    ///
    /// ```
    /// let server = oxmcp::Server::new("demo", "1.0").on_trace(|direction, line| eprintln!("{direction:?} {line}"));
    /// ```
    #[must_use]
    pub fn on_trace(mut self, hook: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        self.config.trace = true;
        self.hooks.on_trace = Some(Arc::new(hook));
        self
    }

    /// Sends log messages, by [`Context::log`](crate::Context::log), to clients that want them. On unless set;
    /// without, the server does not declare that it logs.
    #[must_use]
    pub fn logging(mut self, on: bool) -> Self {
        self.config.logging = on;
        self
    }

    /// Lets clients subscribe to resources, and tells them of
    /// [updates](crate::Offers::resource_updated). Off unless set.
    ///
    /// ```
    /// use oxmcp::{Context, Server};
    ///
    /// let server = Server::new("demo", "1.0")
    ///     .subscriptions(true)
    ///     .resource("app://counter", "counter", |_: Context| async { Ok("1") });
    /// assert!(!server.offers().resource_updated("app://counter"), "nobody is there");
    /// ```
    #[must_use]
    pub fn subscriptions(mut self, on: bool) -> Self {
        self.config.subscriptions = on;
        self
    }

    /// Says what the server declares of capabilities, in place of what it finds out by itself; of those that
    /// are not named here it still does. An object of the specification.
    ///
    /// ```
    /// use oxmcp::Server;
    ///
    /// let server = Server::new("demo", "1.0").capabilities(serde_json::json!({"tools": {"listChanged": false}}));
    /// ```
    #[must_use]
    pub fn capabilities(mut self, capabilities: impl Serialize) -> Self {
        match crate::types::object(&capabilities, "the capabilities of a server") {
            Ok(Some(capabilities)) => self.config.capabilities = capabilities,
            Ok(None) => {}
            Err(error) => self.note(Err(error)),
        }
        self
    }

    /// How many entries a page of a list has at most. All are in one page unless set.
    #[must_use]
    pub fn page_size(self, size: NonZeroUsize) -> Self {
        self.shared.registry.set_page_size(Some(size));
        self
    }

    /// How long clients may keep lists and resources that do not say so themselves (2026-07-28).
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.config.cache = hints;
        self
    }

    /// The revisions of the protocol it speaks. All unless set.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.config.revisions = revisions.into_iter().collect();
        self
    }

    /// How long a client may take to answer a question, unless the question says otherwise. 60 s unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.timeout = timeout;
        self
    }

    /// The keys that seal what a client keeps between two rounds of a call (2026-07-28). Unless set, each
    /// process makes its own; servers that act as one need the same.
    ///
    /// ```
    /// use oxmcp::{Keyring, SealKey, Server};
    ///
    /// let secret = [7; 32]; // from a vault
    /// let server = Server::new("demo", "1.0").state_keys(Keyring::new(SealKey::from_bytes(&secret)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn state_keys(mut self, keys: Keyring) -> Self {
        self.config.state_keys = Some(keys);
        self
    }

    /// How long a client may take from one round of a call to the next (2026-07-28). One hour unless set.
    #[must_use]
    pub fn state_ttl(mut self, ttl: Duration) -> Self {
        self.config.state_ttl = ttl;
        self
    }

    /// Who the client is, where something before this server found out: what is kept between two rounds of a
    /// call is bound to it.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<String>) -> Self {
        self.config.principal = principal.into();
        self
    }
}
