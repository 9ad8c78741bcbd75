//! What a server offers, as its connections and the program share it, and how that changes while it serves.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use oxmcp_proto::{EntryId, Error, ErrorKind, Keyring, Kind, Registry, RegistryError, Target};
use serde::Serialize;

use super::offer::{Completions, Offer, Parts, noun};
use crate::driver::Link;
use crate::handler::{Entry, Handler};

/// Who is told of the URI of a resource that has other contents.
pub(crate) type OnUpdate = dyn Fn(&str) + Send + Sync;

/// Connections, and some that are gone. Each new one looks after a few of the others, so that none costs more the more
/// there are.
#[derive(Default)]
struct Links {
    all: Vec<Weak<Link>>,
    next: usize,
}

impl Links {
    fn add(&mut self, link: &Arc<Link>) {
        const LOOKED_AT: usize = 4;
        for _ in 0..LOOKED_AT.min(self.all.len()) {
            self.next %= self.all.len();
            if self.all[self.next].strong_count() > 0 {
                self.next += 1;
            } else {
                self.all.swap_remove(self.next);
                if self.all.is_empty() {
                    break;
                }
            }
        }
        self.all.push(Arc::downgrade(link));
    }
}

/// The part of a server that its clones and connections share.
#[derive(Default)]
pub(super) struct Shared {
    pub registry: Arc<Registry>,
    /// Locked before the registry where both change, so that nothing is shown whose handler is not there.
    handlers: RwLock<Handlers>,
    /// The connections that are served.
    links: Mutex<Links>,
    /// Who is told of updates of resources beside them.
    on_update: Mutex<Vec<Weak<OnUpdate>>>,
    /// What `requestState` is sealed with unless the program gives keys.
    pub state_keys: OnceLock<Keyring>,
}

#[derive(Default)]
struct Handlers {
    /// By kind, in the order of the registry's numbers. Removed entries leave a gap.
    entries: [Vec<Option<Arc<Offering>>>; 4],
    methods: HashMap<Box<str>, Arc<Entry>>,
}

struct Offering {
    key: Box<str>,
    entry: Arc<Entry>,
    completions: HashMap<Box<str>, Arc<Entry>>,
}

impl Offering {
    fn new(kind: Kind, key: &str, run: Handler, completions: Completions) -> Self {
        let label = format!("the {} {key}", noun(kind));
        let completions = completions.into_iter().map(|(argument, run)| {
            let label = format!("the completion of `{argument}` of {label}").into();
            (argument.into(), Arc::new(Entry { label, run }))
        });
        Self {
            key: key.into(),
            completions: completions.collect(),
            entry: Arc::new(Entry {
                label: label.into(),
                run,
            }),
        }
    }
}

impl Shared {
    /// The handler of a call; `None` when it was removed meanwhile. `argument` is what is completed.
    pub(super) fn handler(&self, target: &Target, argument: impl FnOnce() -> Option<String>) -> Option<Arc<Entry>> {
        let handlers = self.read();
        let offering = |kind: Kind, id: EntryId| handlers.entries[kind as usize].get(id)?.as_ref();
        let completer = |kind, id| offering(kind, id)?.completions.get(&*argument()?).cloned();
        match target {
            Target::Tool(id) => offering(Kind::Tool, *id).map(|it| Arc::clone(&it.entry)),
            Target::Resource(id) => offering(Kind::Resource, *id).map(|it| Arc::clone(&it.entry)),
            Target::Template(id) => offering(Kind::Template, *id).map(|it| Arc::clone(&it.entry)),
            Target::Prompt(id) => offering(Kind::Prompt, *id).map(|it| Arc::clone(&it.entry)),
            Target::PromptCompletion(id) => completer(Kind::Prompt, *id),
            Target::TemplateCompletion(id) => completer(Kind::Template, *id),
            Target::Method(name) => handlers.methods.get(name).cloned(),
        }
    }

    pub(super) fn add(self: &Arc<Self>, offer: impl Offer) -> Result<Offered, Error> {
        let parts = offer.into_parts()?;
        let (kind, mut handlers) = (parts.kind, self.write());
        let id = self.registry.add(kind, &parts.key).map_err(refused)?;
        if let Err(error) = self.describe(id, &parts) {
            self.registry.remove(kind, id);
            return Err(refused(error));
        }
        let offering = Offering::new(kind, &parts.key, parts.run, parts.completions);
        let table = &mut handlers.entries[kind as usize];
        table.resize_with(table.len().max(id + 1), || None);
        table[id] = Some(Arc::new(offering));
        drop(handlers);
        Ok(self.offered(kind, id))
    }

