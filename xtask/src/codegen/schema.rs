//! Reads one revision's JSON Schema into the model.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::model::{Kind, Model, Type};
use super::tables::{self, REVISIONS};

type Object = Map<String, Value>;

/// Reads revisions, newest first.
#[derive(Default)]
pub(super) struct Reader {
    model: Model,
    /// The types that newer revisions have at a place for which an older one may have no name.
    places: BTreeMap<(String, String), String>,
}

/// The revision that is being read.
struct Source<'a> {
    revision: &'static str,
    bit: u8,
    definitions: &'a Object,
}

impl Reader {
    /// Reads the revision with this index. Call it from the newest to the oldest.
    pub(super) fn read(&mut self, index: usize, schema: &Value) -> Result<()> {
        let revision = REVISIONS[index];
        let definitions = ["$defs", "definitions"].iter().find_map(|key| schema[key].as_object());
        let source = Source {
            revision,
            bit: 1 << index,
            definitions: definitions.context("the schema has neither $defs nor definitions")?,
        };
        let mut names: Vec<_> = source.definitions.keys().collect();
        names.sort();
        for name in names {
            let of = name_of(&source, name);
            if of == *name && (tables::SKIPPED.contains(&of) || of == "RequestId") {
                continue;
            }
            self.definition(&source, of, &source.definitions[name])
                .with_context(|| format!("{revision}, {name}"))?;
        }
        // Old revisions write the error object in place, inside a message of JSON-RPC.
        if !source.definitions.contains_key("Error")
            && let Some(response) = source.definitions.get("JSONRPCError")
        {
            self.object(&source, "ErrorObject", &response["properties"]["error"])?;
        }
        self.methods(&source)
    }

    pub(super) fn finish(self) -> Result<Model> {
        self.model.finish()
    }

    fn definition(&mut self, source: &Source<'_>, name: &str, schema: &Value) -> Result<()> {
        if schema["properties"].is_object() || schema["allOf"].is_array() {
            return self.object(source, name, schema);
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.strings(source, name, values);
        }
        if let Some(variants) = schema["anyOf"].as_array() {
            let mut names = Vec::new();
            for variant in variants {
                names.push(reference(source, variant).with_context(|| format!("a variant has no name: {variant}"))?);
            }
            return self.union(source, name, &names);
        }
        let strings = tables::NAMED_STRINGS.iter().find(|(_, named, _)| *named == name);
        if strings.is_none() {
            let of = self.type_of(source, name, "", schema)?;
            self.model.define(name, source.bit, || Kind::Alias(of));
        }
        Ok(())
    }

    fn object(&mut self, source: &Source<'_>, name: &str, schema: &Value) -> Result<()> {
        let (members, required) = flatten(source, schema)?;
        self.model.define(name, source.bit, || Kind::Object(BTreeMap::new()));
        for (member, schema) in &members {
            let of = self.type_of(source, name, member, schema)?;
            self.model
                .member(name, member, of, required.contains(member), source.bit)?;
        }
        self.envelope(source, name, &members)
    }

    /// Old revisions say once, in the bases of all messages, that there is an envelope and that params have `_meta`.
    fn envelope(&mut self, source: &Source<'_>, name: &str, members: &BTreeMap<String, Value>) -> Result<()> {
        let Some(method) = members.get("method").and_then(|method| method["const"].as_str()) else {
            return Ok(());
        };
        if members.contains_key("jsonrpc") || !is_sent(source, method) {
            return Ok(());
        }
        let version = Type::Const("\"2.0\"".to_owned());
        self.model.member(name, "jsonrpc", version, true, source.bit)?;
        if !is_notification(method) {
            self.model.member(name, "id", Type::of("RequestId"), true, source.bit)?;
        }
        let base = if is_notification(method) {
            "Notification"
        } else {
            "Request"
        };
        let base = source.definitions.get(base);
        let meta = base.and_then(|base| base["properties"]["params"]["properties"].get("_meta"));
        if let (Some(meta), true) = (meta, members.contains_key("params")) {
            let params = self.name_at(name, "params");
            let of = self.type_of(source, &params, "_meta", meta)?;
            self.model.member(&params, "_meta", of, false, source.bit)?;
        }
        Ok(())
    }

