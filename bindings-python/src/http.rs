//! Servers over HTTP: on a port of their own, or behind an HTTP library of the program's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxmcp::border::{self, Request};
use pyo3::prelude::*;

use crate::connection::server_config;
use crate::error::raise;
use crate::hub::Hub;
use crate::mailbox::{Mailbox, Owner};
use crate::registry::Registry;
use crate::routes::fields;
use crate::session::{invalid, log_level};

/// A server over HTTP, whose handlers run on one event loop.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct HttpServer {
    server: border::HttpServer,
    mailbox: Arc<Mailbox>,
}

/// One request of an HTTP library of the program's.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Exchange {
    token: u64,
    mailbox: Arc<Mailbox>,
    exchange: Mutex<Option<border::Exchange>>,
}

#[pymethods]
impl HttpServer {
    /// The first parameters are those of `Connection.server`; `http` is the text of the settings of HTTP, as the
    /// core's `border::HttpServer` takes them. With `routes` the hook is told of requests to its port for other paths
    /// (`routes.rs`), with `sessions` of the sessions of clients (`mailbox.rs`).
    #[new]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn new(
        py: Python<'_>,
        hub: Py<Hub>,
        name: String,
        version: String,
        title: Option<String>,
        instructions: Option<String>,
        trace: bool,
        settings: Option<&str>,
        secret: &[u8],
        registry: Py<Registry>,
        http: &str,
        routes: bool,
        sessions: bool,
        on_event: Py<PyAny>,
    ) -> PyResult<Self> {
        let config = server_config(py, name, version, title, instructions, trace, settings, secret)?;
        let core = registry.get().core();
        let mailbox = {
            let owner = Owner::Server {
                tells_sessions: sessions,
            };
            Mailbox::new(py, &hub, owner, registry, on_event)
        };
        match border::HttpServer::new(config, core, http, &mailbox.inbox) {
            Ok(server) if routes => Ok(Self {
                server: server.with_routes(mailbox.route_inbox()),
                mailbox,
            }),
            Ok(server) => Ok(Self { server, mailbox }),
            Err(error) => {
                mailbox.close();
                Err(raise(py, &error))
            }
        }
    }

    /// Listens on a port, 0 for any that is free; gives the address and the port.
    fn bind(&self, py: Python<'_>, port: u16) -> PyResult<(String, u16)> {
        let bound = py.detach(|| self.server.bind(port));
        let address = bound.map_err(|error| raise(py, &error))?;
        Ok((address.ip().to_string(), address.port()))
    }

    /// Begins to serve a request; gives it, and the future of the head of its response: `(status, headers, body)`,
    /// with a body of `None` if that is a stream. `scope` is what the library knows of the request, for its handler.
    fn exchange<'py>(
        &self,
        py: Python<'py>,
        method: String,
        target: String,
        headers: Bound<'py, PyAny>,
        scope: Py<PyAny>,
    ) -> PyResult<(Exchange, Bound<'py, PyAny>)> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let request = Request {
            method,
            target,
            authority: None,
            headers: fields(&headers)?,
        };
        let token = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let begun = self.server.exchange(token, request);
        let exchange = Exchange {
            token,
            mailbox: Arc::clone(&self.mailbox),
            exchange: Mutex::new(Some(begun.map_err(|error| raise(py, &error))?)),
        };
        let head = exchange.next(py)?;
        self.mailbox.keep_scope(token, scope);
        Ok((exchange, head))
    }

    /// Ends the streams that would not end by themselves, and refuses new ones. Calls under way go on.
    fn end_streams(&self) {
        self.server.end_streams();
    }

    /// Takes no more connections, ends streams, lets calls under way finish; then the event `shut_down` comes.
    fn shut_down(&self) {
        self.server.shut_down(self.mailbox.shut_down_notice());
    }

    /// Lets go of the loop, tasks and futures.
    fn close(&self) {
        self.mailbox.close();
    }

    /// How many sessions there are, of revisions with a handshake.
    fn sessions(&self) -> usize {
        self.server.sessions()
    }

    /// Tells those who subscribed to a resource that it has other contents. Whether anybody did.
    fn resource_updated(&self, py: Python<'_>, uri: &str) -> PyResult<bool> {
        let (mut told, mut failed) = (false, None);
        self.server.with_each(|session, _| match session.resource_updated(uri) {
            Ok(one) => told |= one,
            Err(error) => failed = Some(error),
        });
        failed.map_or(Ok(told), |error| Err(raise(py, &error)))
    }

    /// Sends a notification to every client that can be told.
    #[pyo3(signature = (method, params=None))]
    fn notify(&self, method: &str, params: Option<&str>) {
        // One that cannot be told yet is told nothing.
        self.server.with_each(|session, _| drop(session.notify(method, params)));
    }

    /// Sends a log message to every client that wants such.
    #[pyo3(signature = (level, logger, data))]
    fn log(&self, level: &str, logger: Option<&str>, data: &str) -> PyResult<()> {
        let level = log_level(level)?;
        self.server
            .with_each(|session, _| drop(session.log(None, level, logger, data)));
        Ok(())
    }

    /// The tasks of the handlers that run.
    fn tasks(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.mailbox.calls.tasks(py)
    }

    /// Handlers that run, futures that wait, exchanges that are waited for.
    fn stats(&self) -> (usize, usize, usize) {
        let (tasks, futures) = self.mailbox.calls.counts();
        (tasks, futures, self.mailbox.exchange_count())
    }
}

#[pymethods]
impl Exchange {
    /// Some of the body of the request. False when no more is wanted.
    fn body(&self, chunk: &[u8]) -> bool {
        self.with(|exchange| exchange.body(chunk)).unwrap_or(false)
    }

    /// The body of the request is complete.
    fn end_body(&self) {
        self.with(border::Exchange::end_body);
    }

    /// The future of the next chunk of the response's body, or of its end, which is `None`. Not after `close`.
    fn more<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let next = self.next(py)?;
        if self.with(|exchange| exchange.more()).is_none() {
            self.mailbox.forget_exchange(self.token);
            return Err(invalid("the exchange is over"));
        }
        Ok(next)
    }

    /// Ends it. Before the end of the response that means that the client left.
    fn close(&self) {
        let exchange = self.lock().take();
        drop(exchange);
        self.mailbox.forget_exchange(self.token);
    }
}

impl Exchange {
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(event_loop) = self.mailbox.event_loop() else {
            return Err(invalid("the event loop of this server has ended"));
        };
        let future = event_loop.new_future(py)?;
        self.mailbox.keep_exchange(self.token, future.clone().unbind());
        Ok(future)
    }

    fn with<T>(&self, work: impl FnOnce(&mut border::Exchange) -> T) -> Option<T> {
        self.lock().as_mut().map(work)
    }

    fn lock(&self) -> MutexGuard<'_, Option<border::Exchange>> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