    fn describe(&self, id: EntryId, parts: &Parts) -> Result<(), RegistryError> {
        self.registry.describe(parts.kind, id, &parts.descriptor)?;
        if parts.kind == Kind::Tool {
            self.registry.set_checks(id, parts.checks)?;
        }
        if !parts.completions.is_empty() {
            self.registry.set_completes(parts.kind, id)?;
        }
        Ok(())
    }

    /// Completes an argument of a prompt, or a variable of a template, that is offered.
    pub(super) fn add_completion(&self, key: &str, argument: &str, run: Handler) -> Result<(), Error> {
        let mut handlers = self.write();
        for kind in [Kind::Prompt, Kind::Template] {
            let table = &mut handlers.entries[kind as usize];
            let found = table
                .iter()
                .position(|it| it.as_ref().is_some_and(|it| *it.key == *key));
            let Some(id) = found else { continue };
            if let Some(offering) = &mut table[id] {
                let label = format!("the completion of `{argument}` of {}", offering.entry.label).into();
                let mut completions = offering.completions.clone();
                completions.insert(argument.into(), Arc::new(Entry { label, run }));
                *offering = Arc::new(Offering {
                    key: offering.key.clone(),
                    entry: Arc::clone(&offering.entry),
                    completions,
                });
            }
            return self.registry.set_completes(kind, id).map_err(refused);
        }
        let message =
            format!("there is no prompt and no resource template {key} to complete `{argument}` of; add it first");
        Err(Error::new(ErrorKind::Usage, message))
    }

    pub(super) fn add_method(&self, name: &str, extension: Option<&str>, run: Handler) -> Result<(), Error> {
        let mut handlers = self.write();
        self.registry.add_method(name, extension).map_err(refused)?;
        let label = format!("the method {name}").into();
        handlers.methods.insert(name.into(), Arc::new(Entry { label, run }));
        Ok(())
    }

    /// Returns once an offer that is being added is there as a whole.
    pub(super) fn wait_for_changes(&self) {
        drop(self.read());
    }

    fn offered(self: &Arc<Self>, kind: Kind, id: EntryId) -> Offered {
        Offered {
            shared: Arc::clone(self),
            kind,
            id,
        }
    }

    /// The keys of all entries of a kind, hidden ones too.
    pub(super) fn keys(&self, kind: Kind) -> Vec<String> {
        let handlers = self.read();
        let keys = handlers.entries[kind as usize].iter().flatten();
        keys.map(|offering| offering.key.to_string()).collect()
    }

    pub(super) fn connected(&self, link: &Arc<Link>) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.add(link);
    }

    fn links(&self) -> Vec<Arc<Link>> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.all.iter().filter_map(Weak::upgrade).collect()
    }

    #[cfg(feature = "http")]
    pub(super) fn on_update(&self, told: Weak<OnUpdate>) {
        let mut all = self.on_update.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|told| told.strong_count() > 0);
        all.push(told);
    }

    fn updated(&self, uri: &str) {
        let all = self.on_update.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<_> = all.iter().filter_map(Weak::upgrade).collect();
        for told in all {
            told(uri);
        }
    }

    // A panic elsewhere while the lock was held left whole entries.
    fn read(&self) -> RwLockReadGuard<'_, Handlers> {
        self.handlers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Handlers> {
        self.handlers.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(error: RegistryError) -> Error {
    Error::new(ErrorKind::Usage, error.to_string())
}

/// What a server offers, to be changed while it serves, from [`Server::offers`](crate::Server::offers). Clones
/// are the same.
///
/// Clients are told of changes by themselves, once for all changes of a moment.
///
/// ```
/// use oxmcp::{Context, NoArguments, Server, ToolOffer};
///
/// let server = Server::new("demo", "1.0");
/// let offers = server.offers();
/// let tool = offers.add(ToolOffer::new("now", "Tells the time.", |_: Context, _: NoArguments| async { Ok("noon") }))?;
/// assert!(tool.disable());
/// assert!(tool.enable());
/// assert!(offers.tool("now").is_some());
/// assert!(tool.remove());
/// assert!(offers.tool("now").is_none());
/// # Ok::<(), oxmcp::Error>(())
/// ```
#[derive(Clone)]
pub struct Offers {
    pub(super) shared: Arc<Shared>,
}

impl Offers {
    /// Adds a tool, a resource, a resource template or a prompt. Lists keep the order of addition.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when the name, URI or template is empty, taken, or none.
    pub fn add(&self, offer: impl Offer) -> Result<Offered, Error> {
        self.shared.add(offer)
    }

    /// The tool of this name, hidden or not.
    pub fn tool(&self, name: &str) -> Option<Offered> {
        self.find(Kind::Tool, name)
    }

    /// The resource of this URI.
    pub fn resource(&self, uri: &str) -> Option<Offered> {
        self.find(Kind::Resource, uri)
    }

    /// The resource template with this pattern.
    pub fn resource_template(&self, uri_template: &str) -> Option<Offered> {
        self.find(Kind::Template, uri_template)
    }

    /// The prompt of this name.
    pub fn prompt(&self, name: &str) -> Option<Offered> {
        self.find(Kind::Prompt, name)
    }

    /// Sets how many entries a page of a list has at most; all of them unless set.
    pub fn set_page_size(&self, size: Option<NonZeroUsize>) {
        self.shared.registry.set_page_size(size);
    }

    /// A resource has other contents now: tells the clients that subscribed to it. False when none did, or the
    /// server was built without [`subscriptions`](crate::Server::subscriptions).
    pub fn resource_updated(&self, uri: &str) -> bool {
        let mut told = false;
        for link in self.shared.links() {
            told |= link.resource_updated(uri).unwrap_or(false);
        }
        self.shared.updated(uri);
        told
    }

    /// Sends a notification to every client that is connected by a handshake.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when `params` is no object.
    pub fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Error> {
        let params = crate::types::object(&params, &format!("the params of {method}"))?;
        for link in self.shared.links() {
            // One that is gone, or not there yet, wants to know nothing.
            let _ = link.notify(method, params.as_ref().map(|json| json.get()));
        }
        Ok(())
    }

    fn find(&self, kind: Kind, key: &str) -> Option<Offered> {
        let handlers = self.shared.read();
        let mut entries = handlers.entries[kind as usize].iter();
        let id = entries.position(|it| it.as_ref().is_some_and(|it| *it.key == *key))?;
        Some(self.shared.offered(kind, id))
    }
}

impl fmt::Debug for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut offers = f.debug_struct("Offers");
        for kind in Kind::ALL {
            offers.field(noun(kind), &self.shared.keys(kind));
        }
        offers.finish()
    }
}

