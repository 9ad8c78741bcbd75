//! What a server offers, by kind and by name, and how it may change while it serves.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::value::RawValue;

use super::table::{Entry, Table};
use crate::jsonrpc::Json;
use crate::schema::LazySchema;
use crate::uri_template::UriValue;

/// How a host answers a request of the protocol itself: see [`Registry::take_over`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeOver {
    /// In place of the registry.
    Replace,
    /// For lists: what the host gives follows what the registry has.
    Extend,
}

/// An entry of a registry. Each kind counts from zero, and no number is given twice, so bindings may
/// keep their handlers in a table of the same order.
pub type EntryId = usize;

/// The kinds of things that a server offers by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Called by `tools/call`; its key is its `name`.
    Tool,
    /// Read by `resources/read`; its key is its `uri`.
    Resource,
    /// A family of resources; its key is its `uriTemplate` (RFC 6570).
    Template,
    /// Fetched by `prompts/get`; its key is its `name`.
    Prompt,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// The name bindings know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The member of a descriptor that is the entry's key.
    pub(crate) const fn identity(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    /// The request for a list.
    pub(crate) const fn list_method(self) -> &'static str {
        match self {
            Self::Tool => "tools/list",
            Self::Resource => "resources/list",
            Self::Template => "resources/templates/list",
            Self::Prompt => "prompts/list",
        }
    }

    /// The member of a list's result that holds the entries.
    pub(crate) const fn list(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Prompt => "prompts",
        }
    }

    /// The notification that says that a list is another one now.
    pub const fn changed(self) -> &'static str {
        match self {
            Self::Tool => "notifications/tools/list_changed",
            Self::Resource | Self::Template => "notifications/resources/list_changed",
            Self::Prompt => "notifications/prompts/list_changed",
        }
    }
}

/// Which of a tool's schemas the core checks, for hosts that have no checks of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Arguments against `inputSchema`, before the tool runs.
    pub input: bool,
    /// `structuredContent` against `outputSchema`, before the result is sent.
    pub output: bool,
}

/// What a server offers. One registry may serve many sessions at once, and may change while it does:
/// every session tells its peer once per turn that a list changed.
///
/// An entry may be added by its key alone and described later: a host whose schemas are costly to make
/// answers `initialize` first, and describes its tools when a peer first asks for them (see
/// [`Output::Describe`](crate::Output::Describe)).
///
/// ```
/// use oxmcp_proto::{Kind, Registry};
/// use oxmcp_proto::jsonrpc::json;
///
/// let registry = Registry::new();
/// let add = registry.add(Kind::Tool, "add")?;
/// assert!(!registry.is_described(Kind::Tool));
/// registry.describe(Kind::Tool, add, &json(r#"{"name":"add","inputSchema":{"type":"object"}}"#)?)?;
/// assert!(registry.is_described(Kind::Tool));
/// registry.set_enabled(Kind::Tool, add, false);
/// assert_eq!(registry.find(Kind::Tool, "add"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Registry {
    inner: RwLock<Inner>,
    /// Counts the changes a peer can see, over all kinds.
    changes: AtomicU64,
    /// Whether the host took any request over, or did: most never do, and need not be looked for.
    takes_over: AtomicBool,
    watchers: Arc<Watchers>,
}

#[derive(Debug)]
struct Inner {
    tables: [Table; 4],
    /// Counts the changes a peer can see, by kind.
    versions: [u64; 4],
    methods: HashMap<Box<str>, Option<Box<str>>>,
    taken_over: HashMap<Box<str>, TakeOver>,
    page_size: Option<NonZeroUsize>,
}

/// Why an entry cannot be added or described.
#[derive(Debug, PartialEq, Eq)]
pub enum RegistryError {
    /// Two entries of one key.
    Duplicate(Kind, Box<str>),
    /// The key is empty.
    NoKey(Kind),
    /// The key of a template is none; the text says where.
    BadTemplate(Box<str>, String),
    /// The descriptor is not one of the specification; the text says where.
    BadDescriptor(Kind, Box<str>, String),
    /// The entry was removed, or never was.
    Gone(Kind),
    /// A method of the protocol itself, or one that is there already.
    Method(Box<str>),
    /// A method that the host cannot answer in this way.
    NotTaken(Box<str>, TakeOver),
}

