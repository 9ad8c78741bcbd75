//! The entries of one kind, in the order they were added, with their lists kept ready.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::Arc;

use foldhash::HashMap;
use serde_json::value::RawValue;

use super::descriptor::{self, Facts};
use super::page::{cursor, read_cursor};
use super::{Checks, EntryId, Kind, PageError, RegistryError};
use crate::jsonrpc::{Json, ObjectWriter};
use crate::uri_template::UriTemplate;

/// How many pages are kept ready. A list of more is made page by page.
const KEPT_PAGES: usize = 64;

#[derive(Debug)]
pub(super) struct Table {
    kind: Kind,
    entries: BTreeMap<EntryId, Entry>,
    by_key: HashMap<Box<str>, EntryId>,
    next: EntryId,
    undescribed: usize,
    /// Whether a handler completes for any entry, or did.
    completes: bool,
    /// Results of lists by where they begin, and whether they are those for revisions with a handshake; emptied by
    /// every change that shows.
    pages: HashMap<(Option<EntryId>, bool), Arc<str>>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub key: Box<str>,
    pub enabled: bool,
    pub descriptor: Option<Json>,
    pub facts: Facts,
    pub checks: Checks,
    pub completes: bool,
    /// Templates: the key, parsed.
    pub template: Option<UriTemplate>,
}

impl Entry {
    /// What a list shows; `older` for revisions with a handshake.
    fn shown(&self, older: bool) -> Option<&str> {
        let other = self.facts.older.as_ref().filter(|_| older);
        other.or(self.descriptor.as_ref()).map(|descriptor| descriptor.get())
    }
}

impl Table {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            entries: BTreeMap::new(),
            by_key: HashMap::default(),
            next: 0,
            undescribed: 0,
            completes: false,
            pages: HashMap::default(),
        }
    }

    /// Whether there is no entry and never was one.
    pub(super) fn was_never_used(&self) -> bool {
        self.next == 0
    }

    pub(super) fn has_completions(&self) -> bool {
        self.completes
    }

    pub(super) fn set_completes(&mut self, id: EntryId) -> Result<(), RegistryError> {
        self.entries
            .get_mut(&id)
            .ok_or(RegistryError::Gone(self.kind))?
            .completes = true;
        self.completes = true;
        Ok(())
    }

    pub(super) fn is_described(&self) -> bool {
        self.undescribed == 0
    }

    pub(super) fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: EntryId) -> Option<&mut Entry> {
        self.entries.get_mut(&id)
    }

    /// The entry of this key, unless it is disabled.
    pub(super) fn find(&self, key: &str) -> Option<EntryId> {
        let id = *self.by_key.get(key)?;
        self.entries.get(&id).filter(|entry| entry.enabled)?;
        Some(id)
    }

    /// Those that a peer may see, in order.
    pub(super) fn enabled(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.enabled)
            .map(|(id, entry)| (*id, entry))
    }

    pub(super) fn add(&mut self, key: &str) -> Result<EntryId, RegistryError> {
        if key.is_empty() {
            return Err(RegistryError::NoKey(self.kind));
        }
        if self.by_key.contains_key(key) {
            return Err(RegistryError::Duplicate(self.kind, key.into()));
        }
        let template = match self.kind {
            Kind::Template => Some(
                UriTemplate::parse(key).map_err(|error| RegistryError::BadTemplate(key.into(), error.to_string()))?,
            ),
            Kind::Tool | Kind::Resource | Kind::Prompt => None,
        };
        let id = self.next;
        self.next += 1;
        self.by_key.insert(key.into(), id);
        let entry = Entry {
            key: key.into(),
            enabled: true,
            descriptor: None,
            facts: Facts::default(),
            checks: Checks::default(),
            completes: false,
            template,
        };
        self.entries.insert(id, entry);
        self.undescribed += 1;
        self.pages.clear();
        Ok(id)
    }

    /// Sets or replaces what lists say of an entry. True when it had no descriptor before.
    pub(super) fn describe(&mut self, id: EntryId, descriptor: &RawValue) -> Result<bool, RegistryError> {
        let entry = self.entries.get_mut(&id).ok_or(RegistryError::Gone(self.kind))?;
        let bad = |what| RegistryError::BadDescriptor(self.kind, entry.key.clone(), what);
        let facts = descriptor::read(self.kind, &entry.key, descriptor).map_err(bad)?;
        facts.compile(entry.checks).map_err(bad)?;
        entry.facts = facts;
        let first = entry.descriptor.replace(descriptor.to_owned()).is_none();
        self.undescribed -= usize::from(first);
        self.pages.clear();
        Ok(first)
    }

    pub(super) fn remove(&mut self, id: EntryId) -> bool {
        let Some(entry) = self.entries.remove(&id) else {
            return false;
        };
        self.by_key.remove(&entry.key);
        self.undescribed -= usize::from(entry.descriptor.is_none());
        self.pages.clear();
        true
    }

    /// Shows or hides an entry. True when that changed something.
    pub(super) fn set_enabled(&mut self, id: EntryId, enabled: bool) -> bool {
        let Some(entry) = self.entries.get_mut(&id).filter(|entry| entry.enabled != enabled) else {
            return false;
        };
        entry.enabled = enabled;
        self.pages.clear();
        true
    }

    pub(super) fn forget_pages(&mut self) {
        self.pages.clear();
    }

    /// The page that begins after a cursor, if it is ready; else `None`, or an error for a cursor
    /// that was never given out.
    pub(super) fn ready_page(&self, from: Option<&str>, older: bool) -> Result<Option<Arc<str>>, PageError> {
        Ok(self.pages.get(&(self.start(from)?, older)).cloned())
    }

    /// Makes the page that begins after a cursor.
    pub(super) fn make_page(
        &mut self,
        from: Option<&str>,
        size: Option<NonZeroUsize>,
        older: bool,
    ) -> Result<Arc<str>, PageError> {
        let start = self.start(from)?;
        let after = start.map_or(Bound::Unbounded, Bound::Excluded);
        let mut shown = self
            .entries
            .range((after, Bound::Unbounded))
            .filter(|(_, entry)| entry.enabled)
            .filter_map(|(id, entry)| Some((*id, entry.shown(older)?)));
        let mut items = String::from("[");
        let mut last = None;
        for (id, descriptor) in shown.by_ref().take(size.map_or(usize::MAX, NonZeroUsize::get)) {
            if last.is_some() {
                items.push(',');
            }
            items.push_str(descriptor);
            last = Some(id);
        }
        items.push(']');
        let list = self.kind.list();
        let page = ObjectWriter::new().json(list, &items);
        let page = match last.filter(|_| shown.next().is_some()) {
            Some(last) => page.string("nextCursor", &cursor(list, last)),
            None => page,
        };
        let page: Arc<str> = page.finish().into();
        if self.pages.len() < KEPT_PAGES {
            self.pages.insert((start, older), Arc::clone(&page));
        }
        Ok(page)
    }

    fn start(&self, from: Option<&str>) -> Result<Option<EntryId>, PageError> {
        let read = |from| read_cursor(self.kind.list(), from).filter(|last| *last < self.next);
        from.map(|from| read(from).ok_or(PageError)).transpose()
    }
}
