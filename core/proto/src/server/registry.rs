//! Tools by name, in the order they were added, with the answer to `tools/list` kept ready.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::value::RawValue;

use crate::jsonrpc::{Json, decode_str, members};

/// A tool's place in its registry; bindings keep their handlers in a table of the same order.
pub type ToolIndex = usize;

/// What a server offers. One registry may serve many sessions at once.
///
/// A tool may be added by name alone and described later: a host whose schemas are costly to make
/// answers `initialize` first, and describes its tools when a peer first asks for them (see
/// [`Output::Describe`](crate::Output::Describe)).
///
/// ```
/// use oxmcp_proto::Registry;
/// use oxmcp_proto::jsonrpc::json;
///
/// let registry = Registry::new();
/// let add = registry.add_tool("add")?;
/// assert!(!registry.is_described());
/// registry.describe_tool(add, &json(r#"{"name":"add","inputSchema":{"type":"object"}}"#)?)?;
/// assert!(registry.is_described());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Registry {
    tools: RwLock<Tools>,
}

#[derive(Debug, Default)]
struct Tools {
    by_name: HashMap<Box<str>, ToolIndex>,
    all: Vec<Tool>,
    undescribed: usize,
    /// The whole result of `tools/list`, made on first use.
    list: Option<Json>,
}

#[derive(Debug)]
struct Tool {
    name: Box<str>,
    descriptor: Option<Json>,
}

/// Why a tool cannot be added or described.
#[derive(Debug, PartialEq, Eq)]
pub enum RegistryError {
    /// Two tools of one name.
    Duplicate(Box<str>),
    /// The name is empty.
    NoName,
    /// The descriptor is not a `Tool` of the specification; the text says where.
    BadDescriptor(Box<str>, &'static str),
}

impl std::fmt::Display for RegistryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Duplicate(name) => write!(
                f,
                "a tool named \"{name}\" exists already; names are unique in a server"
            ),
            Self::NoName => f.write_str("a tool needs a name that is not empty"),
            Self::BadDescriptor(name, what) => write!(f, "the descriptor of tool \"{name}\": {what}"),
        }
    }
}

impl std::error::Error for RegistryError {}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that is described later. Lists keep the order of addition.
    ///
    /// # Errors
    /// When the name is empty or taken.
    pub fn add_tool(&self, name: &str) -> Result<ToolIndex, RegistryError> {
        let mut tools = self.write();
        if name.is_empty() {
            return Err(RegistryError::NoName);
        }
        let index = tools.all.len();
        if tools.by_name.contains_key(name) {
            return Err(RegistryError::Duplicate(name.into()));
        }
        tools.by_name.insert(name.into(), index);
        tools.all.push(Tool {
            name: name.into(),
            descriptor: None,
        });
        tools.undescribed += 1;
        tools.list = None;
        Ok(index)
    }

    /// Sets what `tools/list` says of a tool: a `Tool` object of the specification, kept as it is.
    ///
    /// # Errors
    /// When it is no object, has another name, or its `inputSchema` is no schema of an object.
    ///
    /// # Panics
    /// When `index` did not come from this registry.
    pub fn describe_tool(&self, index: ToolIndex, descriptor: &RawValue) -> Result<(), RegistryError> {
        let mut tools = self.write();
        let tool = &mut tools.all[index];
        check_descriptor(&tool.name, descriptor)
            .map_err(|what| RegistryError::BadDescriptor(tool.name.clone(), what))?;
        let first = tool.descriptor.replace(descriptor.to_owned()).is_none();
        tools.undescribed -= usize::from(first);
        tools.list = None;
        Ok(())
    }

    /// Whether every tool has its descriptor.
    pub fn is_described(&self) -> bool {
        self.read().undescribed == 0
    }

    /// Whether there is any tool: then the server declares the `tools` capability.
    pub fn has_tools(&self) -> bool {
        !self.read().all.is_empty()
    }

    /// The index of the tool of this name.
    pub fn tool(&self, name: &str) -> Option<ToolIndex> {
        self.read().by_name.get(name).copied()
    }

    /// The name of a tool.
    ///
    /// # Panics
    /// When `index` did not come from this registry.
    pub fn tool_name(&self, index: ToolIndex) -> Box<str> {
        self.read().all[index].name.clone()
    }

    /// Hands the result of `tools/list` to `take`. Tools without descriptor are left out.
    pub(crate) fn with_tool_list<T>(&self, take: impl FnOnce(&str) -> T) -> T {
        if let Some(list) = &self.read().list {
            return take(list.get());
        }
        let mut tools = self.write();
        let list = tools.make_list();
        take(tools.list.insert(list).get())
    }

    // A panic elsewhere while the lock was held left whole entries: every change is one push or
    // one replace.
    fn read(&self) -> RwLockReadGuard<'_, Tools> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tools> {
        self.tools.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools {
    fn make_list(&self) -> Json {
        let described: Vec<&str> = self
            .all
            .iter()
            .filter_map(|tool| Some(tool.descriptor.as_ref()?.get()))
            .collect();
        let text = format!("{{\"tools\":[{}]}}", described.join(","));
        RawValue::from_string(text).unwrap_or_else(|error| unreachable!("valid values joined by commas: {error}"))
    }
}

