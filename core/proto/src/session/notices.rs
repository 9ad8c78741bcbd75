//! Server: what is told without being asked: changes of lists, updates of resources, and to whom.
//!
//! | the client's revision | gets |
//! | --- | --- |
//! | with a handshake | every change of a list; updates of the resources it subscribed to |
//! | without | what its open `subscriptions/listen` streams ask for, each message with the stream's id |
//!
//! Debounced notifications wait for the end of the turn, or for the next message that we write, and are
//! sent once. The driver makes turns: one ends with [`poll_output`](super::Session::poll_output).

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;

use super::declared::Declared;
use super::listen::Filter;
use super::{Error, ErrorKind, Session, State};
use crate::jsonrpc::{ErrorCode, ErrorObject, ObjectWriter, RequestId, write};
use crate::session::Role;
use crate::{Kind, Registry, Revision};

/// What a session has told, and what it is about to.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// Debounced notifications, in the order they were first asked for.
    pending: Vec<Box<str>>,
    /// The registry's changes that were told.
    changes: u64,
    versions: [u64; 4],
    /// Resources subscribed to, in revisions with a handshake.
    subscribed: HashSet<Box<str>>,
}

#[derive(Deserialize)]
struct Uri<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
}

impl Notices {
    /// Nothing that a registry has by now is news.
    pub(super) fn after(registry: &Registry) -> Self {
        Self {
            changes: registry.changes(),
            versions: registry.versions(),
            ..Self::default()
        }
    }

    pub(super) fn forget_subscribers(&mut self) {
        self.subscribed.clear();
    }

    pub(super) fn subscribed(&self) -> Vec<Box<str>> {
        self.subscribed.iter().cloned().collect()
    }

    pub(super) fn subscribe_to(&mut self, uris: Vec<Box<str>>) {
        self.subscribed = uris.into_iter().collect();
    }
}

impl Session {
    /// A resource has other contents now: tells those who subscribed to it. False when nobody did.
    ///
    /// # Errors
    /// When the server does not declare the capability `resources.subscribe`.
    pub fn resource_updated(&mut self, uri: &str) -> Result<bool, Error> {
        self.check_may_notify("notifications/resources/updated")?;
        if self.is_closed() {
            return Ok(false);
        }
        let params = ObjectWriter::new().string("uri", uri).finish();
        Ok(self.tell_updated(Some(&params)))
    }

    /// Tells subscribers of an update, with params that name the resource.
    pub(super) fn tell_updated(&mut self, params: Option<&str>) -> bool {
        const UPDATED: &str = "notifications/resources/updated";
        let Some(Uri { uri }) = params.and_then(|params| serde_json::from_str(params).ok()) else {
            return false;
        };
        self.flush_notices();
        let subscribed = self.notices.subscribed.contains(&*uri);
        if subscribed {
            write::notification(&mut self.wire, UPDATED, params);
        }
        self.tell_streams(UPDATED, params, |filter| filter.has(&uri)) || subscribed
    }

    /// Asks for a debounced notification.
    pub(super) fn debounce(&mut self, method: &str) {
        if !self.notices.pending.iter().any(|known| **known == *method) {
            self.notices.pending.push(method.into());
        }
    }

    /// What changed before a peer could see anything is no news to it.
    pub(super) fn forget_changes(&mut self) {
        self.notices.changes = self.registry.changes();
        self.notices.versions = self.registry.versions();
    }

    /// Whether the registry has news that were not told.
    pub(super) fn has_notices(&self) -> bool {
        !self.notices.pending.is_empty() || self.registry.changes() != self.notices.changes
    }

    /// Sends what waits.
    pub(super) fn flush_notices(&mut self) {
        if !self.has_notices() {
            return;
        }
        let versions = self.registry.versions();
        self.notices.changes = self.registry.changes();
        let before = std::mem::replace(&mut self.notices.versions, versions);
        for kind in Kind::ALL {
            if before[kind as usize] != versions[kind as usize] {
                self.debounce(kind.changed());
            }
        }
        for method in std::mem::take(&mut self.notices.pending) {
            self.tell(&method);
        }
    }