impl std::fmt::Display for RegistryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Duplicate(kind, key) => write!(
                f,
                "a {} with the {} \"{key}\" exists already; each is unique in a server",
                kind.name(),
                kind.identity()
            ),
            Self::NoKey(kind) => write!(f, "a {} needs a {} that is not empty", kind.name(), kind.identity()),
            Self::BadTemplate(key, what) => write!(f, "the URI template \"{key}\": {what}"),
            Self::BadDescriptor(kind, key, what) => write!(f, "the descriptor of {} \"{key}\": {what}", kind.name()),
            Self::Gone(kind) => write!(f, "there is no such {}; it may have been removed", kind.name()),
            Self::Method(name) => write!(
                f,
                "the method \"{name}\" is taken, by the protocol or by an earlier addition"
            ),
            Self::NotTaken(name, TakeOver::Replace) => {
                write!(
                    f,
                    "\"{name}\" cannot be taken over; that can be: {}",
                    TAKEN_OVER.join(", ")
                )
            }
            Self::NotTaken(name, TakeOver::Extend) => write!(f, "\"{name}\" is no list, and cannot be extended"),
        }
    }
}

impl std::error::Error for RegistryError {}

/// A cursor that was never given out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageError;

/// What a URI names.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    Resource(EntryId),
    Template(EntryId, Vec<(String, UriValue)>),
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self {
            inner: RwLock::new(Inner {
                tables: Kind::ALL.map(Table::new),
                versions: [0; 4],
                methods: HashMap::new(),
                taken_over: HashMap::new(),
                page_size: None,
            }),
            changes: AtomicU64::new(0),
            takes_over: AtomicBool::new(false),
            watchers: Arc::default(),
        }
    }

    /// Adds an entry that is described later. Lists keep the order of addition.
    ///
    /// # Errors
    /// When the key is empty or taken, or is no URI template where it should be one.
    pub fn add(&self, kind: Kind, key: &str) -> Result<EntryId, RegistryError> {
        self.change(kind, |inner| inner.table_mut(kind).add(key).map(|id| (id, true)))
    }

    /// Adds an entry with its descriptor, in one step: no list ever shows the one without the other.
    ///
    /// # Errors
    /// As for [`add`](Self::add) and [`describe`](Self::describe); then nothing was added.
    pub fn add_described(&self, kind: Kind, key: &str, descriptor: &RawValue) -> Result<EntryId, RegistryError> {
        self.add_checked(kind, key, descriptor, Checks::default())
    }

    /// The same for a tool whose schemas the core checks.
    pub(crate) fn add_checked(
        &self,
        kind: Kind,
        key: &str,
        descriptor: &RawValue,
        checks: Checks,
    ) -> Result<EntryId, RegistryError> {
        self.check(kind, key, descriptor)?;
        self.change(kind, |inner| {
            let table = inner.table_mut(kind);
            let id = table.add(key)?;
            if let Some(entry) = table.get_mut(id) {
                entry.checks = checks;
            }
            if let Err(error) = table.describe(id, descriptor) {
                table.remove(id);
                return Err(error);
            }
            Ok((id, true))
        })
    }

    /// Whether a descriptor could be that of an entry.
    ///
    /// # Errors
    /// As for [`describe`](Self::describe).
    pub fn check(&self, kind: Kind, key: &str, descriptor: &RawValue) -> Result<(), RegistryError> {
        let checked = super::descriptor::read(kind, key, descriptor);
        checked
            .map(drop)
            .map_err(|what| RegistryError::BadDescriptor(kind, key.into(), what))
    }

    /// Sets or replaces what lists say of an entry: an object of the specification (`Tool`, `Resource`,
    /// `ResourceTemplate`, `Prompt`), kept as it is. Its place in the list stays.
    ///
    /// # Errors
    /// When it is no object, has another key, lacks what its kind must have, or the entry is gone.
    pub fn describe(&self, kind: Kind, id: EntryId, descriptor: &RawValue) -> Result<(), RegistryError> {
        // No list was shown without the first description, so that one is no change to a peer.
        self.change(kind, |inner| Ok(((), !inner.table_mut(kind).describe(id, descriptor)?)))
    }

    /// Removes an entry. Calls of it that run go on. False when there was none.
    pub fn remove(&self, kind: Kind, id: EntryId) -> bool {
        self.change_if(kind, |inner| inner.table_mut(kind).remove(id))
    }

    /// Shows or hides an entry: a hidden one is in no list, and cannot be called. False when that
    /// changed nothing.
    pub fn set_enabled(&self, kind: Kind, id: EntryId, enabled: bool) -> bool {
        self.change_if(kind, |inner| inner.table_mut(kind).set_enabled(id, enabled))
    }

    /// Which of a tool's schemas the core checks. They are compiled when they are known.
    ///
    /// # Errors
    /// When there is no such tool, or one of its schemas cannot be used.
    pub fn set_checks(&self, tool: EntryId, checks: Checks) -> Result<(), RegistryError> {
        let mut inner = self.write();
        let entry = inner.table_mut(Kind::Tool).get_mut(tool);
        let entry = entry.ok_or(RegistryError::Gone(Kind::Tool))?;
        let bad = |what| RegistryError::BadDescriptor(Kind::Tool, entry.key.clone(), what);
        entry.facts.compile(checks).map_err(bad)?;
        entry.checks = checks;
        Ok(())
    }

    /// Says that a handler completes the arguments of a prompt, or the variables of a template. With
    /// the first one the server declares the capability `completions`.
    ///
    /// # Errors
    /// When there is no such entry.
    pub fn set_completes(&self, kind: Kind, id: EntryId) -> Result<(), RegistryError> {
        self.write().table_mut(kind).set_completes(id)
    }

    /// Adds a method of the user's own, which arrives as
    /// [`Target::Method`](crate::Target::Method). With an `extension`, it is there for peers that
    /// declared the extension of this identifier only.
    ///
    /// # Errors
    /// When the protocol has a method of this name, or it was added before.
    pub fn add_method(&self, name: &str, extension: Option<&str>) -> Result<(), RegistryError> {
        let mut inner = self.write();
        if name.is_empty() || is_reserved(name) || inner.methods.contains_key(name) {
            return Err(RegistryError::Method(name.into()));
        }
        inner.methods.insert(name.into(), extension.map(Into::into));
        Ok(())
    }

    /// Lets the host answer a request of the protocol itself: it arrives as
    /// [`Target::Method`](crate::Target::Method), with its params as they came. `None` gives it back to the registry.
    ///
    /// What the session must know of a request it learns all the same: the level of `logging/setLevel`, and who
    /// subscribed to what. A request that the server does not declare stays unknown to peers.
    ///
    /// `notifications/initialized` can be taken over as well: then it is handed to the host, as other notifications are.
    ///
    /// Of a list that is extended, the host's part (`{"resources":[…]}`) comes at the end of the last page. So a server
    /// can list resources that it finds when it is asked, and that resolve by a template.
    ///
    /// # Errors
    /// When the method is none of those that the registry answers, or is to be extended and is no list.
    pub fn take_over(&self, method: &str, how: Option<TakeOver>) -> Result<(), RegistryError> {
        let wrong = |how| RegistryError::NotTaken(method.into(), how);
        let is_list = Kind::ALL.iter().any(|kind| kind.list_method() == method);
        if how == Some(TakeOver::Extend) && !is_list {
            return Err(wrong(TakeOver::Extend));
        }
        if !TAKEN_OVER.contains(&method) {
            return Err(wrong(TakeOver::Replace));
        }
        let mut inner = self.write();
        match how {
            Some(how) => inner.taken_over.insert(method.into(), how),
            None => inner.taken_over.remove(method),
        };
        self.takes_over.store(true, Ordering::Release);
        Ok(())
    }

    /// How many entries a page of a list has at most; all of them where absent.
    pub fn set_page_size(&self, size: Option<NonZeroUsize>) {
        let mut inner = self.write();
        inner.page_size = size;
        for table in &mut inner.tables {
            table.forget_pages();
        }
    }

    /// Whether every entry of a kind has its descriptor.
    pub fn is_described(&self, kind: Kind) -> bool {
        self.read().table(kind).is_described()
    }

    /// Whether there is any entry of a kind, or was one, and whether all have their descriptors.
    pub(crate) fn state(&self, kind: Kind) -> (bool, bool) {
        let inner = self.read();
        let table = inner.table(kind);
        (!table.was_never_used(), table.is_described())
    }

    /// Whether there is any entry of a kind, or was one: then the server declares its capability.
    pub fn has(&self, kind: Kind) -> bool {
        !self.read().table(kind).was_never_used()
    }

    /// The entry of this key, unless it is hidden.
    pub fn find(&self, kind: Kind, key: &str) -> Option<EntryId> {
        self.read().table(kind).find(key)
    }

    /// The key of an entry.
    pub fn key(&self, kind: Kind, id: EntryId) -> Option<Box<str>> {
        self.entry(kind, id, |entry| entry.key.clone())
    }

    /// The descriptor of an entry.
    pub fn descriptor(&self, kind: Kind, id: EntryId) -> Option<Json> {
        self.entry(kind, id, |entry| entry.descriptor.clone()).flatten()
    }

    /// Calls `wake` after each change that peers can see, from the thread that made it, for drivers
    /// that must not wait for the next input. Lasts as long as the value it gives.
    pub fn watch(&self, wake: impl Fn() + Send + Sync + 'static) -> Watch {
        let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(wake);
        let mut watchers = lock(&self.watchers.0);
        let number = watchers.next;
        watchers.next += 1;
        watchers.all.push((number, wake));
        Watch {
            watchers: Arc::clone(&self.watchers),
            number,
        }
    }

    /// Grows with each change a peer can see.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The changes by kind, in the order of [`Kind::ALL`].
    pub fn versions(&self) -> [u64; 4] {
        self.read().versions
    }

    /// What the registry answers to the request for a list, for hosts that took it over and add to it or take from
    /// it. Entries without descriptor are left out. `None` for a cursor that was never given out.
    pub fn list(&self, kind: Kind, cursor: Option<&str>) -> Option<Arc<str>> {
        self.page(kind, cursor, false).ok()
    }

    /// The result of a list, from `cursor` on; `older` for revisions with a handshake. Entries without descriptor are
    /// left out.
    pub(crate) fn page(&self, kind: Kind, cursor: Option<&str>, older: bool) -> Result<Arc<str>, PageError> {
        // Only a tool can be shown in two ways.
        let older = older && kind == Kind::Tool;
        if let Some(page) = self.read().table(kind).ready_page(cursor, older)? {
            return Ok(page);
        }
        let mut inner = self.write();
        let size = inner.page_size;
        inner.table_mut(kind).make_page(cursor, size, older)
    }

    /// What a URI names: a resource of this very URI, or the first template that it fits.
    pub(crate) fn resolve(&self, uri: &str) -> Option<Found> {
        let inner = self.read();
        if let Some(id) = inner.table(Kind::Resource).find(uri) {
            return Some(Found::Resource(id));
        }
        inner.table(Kind::Template).enabled().find_map(|(id, entry)| {
            let variables = entry.template.as_ref()?.matches(uri)?;
            Some(Found::Template(id, variables))
        })
    }

    /// The prompt's arguments that must be given.
    pub(crate) fn required_arguments(&self, prompt: EntryId) -> Vec<Box<str>> {
        self.entry(Kind::Prompt, prompt, |entry| entry.facts.required.clone())
            .unwrap_or_default()
    }

    /// The tool of this name, with the schema that the core is to check arguments against.
    pub(crate) fn find_tool(&self, name: &str) -> Option<(EntryId, Option<Arc<LazySchema>>)> {
        let inner = self.read();
        let table = inner.table(Kind::Tool);
        let id = table.find(name)?;
        let entry = table.get(id).filter(|entry| entry.checks.input);
        Some((id, entry.and_then(|entry| entry.facts.input.clone())))
    }

    /// The schema that the core is to check a tool's structured content against.
    pub(crate) fn output_check(&self, tool: EntryId) -> Option<Arc<LazySchema>> {
        let pick = |entry: &Entry| entry.facts.output.clone().filter(|_| entry.checks.output);
        self.entry(Kind::Tool, tool, pick).flatten()
    }

    /// Whether a handler completes for this entry.
    pub(crate) fn completes(&self, kind: Kind, id: EntryId) -> bool {
        self.entry(kind, id, |entry| entry.completes).unwrap_or(false)
    }

    /// Whether a handler completes for any entry, or did.
    pub(crate) fn has_completions(&self) -> bool {
        let inner = self.read();
        inner.table(Kind::Prompt).has_completions() || inner.table(Kind::Template).has_completions()
    }

    /// How the host answers this request of the protocol, if it does.
    pub(crate) fn taken_over(&self, method: &str) -> Option<TakeOver> {
        match self.takes_over.load(Ordering::Acquire) {
            true => self.read().taken_over.get(method).copied(),
            false => None,
        }
    }

    /// The extension that a method of the user's needs; `None` when there is no such method.
    pub(crate) fn method(&self, name: &str) -> Option<Option<Box<str>>> {
        self.read().methods.get(name).cloned()
    }

    fn entry<T>(&self, kind: Kind, id: EntryId, pick: impl FnOnce(&Entry) -> T) -> Option<T> {
        self.read().table(kind).get(id).map(pick)
    }

    /// Makes a change. One that a peer can see is counted, and wakes who waits for it, after the lock
    /// is free.
    fn change<T>(
        &self,
        kind: Kind,
        change: impl FnOnce(&mut Inner) -> Result<(T, bool), RegistryError>,
    ) -> Result<T, RegistryError> {
        let mut inner = self.write();
        let (value, shows) = change(&mut inner)?;
        inner.versions[kind as usize] += u64::from(shows);
        drop(inner);
        if shows {
            self.changes.fetch_add(1, Ordering::Release);
            self.watchers.wake();
        }
        Ok(value)
    }

    fn change_if(&self, kind: Kind, change: impl FnOnce(&mut Inner) -> bool) -> bool {
        let changed = self.change(kind, |inner| {
            let changed = change(inner);
            Ok((changed, changed))
        });
        changed.unwrap_or(false)
    }

    // A panic elsewhere while the lock was held left whole entries: every change is a few inserts
    // that do not panic.
    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn table(&self, kind: Kind) -> &Table {
        &self.tables[kind as usize]
    }

    fn table_mut(&mut self, kind: Kind) -> &mut Table {
        &mut self.tables[kind as usize]
    }
}

