//! Connections of transports that have a stream for each request, and drive them themselves.

use std::fmt;
use std::sync::{Arc, Weak};

use oxmcp_proto::{Config, Error, Registry, Session};

use super::Server;
use super::host::ServerHost;
use super::offers::OnUpdate;
use crate::driver::{Host, Link};

/// What such a transport serves: a [`Server`], or what a package of another language has in its place.
pub(crate) trait Served: fmt::Debug + Send + Sync {
    /// A connection to be driven by its transport, which also looks after changes of what is offered.
    /// One that is `told` gets what the program tells all its clients.
    fn connect(&self, config: &Arc<Config>, told: bool) -> (Arc<Link>, Box<dyn Host>);

    /// The settings of such connections.
    ///
    /// # Errors
    /// When the server was built wrong.
    fn config(&self) -> Result<Config, Error>;

    /// Whether the keys to seal with were given, so that other processes may have the same.
    fn has_keys(&self) -> bool {
        true
    }

    /// Tells `told` of each resource that the program says has other contents, for as long as it is there.
    fn on_update(&self, _told: Weak<OnUpdate>) {}

    /// What is offered.
    fn registry(&self) -> &Arc<Registry>;
}

/// A session that shares its settings with others.
pub(crate) fn session(config: &Arc<Config>, registry: &Arc<Registry>) -> Session {
    Session::server(Arc::clone(config), Arc::clone(registry)).with_unix_epoch(super::unix_millis())
}

impl Served for Server {
    fn connect(&self, config: &Arc<Config>, told: bool) -> (Arc<Link>, Box<dyn Host>) {
        let link = Link::new(session(config, &self.shared.registry));
        if told {
            self.shared.connected(&link);
        }
        let host = ServerHost::unwatched(Arc::clone(&self.shared), self.hooks.clone());
        (link, Box::new(host))
    }

    fn config(&self) -> Result<Config, Error> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let mut config = self.config.clone();
        if config.state_keys.is_none() {
            config.state_keys = Some(self.own_keys()?);
        }
        Ok(config)
    }

    fn has_keys(&self) -> bool {
        self.config.state_keys.is_some()
    }

    fn on_update(&self, told: Weak<OnUpdate>) {
        self.shared.on_update(told);
    }

    fn registry(&self) -> &Arc<Registry> {
        &self.shared.registry
    }
}
