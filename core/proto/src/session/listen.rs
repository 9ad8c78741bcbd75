//! Server: `subscriptions/listen`, a call that stays open and is a stream of notifications
//! (2026-07-28 subscriptions).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Session;
use super::inbound::{Call, Origin, Work};
use super::receive::invalid_params;
use crate::Revision;
use crate::jsonrpc::{ErrorCode, ErrorObject, ObjectWriter, RequestId, object, write};
use crate::session::probe::with_meta;

pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a stream asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: Vec<Box<str>>,
}

#[derive(Deserialize)]
struct ListenParams<'a> {
    #[serde(borrow)]
    notifications: &'a RawValue,
}

impl Filter {
    /// Whether the stream wants to know of this change.
    pub(super) fn wants(&self, method: &str) -> bool {
        match method {
            "notifications/tools/list_changed" => self.tools_list_changed,
            "notifications/prompts/list_changed" => self.prompts_list_changed,
            "notifications/resources/list_changed" => self.resources_list_changed,
            _ => false,
        }
    }

    /// Whether the stream wants to know of updates of this resource.
    pub(super) fn has(&self, uri: &str) -> bool {
        self.resource_subscriptions.iter().any(|known| **known == *uri)
    }

    /// The part of it that a server with these capabilities honours.
    fn honoured(self, offers: impl Fn(&str) -> bool) -> Self {
        Self {
            tools_list_changed: self.tools_list_changed && offers("tools.listChanged"),
            prompts_list_changed: self.prompts_list_changed && offers("prompts.listChanged"),
            resources_list_changed: self.resources_list_changed && offers("resources.listChanged"),
            resource_subscriptions: match offers("resources.subscribe") {
                true => self.resource_subscriptions,
                false => Vec::new(),
            },
        }
    }

    fn to_json(&self) -> String {
        let mut filter = ObjectWriter::new();
        for (name, on) in [
            ("toolsListChanged", self.tools_list_changed),
            ("promptsListChanged", self.prompts_list_changed),
            ("resourcesListChanged", self.resources_list_changed),
        ] {
            if on {
                filter = filter.json(name, "true");
            }
        }
        if !self.resource_subscriptions.is_empty() {
            let uris = super::handshake::to_json(&self.resource_subscriptions);
            filter = filter.json("resourceSubscriptions", &uris);
        }
        filter.finish()
    }
}

impl Call {
    /// The stream that the call is, if it is one.
    pub(super) fn stream(&self) -> Option<(&RequestId, &Filter)> {
        match (&self.origin, &self.work) {
            (Origin::Request(request), Work::Listen(filter)) => Some((request, filter)),
            _ => None,
        }
    }
}

impl Session {
    /// Opens a stream.
    pub(super) fn receive_listen(&mut self, id: RequestId, revision: Revision, params: &str) {
        let read = |text: &str| object(serde_json::from_str::<ListenParams<'_>>(text)?.notifications);
        let filter: Filter = match read(params) {
            Ok(filter) => filter,
            Err(error) => return self.reply_error(&id, invalid_params("subscriptions/listen", &error)),
        };
        let limit = self.config.limits.subscriptions;
        let own = self.capabilities_in(revision);
        let filter = filter.honoured(|name| own.has(name));
        if self.inbound.listening.len() >= limit || filter.resource_subscriptions.len() > limit {
            let message =
                format!("too many subscriptions; the limit is {limit} streams, and as many resources in each");
            return self.reply_error(&id, ErrorObject::new(ErrorCode::INVALID_REQUEST, message));
        }
        // Whatever changed before is in the lists that the client reads from now on.
        self.flush_notices();
        let acknowledged = ObjectWriter::new().json("notifications", &filter.to_json()).finish();
        let params = tagged(&id, Some(&acknowledged));
        write::notification(
            &mut self.wire,
            "notifications/subscriptions/acknowledged",
            Some(&params),
        );
        let work = Work::Listen(Box::new(filter));
        self.inbound.insert(Call::new(Origin::Request(id), revision, work));
    }

    /// Ends the open streams in good order: each with its result, and with the cancel that 2026-07-28
    /// cancellation asks for when it is the server that ends a stream.
    pub(super) fn end_streams(&mut self, why: &str) {
        for id in self.inbound.listening.clone() {
            self.route_to_call(id);
            let Some(call) = self.inbound.take(id) else { continue };
            if let Origin::Request(request) = &call.origin {
                self.reply_result(request, call.revision.era(), &tagged(request, None));
                let params = ObjectWriter::new().json("requestId", &id_text(request));
                let params = params.string("reason", why).finish();
                write::notification(&mut self.wire, "notifications/cancelled", Some(&params));
            }
        }
    }
}

/// Params with the id of the stream they are on.
pub(super) fn tagged(request: &RequestId, params: Option<&str>) -> String {
    with_meta(params, std::iter::once((SUBSCRIPTION, id_text(request))))
}

fn id_text(request: &RequestId) -> String {
    let mut id = Vec::new();
    write::request_id(&mut id, request);
    String::from_utf8(id).unwrap_or_else(|error| unreachable!("an id is text: {error}"))
}