/// The requests that the registry answers, which a host may take over; and a notification that the session keeps to
/// itself otherwise.
const TAKEN_OVER: [&str; 12] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "notifications/initialized",
];

/// Methods of the protocol itself, of any revision, and what looks like one.
fn is_reserved(name: &str) -> bool {
    const SPACES: [&str; 10] = [
        "completion/",
        "elicitation/",
        "logging/",
        "notifications/",
        "prompts/",
        "resources/",
        "roots/",
        "sampling/",
        "subscriptions/",
        "tools/",
    ];
    matches!(name, "initialize" | "ping" | "server/discover") || SPACES.iter().any(|space| name.starts_with(space))
}

#[derive(Default)]
struct Watchers(Mutex<WatcherList>);

#[derive(Default)]
struct WatcherList {
    next: u64,
    all: Vec<(u64, Arc<dyn Fn() + Send + Sync>)>,
}

impl Watchers {
    fn wake(&self) {
        // Host code runs without the lock: it may watch, or stop to.
        let all: Vec<_> = lock(&self.0).all.iter().map(|(_, wake)| Arc::clone(wake)).collect();
        for wake in all {
            wake();
        }
    }
}

impl std::fmt::Debug for Watchers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} watchers", lock(&self.0).all.len())
    }
}

/// Keeps [`Registry::watch`] going; dropping it ends it.
#[derive(Debug)]
#[must_use = "the watch ends when this is dropped"]
pub struct Watch {
    watchers: Arc<Watchers>,
    number: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&self.watchers.0).all.retain(|(number, _)| *number != self.number);
    }
}

fn lock(list: &Mutex<WatcherList>) -> std::sync::MutexGuard<'_, WatcherList> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