    fn strings(&mut self, source: &Source<'_>, name: &str, values: &[Value]) -> Result<()> {
        let kind = || Kind::Strings(BTreeSet::new());
        let Kind::Strings(known) = &mut self.model.define(name, source.bit, kind).kind else {
            bail!("{name} is an enum in one revision and something else in another");
        };
        for value in values {
            known.insert(
                value
                    .as_str()
                    .context("an enum has a value that is no string")?
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn union(&mut self, source: &Source<'_>, name: &str, variants: &[String]) -> Result<()> {
        let Kind::Union(known) = &mut self.model.define(name, source.bit, || Kind::Union(Vec::new())).kind else {
            bail!("{name} is a union in one revision and something else in another");
        };
        for variant in variants {
            if !known.contains(variant) {
                known.push(variant.clone());
            }
        }
        Ok(())
    }

    /// The type of a member; what has no name of its own gets one from its place.
    fn type_of(&mut self, source: &Source<'_>, owner: &str, member: &str, schema: &Value) -> Result<Type> {
        if let Some((_, name, values)) = tables::NAMED_STRINGS.iter().find(|(at, ..)| *at == member) {
            let values: Vec<Value> = values.iter().map(|value| Value::from(*value)).collect();
            self.strings(source, name, &values)?;
            return Ok(Type::of(name));
        }
        if tables::SCHEMAS.contains(&member) {
            return Ok(Type::Object);
        }
        if let Some(of) = self.named(source, owner, member, schema) {
            return Ok(of);
        }
        if let Some(variants) = schema["anyOf"].as_array() {
            return self.choice(source, owner, member, variants);
        }
        if let Some(json) = schema.get("const") {
            return Ok(Type::Const(json.to_string()));
        }
        if let Some(values) = schema["enum"].as_array() {
            let name = self.name_at(owner, member);
            self.strings(source, &name, values)?;
            return Ok(Type::Ref(name));
        }
        match &schema["type"] {
            Value::Array(_) => primitives(schema),
            Value::String(of) => match of.as_str() {
                "string" => Ok(Type::Text),
                "boolean" => Ok(Type::Bool),
                "number" => Ok(Type::Number),
                "integer" => Ok(Type::Integer),
                "array" => Ok(Type::List(Box::new(self.type_of(
                    source,
                    owner,
                    member,
                    &schema["items"],
                )?))),
                "object" => self.object_at(source, owner, member, schema),
                other => bail!("{owner}.{member} has the unknown type {other}"),
            },
            _ if schema["allOf"].is_array() => self.object_at(source, owner, member, schema),
            _ => Ok(Type::Any),
        }
    }

    fn named(&mut self, source: &Source<'_>, owner: &str, member: &str, schema: &Value) -> Option<Type> {
        let name = reference(source, schema)?;
        Some(match name.as_str() {
            "JSONObject" => Type::Object,
            "JSONValue" => Type::Any,
            _ => {
                self.places.insert((owner.to_owned(), member.to_owned()), name.clone());
                Type::Ref(name)
            }
        })
    }

    fn choice(&mut self, source: &Source<'_>, owner: &str, member: &str, variants: &[Value]) -> Result<Type> {
        let names: Vec<String> = variants
            .iter()
            .filter_map(|variant| reference(source, variant))
            .collect();
        if names.is_empty() {
            // Strings, numbers and lists of strings: values of a form.
            return Ok(Type::Any);
        }
        if let [first, result] = &*names
            && first == "InputRequiredResult"
        {
            return Ok(Type::Outcome(Box::new(Type::of(result))));
        }
        let list = variants.iter().find(|variant| variant["type"] == "array");
        if let Some(item) = list.and_then(|list| reference(source, &list["items"])) {
            self.places.insert((owner.to_owned(), member.to_owned()), item.clone());
            return Ok(Type::OneOrMany(Box::new(Type::Ref(item))));
        }
        if names.len() != variants.len() {
            bail!("{owner}.{member} is a union with a variant that has no name");
        }
        let name = self.name_at(owner, member);
        self.union(source, &name, &names)?;
        Ok(Type::Ref(name))
    }

    fn object_at(&mut self, source: &Source<'_>, owner: &str, member: &str, schema: &Value) -> Result<Type> {
        let properties = schema["properties"].as_object();
        let is_known = properties.is_some_and(|properties| !properties.is_empty()) || schema["allOf"].is_array();
        if is_known {
            let is_request_meta = member == "_meta" && properties.is_some_and(|all| all.contains_key("progressToken"));
            let name = if is_request_meta {
                "RequestMetaObject".to_owned()
            } else {
                self.name_at(owner, member)
            };
            // Where the revision defines that type, the definition counts.
            if !source.definitions.contains_key(&name) {
                self.object(source, &name, schema)?;
            }
            return Ok(Type::Ref(name));
        }
        if member == "_meta" {
            return Ok(Type::of("MetaObject"));
        }
        match &schema["additionalProperties"] {
            value @ Value::Object(shape) if !shape.is_empty() => {
                Ok(Type::Map(Box::new(self.type_of(source, owner, member, value)?)))
            }
            _ if owner == "MetaObject" => Ok(Type::Map(Box::new(Type::Any))),
            _ => Ok(Type::Object),
        }
    }

    fn name_at(&self, owner: &str, member: &str) -> String {
        if let Some(name) = tables::in_place(owner, member) {
            return name.to_owned();
        }
        let place = (owner.to_owned(), member.to_owned());
        self.places
            .get(&place)
            .cloned()
            .unwrap_or_else(|| format!("{owner}{}", tables::pascal(member)))
    }

    fn methods(&mut self, source: &Source<'_>) -> Result<()> {
        for (name, schema) in source.definitions {
            let Some(method) = schema["properties"]["method"]["const"].as_str() else {
                continue;
            };
            if tables::SKIPPED.contains(&name.as_str()) {
                continue;
            }
            if tables::capability(method).is_none() {
                bail!("the method {method} is new: say in tables.rs which capability it needs");
            }
            let row = self.model.methods.entry(method.to_owned()).or_default();
            row.message.clone_from(name);
            let bit = |unions: [&str; 2]| {
                let is_in = unions.iter().any(|union| messages(source, union).contains(method));
                if is_in { source.bit } else { 0 }
            };
            row.from_client |= bit(["ClientRequest", "ClientNotification"]);
            row.from_server |= bit(["ServerRequest", "ServerNotification"]);
            row.in_result |= bit(["InputRequest", ""]);
            if (row.from_client | row.from_server | row.in_result) & source.bit == 0 {
                bail!("nobody sends {method} in {}", source.revision);
            }
        }
        Ok(())
    }
}

pub(super) fn is_notification(method: &str) -> bool {
    method.starts_with("notifications/")
}

/// Whether a side sends the method as a message of its own.
fn is_sent(source: &Source<'_>, method: &str) -> bool {
    let unions = [
        "ClientRequest",
        "ClientNotification",
        "ServerRequest",
        "ServerNotification",
    ];
    unions.iter().any(|union| messages(source, union).contains(method))
}

/// The methods of a union of messages. A union of one is that message itself.
fn messages<'a>(source: &Source<'a>, union: &str) -> BTreeSet<&'a str> {
    let method = |schema: &'a Value| schema["properties"]["method"]["const"].as_str();
    let Some(union) = source.definitions.get(union) else {
        return BTreeSet::new();
    };
    let variants = union["anyOf"].as_array().into_iter().flatten();
    let named = variants.filter_map(|variant| target(variant).and_then(|name| source.definitions.get(name)));
    named.chain([union]).filter_map(method).collect()
}

/// The members of an object and which it requires, those of its parts included.
fn flatten(source: &Source<'_>, schema: &Value) -> Result<(BTreeMap<String, Value>, BTreeSet<String>)> {
    let mut members = BTreeMap::new();
    let mut required = BTreeSet::new();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        let part = match target(part) {
            Some(name) => source
                .definitions
                .get(name)
                .with_context(|| format!("{name} is not defined"))?,
            None => part,
        };
        let (more, needed) = flatten(source, part)?;
        members.extend(more);
        required.extend(needed);
    }
    let own = schema["properties"].as_object().into_iter().flatten();
    members.extend(own.map(|(name, schema)| (name.clone(), schema.clone())));
    let own = schema["required"].as_array().into_iter().flatten();
    required.extend(own.filter_map(Value::as_str).map(str::to_owned));
    Ok((members, required))
}

