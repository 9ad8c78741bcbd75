//! Servers over HTTP, and the exchanges that a program's own HTTP library brings.

use napi::Env;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;
use oxmcp::border::{ExchangeEvent, Item, Request};
use oxmcp_proto::Config;
use std::sync::Arc;

use crate::error::Failure;
use crate::hub::Hub;
use crate::registry::Registry;

/// A server over HTTP. What its sessions say comes by its hub.
#[napi]
pub struct HttpServer {
    server: oxmcp::border::HttpServer,
    inbox: Arc<oxmcp::border::Inbox>,
}

#[napi]
impl HttpServer {
    /// `options` are those of `Session.server`, `http` those of the core's `HttpServer`, both as JSON text.
    #[napi(constructor)]
    pub fn new(
        env: &Env,
        hub: &Hub,
        info: String,
        options: String,
        registry: ClassInstance<'_, Registry>,
        http: String,
    ) -> napi::Result<Self> {
        let fail = |error| Failure::from(error).throw(env);
        let config = Config::from_json(&info, &options).map_err(fail)?;
        let entries = Arc::clone(&registry.entries);
        let server = oxmcp::border::HttpServer::new(config, entries, &http, &hub.inbox).map_err(fail)?;
        let inbox = Arc::clone(&hub.inbox);
        Ok(Self { server, inbox })
    }

    /// Listens; gives the address and port, such as `127.0.0.1:8000`.
    #[napi]
    pub fn bind(&self, env: &Env, port: u16) -> napi::Result<String> {
        let bound = self.server.bind(port);
        let address = bound.map_err(|error| Failure::from(error).throw(env))?;
        Ok(address.to_string())
    }

    /// Serves one request. `headers` are names and values in turn, each ended by a line feed, since one text crosses faster than
    /// an array of them. What becomes of it comes as rows with `token`.
    #[napi]
    pub fn exchange(
        &self,
        env: &Env,
        token: i64,
        method: String,
        target: String,
        authority: Option<String>,
        headers: String,
    ) -> napi::Result<HttpExchange> {
        let mut fields = headers.split('\n').map(latin1);
        let headers = std::iter::from_fn(|| Some((fields.next()?, fields.next()?))).collect();
        let request = Request {
            method,
            target,
            authority,
            headers,
        };
        let begun = self.server.exchange(token as u64, request);
        let exchange = begun.map_err(|error| Failure::from(error).throw(env))?;
        Ok(HttpExchange {
            exchange: Some(exchange),
        })
    }

    /// Ends streams, lets calls under way finish, and ends the rest; then an `"end"` comes with `token`.
    #[napi]
    pub fn shut_down(&self, token: i64) {
        let inbox = Arc::clone(&self.inbox);
        let ended = move || inbox.push(Item::Exchange(token as u64, ExchangeEvent::End));
        self.server.shut_down(ended);
    }

    /// Runs a command in every session and stream that is told what all clients are told.
    #[napi]
    pub fn command_each(&self, text: String) {
        self.server.with_each(|session, now| {
            // One that is not ready yet, or does not take part, has not missed anything.
            let _ = session.command(&text, now);
        });
    }

    /// Sends a notification to every client that can be told.
    #[napi]
    pub fn notify_each(&self, method: String, params: Option<String>) {
        self.server.with_each(|session, _| {
            // As above.
            let _ = session.notify(&method, params.as_deref());
        });
    }

    /// How many sessions there are.
    #[napi]
    pub fn sessions(&self) -> u32 {
        u32::try_from(self.server.sessions()).unwrap_or(u32::MAX)
    }
}

/// One request under way.
#[napi]
pub struct HttpExchange {
    exchange: Option<oxmcp::border::Exchange>,
}

#[napi]
impl HttpExchange {
    /// Some of the request's body. False when no more is wanted.
    #[napi]
    pub fn body(&self, chunk: &[u8]) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| exchange.body(chunk))
    }

    /// The last of the request's body.
    #[napi]
    pub fn last(&mut self, chunk: &[u8]) {
        self.body(chunk);
        self.end_body();
    }

    /// The request's body is complete.
    #[napi]
    pub fn end_body(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.end_body();
        }
    }

    /// Asks for the next of the response's body.
    #[napi]
    pub fn more(&self) {
        if let Some(exchange) = &self.exchange {
            exchange.more();
        }
    }

    /// Lets go of it: before its end, the client left.
    #[napi]
    pub fn release(&mut self) {
        self.exchange = None;
    }
}

/// Header fields come as JavaScript has them: a character for each byte. What is none is left out by the core's check.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|char| u8::try_from(char).unwrap_or(b'?')).collect()
}