fn check_descriptor(name: &str, descriptor: &RawValue) -> Result<(), &'static str> {
    let members = members(descriptor).ok_or("it must be a JSON object")?;
    let member = |wanted: &str| members.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
    if member("name").and_then(decode_str).as_deref() != Some(name) {
        return Err("its \"name\" must be the tool's name");
    }
    let schema = member("inputSchema").ok_or("it must have an \"inputSchema\"")?;
    let schema = crate::jsonrpc::members(schema).ok_or("its \"inputSchema\" must be an object")?;
    let kind = schema
        .iter()
        .find(|(key, _)| key == "type")
        .and_then(|(_, value)| decode_str(value));
    if kind.as_deref() != Some("object") {
        return Err("its \"inputSchema\" must have \"type\": \"object\"");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    fn descriptor(name: &str) -> Json {
        json(format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"x-unknown":1}}"#
        ))
        .unwrap()
    }

    #[test]
    fn lists_keep_order_and_unknown_members() {
        let registry = Registry::new();
        for name in ["zeta", "alpha"] {
            let index = registry.add_tool(name).unwrap();
            registry.describe_tool(index, &descriptor(name)).unwrap();
        }
        let list = registry.with_tool_list(str::to_owned);
        assert!(list.find("zeta") < list.find("alpha"));
        assert!(list.contains("\"x-unknown\":1"));
    }

    #[test]
    fn a_list_made_before_a_change_is_made_anew() {
        let registry = Registry::new();
        assert_eq!(registry.with_tool_list(str::to_owned), r#"{"tools":[]}"#);
        let index = registry.add_tool("a").unwrap();
        assert!(!registry.is_described());
        registry.describe_tool(index, &descriptor("a")).unwrap();
        registry.describe_tool(index, &descriptor("a")).unwrap();
        assert!(registry.is_described());
        assert!(registry.with_tool_list(|list| list.contains("\"a\"")));
    }

    #[test]
    fn bad_tools_are_refused_with_the_reason() {
        let registry = Registry::new();
        assert_eq!(registry.add_tool(""), Err(RegistryError::NoName));
        let index = registry.add_tool("a").unwrap();
        assert_eq!(registry.add_tool("a"), Err(RegistryError::Duplicate("a".into())));
        for bad in [
            "[]",
            "{}",
            r#"{"name":"b"}"#,
            r#"{"name":"a"}"#,
            r#"{"name":"a","inputSchema":{}}"#,
        ] {
            let error = registry.describe_tool(index, &json(bad).unwrap()).unwrap_err();
            assert!(error.to_string().contains("tool \"a\""), "{error}");
        }
    }
}