/// One thing that a server offers, from [`Offers`].
#[derive(Clone)]
pub struct Offered {
    shared: Arc<Shared>,
    kind: Kind,
    id: EntryId,
}

impl Offered {
    /// Takes it away. Calls of it that run go on. False when it was gone already.
    pub fn remove(&self) -> bool {
        let mut handlers = self.shared.write();
        handlers.entries[self.kind as usize][self.id] = None;
        self.shared.registry.remove(self.kind, self.id)
    }

    /// Shows it again. False when that changed nothing.
    pub fn enable(&self) -> bool {
        self.shared.registry.set_enabled(self.kind, self.id, true)
    }

    /// Hides it: it is in no list, and cannot be called. False when that changed nothing.
    pub fn disable(&self) -> bool {
        self.shared.registry.set_enabled(self.kind, self.id, false)
    }

    /// Puts another offer of the same kind and name in its place.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when the kind or the name is another, or this one was removed.
    ///
    /// ```
    /// use oxmcp::{Context, ResourceOffer, Server};
    ///
    /// let offers = Server::new("demo", "1.0").offers();
    /// let motto = |text: &'static str| {
    ///     ResourceOffer::new("app://motto", "motto", move |_: Context| async move { Ok(text) })
    /// };
    /// let offered = offers.add(motto("Less is more."))?;
    /// offered.replace(motto("More is different."))?;
    /// # Ok::<(), oxmcp::Error>(())
    /// ```
    pub fn replace(&self, offer: impl Offer) -> Result<(), Error> {
        let parts = offer.into_parts()?;
        if parts.kind != self.kind {
            let message = format!("a {} cannot take the place of a {}", noun(parts.kind), noun(self.kind));
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let mut handlers = self.shared.write();
        self.shared.describe(self.id, &parts).map_err(refused)?;
        let offering = Offering::new(self.kind, &parts.key, parts.run, parts.completions);
        handlers.entries[self.kind as usize][self.id] = Some(Arc::new(offering));
        Ok(())
    }
}

impl fmt::Debug for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.shared.registry.key(self.kind, self.id);
        f.debug_struct("Offered")
            .field("kind", &noun(self.kind))
            .field("key", &key)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use oxmcp_proto::{Config, Implementation, Session};

    use super::*;

    #[test]
    fn connections_that_are_gone_are_forgotten_while_others_come() {
        let link = || {
            let config = Config::new(Implementation::new("test", "1"));
            Link::new(Session::server(config, Arc::default()))
        };
        let mut links = Links::default();
        let kept: Vec<_> = (0..10).map(|_| link()).collect();
        for index in 0..1000 {
            links.add(&link());
            if let Some(kept) = kept.get(index) {
                links.add(kept);
            }
        }
        assert!(links.all.len() < 30, "{}", links.all.len());
        let alive = links.all.iter().filter_map(Weak::upgrade).count();
        assert_eq!(alive, kept.len());
    }
}