    fn tell(&mut self, method: &str) {
        let declared = crate::revision::need_of_notification(method).is_none_or(|need| self.own.has(need.name));
        if matches!(self.state, State::Ready { .. }) && declared {
            write::notification(&mut self.wire, method, None);
        }
        self.tell_streams(method, None, |filter| filter.wants(method));
    }

    /// Sends a notification on the open streams that want it. False when none does.
    fn tell_streams(&mut self, method: &str, params: Option<&str>, wants: impl Fn(&Filter) -> bool) -> bool {
        let mut told = false;
        for id in self.inbound.listening.clone() {
            let Some((request, filter)) = self.inbound.get(id).and_then(|call| call.stream()) else {
                continue;
            };
            if wants(filter) {
                let params = super::listen::tagged(request, params);
                self.route_to_call(id);
                write::notification(&mut self.wire, method, Some(&params));
                told = true;
            }
        }
        if told {
            self.route_to(None);
        }
        told
    }

    /// Serves `resources/subscribe` and `resources/unsubscribe` (revisions with a handshake).
    pub(super) fn receive_subscribe(&mut self, id: &RequestId, method: &str, params: &str) {
        match self.note_subscription(method, params) {
            Ok(()) => write::result(&mut self.wire, id, "{}"),
            Err(error) => self.reply_error(id, error),
        }
    }

    pub(super) fn note_subscription(&mut self, method: &str, params: &str) -> Result<(), ErrorObject> {
        let uri: Uri<'_> =
            serde_json::from_str(params).map_err(|error| super::receive::invalid_params(method, &error))?;
        let limit = self.config.limits.subscriptions;
        if method == "resources/unsubscribe" {
            self.notices.subscribed.remove(&*uri.uri);
        } else if self.notices.subscribed.len() >= limit && !self.notices.subscribed.contains(&*uri.uri) {
            let message = format!("{limit} resources are subscribed to already; unsubscribe from some first");
            return Err(ErrorObject::new(ErrorCode::INVALID_REQUEST, message));
        } else {
            self.notices.subscribed.insert(uri.uri.into());
        }
        Ok(())
    }

    /// Whether a notification may be sent: the sender must have declared what it rests on.
    pub(super) fn check_may_notify(&self, method: &str) -> Result<(), Error> {
        let Some(need) = crate::revision::need_of_notification(method) else {
            return Ok(());
        };
        if need.declared_by != self.role {
            let message = format!("{method} is a notification to this side, it cannot be sent from it");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        if !self.own_capabilities().has(need.name) {
            let message = format!(
                "{method} was not sent: this side does not declare the capability \"{}\"",
                need.name
            );
            return Err(Error::new(ErrorKind::NotNegotiated, message));
        }
        Ok(())
    }

    /// What we declare: what a handshake settled, else what a server would say now.
    pub(super) fn own_capabilities(&self) -> Cow<'_, Declared> {
        match (self.role, &self.state) {
            (Role::Client, _) | (_, State::Ready { .. }) => Cow::Borrowed(&self.own),
            _ => Cow::Owned(Declared::read(&self.server_capabilities())),
        }
    }

    /// What we declare to those who make a request in this revision.
    pub(super) fn capabilities_in(&self, revision: Revision) -> Cow<'_, Declared> {
        match revision.has_handshake() {
            true => self.own_capabilities(),
            false => Cow::Owned(Declared::read(&self.server_capabilities())),
        }
    }

    /// The revision that the handshake settled on; before it, the newest with one.
    pub(super) fn revision(&self) -> Revision {
        match self.state {
            State::Ready { revision, .. } => revision,
            _ => Revision::V2025_11_25,
        }
    }
}
