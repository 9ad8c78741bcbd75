//! The values that are checked, as the validator sees them: `serde_json` values that charge for each look.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp, unique};
use serde_json::{Map, Number, Value};

use super::meter::{charge, charge_entry, charge_text};

/// Longest string that goes into an error of the validator, in bytes.
const SHORT: usize = 1024;

/// What an error costs, for the memory it takes.
const PER_ERROR: u64 = 10;

pub(super) struct Metered;

#[derive(Clone, Copy)]
pub(super) struct Item<'a>(pub(super) &'a Value);

pub(super) struct Members<'a>(&'a Map<String, Value>);

pub(super) struct Elements<'a>(&'a [Value]);

impl Json for Metered {
    type Node<'a> = Item<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = 2;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Item<'_>) -> T) -> T {
        charge_text(string.len());
        *buffer = Value::String(string.to_owned());
        f(Item(buffer))
    }
}

impl<'a> Node<'a, Metered> for Item<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        charge_entry();
        self.0.as_object().map(Members)
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        charge_entry();
        self.0.as_array().map(|items| Elements(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        charge_entry();
        let text = self.0.as_str()?;
        charge_text(text.len());
        Some(Cow::Borrowed(text))
    }

    fn as_number(&self) -> Option<&'a Number> {
        charge_entry();
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        charge_entry();
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        charge_entry();
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        charge_entry();
        match self.0 {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn string_length(&self) -> Option<u64> {
        charge_entry();
        let text = self.0.as_str()?;
        charge(text.len() as u64 / 16);
        Some(text.chars().count() as u64)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        charge_entry();
        if expected.is_array() || expected.is_object() {
            charge(size(expected));
        }
        cmp::equal(self.0, expected)
    }

    /// For errors only, which copy it many times, so what is long stays out of it.
    fn to_value(&self) -> Cow<'a, Value> {
        charge(PER_ERROR);
        match self.0 {
            Value::Array(_) | Value::Object(_) => Cow::Owned(Value::Null),
            Value::String(text) if text.len() > SHORT => Cow::Owned(Value::Null),
            short => Cow::Borrowed(short),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        charge_entry();
        Some(NodeIdentity::new(std::ptr::from_ref(self.0).addr()))
    }
}

impl<'a> Object<'a, Metered> for Members<'a> {
    type Node = Item<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Item<'a>> {
        charge(1);
        self.0.get(key).map(Item)
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter(self.0.iter())
    }
}

pub(super) struct MembersIter<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Item<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        charge_text(name.len());
        Some((name, Item(value)))
    }
}

impl<'a> Array<'a, Metered> for Elements<'a> {
    type Node = Item<'a>;
    type ElementsIter = ElementsIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> ElementsIter<'a> {
        ElementsIter(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        // Few items are compared each with each, many by their hash.
        charge(16 * self.0.iter().map(size).sum::<u64>());
        unique::is_unique(self.0)
    }
}

pub(super) struct ElementsIter<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for ElementsIter<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let item = self.0.next()?;
        charge(1);
        Some(Item(item))
    }
}

/// The nodes of a value; long strings count for more than one.
fn size(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() as u64 / 64 + size(value))
            .sum(),
        Value::String(text) => text.len() as u64 / 64,
        _ => 0,
    }
}