fn target(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The name here of the definition that a schema refers to.
fn reference(source: &Source<'_>, schema: &Value) -> Option<String> {
    target(schema).map(|name| name_of(source, name).to_owned())
}

fn name_of<'n>(source: &Source<'_>, name: &'n str) -> &'n str {
    tables::renamed(source.revision, name).unwrap_or(name)
}

/// A member that may be of more than one primitive type.
fn primitives(schema: &Value) -> Result<Type> {
    let types: Vec<&str> = schema["type"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    match &*types {
        ["string", "integer"] => Ok(Type::of("RequestId")),
        ["integer", "null"] => Ok(Type::Nullable(Box::new(Type::Integer))),
        ["string", "integer", "boolean"] => Ok(Type::Any),
        other => bail!("no type stands for {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schemas: &[(usize, Value)]) -> Result<Model> {
        let mut reader = Reader::default();
        for (index, schema) in schemas {
            reader.read(*index, schema)?;
        }
        reader.finish()
    }

    fn newest(definitions: Value) -> (usize, Value) {
        (4, json!({ "$defs": definitions }))
    }

    #[test]
    fn params_written_in_place_join_the_type_that_newer_revisions_name() {
        let ping =
            |params| json!({"properties": {"method": {"const": "ping"}, "params": params}, "required": ["method"]});
        let union = json!({"anyOf": [{"$ref": "#/definitions/PingRequest"}]});
        let new = json!({
            "PingRequest": ping(json!({"$ref": "#/$defs/RequestParams"})), "ClientRequest": union,
            "RequestParams": {"properties": {"a": {"type": "string"}}, "required": ["a"]},
        });
        let old = json!({
            "PingRequest": ping(json!({"type": "object", "properties": {"b": {"type": "integer"}}})), "ServerRequest": union,
        });
        let model = read(&[newest(new), (3, json!({ "definitions": old }))]).unwrap();
        let params = model.members("RequestParams").unwrap();
        assert_eq!((params["a"].revisions, params["a"].required()), (0b10000, 0b10000));
        assert_eq!((params["b"].revisions, params["b"].required()), (0b01000, 0));
        assert_eq!(
            model.members("PingRequest").unwrap()["params"].of,
            Type::of("RequestParams")
        );
        let ping = &model.methods["ping"];
        assert_eq!((ping.from_client, ping.from_server), (0b10000, 0b01000));
    }

    #[test]
    fn a_message_without_envelope_gets_it_where_it_is_sent() {
        let request = |name: &str| json!({"properties": {"method": {"const": name}}, "required": ["method"]});
        let model = read(&[newest(json!({
            "PingRequest": request("ping"), "ListRootsRequest": request("roots/list"),
            "ClientRequest": {"anyOf": [{"$ref": "#/$defs/PingRequest"}]},
            "InputRequest": {"anyOf": [{"$ref": "#/$defs/ListRootsRequest"}]},
        }))])
        .unwrap();
        assert!(model.members("PingRequest").unwrap().contains_key("id"));
        assert!(!model.members("ListRootsRequest").unwrap().contains_key("id"));
        assert_eq!(model.methods["roots/list"].in_result, 0b10000);
    }

    #[test]
    fn the_meta_of_all_requests_is_that_of_each() {
        let meta = json!({"type": "object", "properties": {"progressToken": {"type": ["string", "integer"]}}});
        let old = json!({
            "CallToolRequest": {"properties": {
                "method": {"const": "tools/call"},
                "params": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
                "required": ["method"]},
            "Request": {"properties": {"params": {"properties": {"_meta": meta}}}},
            "ClientRequest": {"anyOf": [{"$ref": "#/definitions/CallToolRequest"}]},
        });
        let model = read(&[(0, json!({ "definitions": old }))]).unwrap();
        let params = model.members("CallToolRequestParams").unwrap();
        assert_eq!(params["_meta"].of, Type::of("RequestMetaObject"));
        assert_eq!((params["_meta"].required(), params["name"].required()), (0, 1));
        assert_eq!(
            model.members("RequestMetaObject").unwrap()["progressToken"].of,
            Type::of("RequestId")
        );
    }

    #[test]
    fn parts_are_flattened_and_the_last_word_counts() {
        let model = read(&[newest(json!({
            "Error": {"properties": {"code": {"type": "integer"}, "message": {"type": "string"}}, "required": ["code"]},
            "HeaderMismatchError": {"properties": {"error": {"allOf": [
                {"$ref": "#/$defs/Error"}, {"properties": {"code": {"const": -1}}}]}}},
        }))])
        .unwrap();
        let object = model.members("HeaderMismatchErrorObject").unwrap();
        assert_eq!(object["code"].of, Type::Const("-1".to_owned()));
        assert_eq!(object["code"].required(), 0b10000);
        assert_eq!(object["message"].of, Type::Text);
    }

    #[test]
    fn what_the_generator_cannot_place_is_an_error_and_not_a_guess() {
        let cases = [
            (
                json!({"A": {"properties": {"method": {"const": "new/method"}}}}),
                "new/method",
            ),
            (json!({"A": {"properties": {"x": {"type": "tuple"}}}}), "tuple"),
            (
                json!({"A": {"properties": {"x": {"type": ["null", "string"]}}}}),
                "no type stands for",
            ),
            (
                json!({"A": {"properties": {"x": {"$ref": "#/$defs/B"}}}}),
                "which no revision defines",
            ),
            (
                json!({"A": {"properties": {"x": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}}}),
                "no name",
            ),
        ];
        for (definitions, why) in cases {
            let error = format!("{:#}", read(&[newest(definitions)]).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
    }
}
