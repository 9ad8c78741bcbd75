//! Servers over HTTP.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use oxmcp_proto::{Config, Error, ErrorKind, Instant, Registry, Session};

use super::exchange::{Exchange, Request};
use super::inbox::Inbox;
use super::remote::{Remote, RemoteHost};
use super::route::{RouteDesk, RouteEvent};
use super::runtime::runtime;
use super::settings::Settings;
use crate::driver::{Host, Link};
use crate::http::{HttpBuilder, HttpHandle, HttpService};
use crate::server::{Served, session};

type Serving = tokio::task::JoinHandle<Result<(), Error>>;

/// A server over HTTP whose handlers are in another language.
#[derive(Debug)]
pub struct HttpServer {
    origin: Arc<Origin>,
    builder: HttpBuilder,
    service: HttpService,
    route_timeout: Duration,
    listening: Mutex<Vec<(HttpHandle, Serving)>>,
}

impl HttpServer {
    /// `settings` is the text of an object, which [`HttpBuilder`] says all about: `address`, `hosts`, `anyHost`,
    /// `origins`, `stateless`, `jsonOnly`, `httpSse`, `maxSessions`, `sessionIdle`, `resumable`, `retry`,
    /// `keepAlive`, `bodyLimit`, `bodyTimeout`, `path`, `maxConnections`, `headTimeout`, `writeTimeout`; and
    /// `routeTimeout`, see [`with_routes`](Self::with_routes). Times are in milliseconds. The config must have keys to
    /// seal with ([`Config::state_keys`]).
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when a setting is wrong or unknown.
    pub fn new(config: Config, registry: Arc<Registry>, settings: &str, inbox: &Arc<Inbox>) -> Result<Self, Error> {
        let origin = Arc::new(Origin {
            config,
            registry,
            inbox: Arc::clone(inbox),
            told: Mutex::default(),
        });
        let settings = Settings::read(settings)?;
        let route_timeout = settings.route_timeout();
        let builder = settings.apply(HttpBuilder::new(Arc::<Origin>::clone(&origin)));
        let service = builder.build()?;
        Ok(Self {
            origin,
            builder,
            service,
            route_timeout,
            listening: Mutex::default(),
        })
    }

    /// Hands requests for other paths than the endpoint's to this inbox, once it listens. They are checked and bounded
    /// like others: hosts and origins, pages that ask whether they may (CORS), the size of a body, the times that a
    /// client has. An answer has `routeTimeout` to begin, 60 seconds unless set; then the client is told 503. Without an
    /// inbox they are told 404 at once.
    #[must_use]
    pub fn with_routes(mut self, inbox: &Arc<Inbox<RouteEvent>>) -> Self {
        self.builder = self.builder.routes(Arc::new(RouteDesk::new(inbox, self.route_timeout)));
        self
    }

    /// Listens on a port, 0 for any that is free; gives the address.
    ///
    /// # Errors
    /// When the port cannot be listened on.
    pub fn bind(&self, port: u16) -> Result<SocketAddr, Error> {
        let runtime = runtime()?;
        // A thread of its own, as this one may run a runtime itself.
        let binding = runtime.spawn({
            let (builder, service) = (self.builder.clone(), self.service.clone());
            async move { builder.bind_service(service, port).await }
        });
        let (bound, when_bound) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            // Whoever waits for it is there until it comes.
            let _ = bound.send(binding.await);
        });
        let ended = |_| Error::new(ErrorKind::Closed, "the runtime ended");
        let serving = when_bound.recv().map_err(ended)?;
        let serving = serving.map_err(|error| Error::new(ErrorKind::Closed, error.to_string()))??;
        let address = serving.local_addr();
        let handle = serving.handle();
        self.listening().push((handle, runtime.spawn(serving)));
        Ok(address)
    }

    /// Serves one request of an HTTP library of the host's. What becomes of it comes by the inbox, with `token`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when it is no request, and when there is no runtime.
    pub fn exchange(&self, token: u64, request: Request) -> Result<Exchange, Error> {
        Exchange::begin(self.service.clone(), token, request, &self.origin.inbox)
    }

    /// Ends the streams that would not end by themselves, and refuses new ones: the first step of closing an HTTP
    /// library that waits for its responses to end. Calls under way go on.
    pub fn end_streams(&self) {
        self.service.end_streams();
    }

    /// Ends streams, lets calls under way finish, then ends the rest; calls `done` after that.
    pub fn shut_down(&self, done: impl FnOnce() + Send + 'static) {
        let listening = std::mem::take(&mut *self.listening());
        self.service.end_streams();
        let service = self.service.clone();
        let Ok(runtime) = runtime() else {
            service.close();
            return done();
        };
        runtime.spawn(async move {
            for (handle, _) in &listening {
                handle.shut_down();
            }
            for (_, serving) in listening {
                // How it ended changes nothing for those who wait for its end.
                let _ = serving.await;
            }
            service.close();
            done();
        });
    }

    /// How many sessions there are, of revisions with a handshake.
    pub fn sessions(&self) -> usize {
        self.service.sessions()
    }

    /// Does something with every session, and every open stream of `subscriptions/listen`: for what all clients
    /// are told.
    pub fn with_each(&self, mut work: impl FnMut(&mut Session, Instant)) {
        for link in self.origin.told() {
            link.with(false, &mut work);
        }
    }

    fn listening(&self) -> MutexGuard<'_, Vec<(HttpHandle, Serving)>> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the service serves.
#[derive(Debug)]
struct Origin {
    config: Config,
    registry: Arc<Registry>,
    inbox: Arc<Inbox>,
    /// The connections that are told of what is for all.
    told: Mutex<Vec<Weak<Link>>>,
}

impl Origin {
    fn told(&self) -> Vec<Arc<Link>> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|link| link.strong_count() > 0);
        told.iter().filter_map(Weak::upgrade).collect()
    }

    fn tell(&self, link: &Arc<Link>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        // Now and then, so that each one costs little.
        if told.len() == told.capacity() {
            told.retain(|link| link.strong_count() > 0);
        }
        told.push(Arc::downgrade(link));
    }
}

impl Served for Origin {
    fn connect(&self, config: &Arc<Config>, told: bool) -> (Arc<Link>, Box<dyn Host>) {
        let remote = Remote::new(session(config, &self.registry));
        if told {
            self.tell(remote.link());
        }
        let host = RemoteHost::new(&remote, &self.inbox);
        (Arc::clone(remote.link()), Box::new(host))
    }

    fn config(&self) -> Result<Config, Error> {
        Ok(self.config.clone())
    }

    fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }
}
