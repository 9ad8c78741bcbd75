//! Connections of transports that have a stream for each request, and drive them themselves.

use std::sync::Arc;

use oxmcp_proto::{Config, Error, Registry, Session};

use super::Server;
use super::host::ServerHost;
use crate::driver::{Host, Link};

impl Server {
    /// A connection to be driven by its transport, which also looks after changes of what is offered.
    /// One that is `told` gets what the program tells all its clients.
    pub(crate) fn routed(&self, config: &Config, told: bool) -> (Arc<Link>, Box<dyn Host>) {
        let mut config = config.clone();
        config.unix_epoch = super::unix_millis();
        let link = Link::new(Session::server(config, Arc::clone(&self.shared.registry)));
        if told {
            self.shared.connected(&link);
        }
        let host = ServerHost::unwatched(Arc::clone(&self.shared), self.hooks.clone());
        (link, Box::new(host))
    }

    /// The settings of such connections.
    ///
    /// # Errors
    /// When the server was built wrong.
    pub(crate) fn routed_config(&self) -> Result<Config, Error> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let mut config = self.config.clone();
        if config.state_keys.is_none() {
            config.state_keys = Some(self.own_keys()?);
        }
        config.routed = true;
        Ok(config)
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.shared.registry
    }
}
