//! Writes the model as Rust.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::model::{Definition, Kind, Member, Model, Type};
use super::schema::is_notification;
use super::tables::{self, AREAS, Needs, REVISIONS, field, pascal, variant};
use super::words;

const NOTE: &str =
    "// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.\n";

/// The generated files by name, before rustfmt.
pub(super) fn files(model: &Model) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for area in &AREAS {
        let mut body = String::new();
        for (name, definition) in &model.types {
            if tables::area(name).name == area.name {
                one(model, name, definition, &mut body)?;
            }
        }
        let mut file = format!("{NOTE}\n//! {}\n\n", area.about);
        if body.contains("impl info::") {
            file.push_str("use super::super::info;\n");
        }
        writeln!(file, "use super::super::*;\n{body}")?;
        files.insert(format!("{}.rs", area.name), file);
    }
    files.insert("methods.rs".to_owned(), methods(model)?);
    files.insert("mod.rs".to_owned(), root(model)?);
    Ok(files)
}

fn one(model: &Model, name: &str, definition: &Definition, out: &mut String) -> Result<()> {
    out.push('\n');
    doc(
        out,
        "",
        &words::of_type(name, method_of(model, name)),
        words::revisions(definition.revisions, tables::ALL),
    );
    match &definition.kind {
        Kind::Object(members) => object(model, name, definition.revisions, members, out),
        Kind::Union(variants) => union(model, name, variants, out),
        Kind::Strings(values) => strings(name, &values.iter().map(String::as_str).collect::<Vec<_>>(), out),
        Kind::Constant(text) => {
            writeln!(
                out,
                "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]\npub struct {name};\n"
            )?;
            writeln!(out, "constant! {{ {name} = {text:?} }}")?;
            Ok(())
        }
        Kind::Alias(of) => {
            writeln!(out, "pub type {name} = {};", rust(of))?;
            Ok(())
        }
    }
}

/// How a member is read and written: the kinds of the macro `object`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Constant,
    Required,
    Nullable,
    Defaulted,
    Optional,
    Any,
}

impl Role {
    fn of(owner: &str, name: &str, member: &Member, all: u8) -> Self {
        let required = member.required() == all;
        match &member.of {
            Type::Const(_) => Self::Constant,
            Type::Nullable(_) if required => Self::Nullable,
            _ if tables::DEFAULTED.contains(&(owner, name)) => Self::Defaulted,
            _ if required => Self::Required,
            Type::Any => Self::Any,
            _ => Self::Optional,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Required => "required",
            Self::Nullable => "nullable",
            Self::Defaulted => "defaulted",
            Self::Optional => "optional",
            Self::Any => "any",
        }
    }
}

/// One member in the order of writing.
struct Row<'a> {
    role: Role,
    name: &'a str,
    member: &'a Member,
}

/// The members of a type in the order they are written.
fn rows<'a>(owner: &str, all: u8, members: &'a BTreeMap<String, Member>) -> Vec<Row<'a>> {
    let mut rows: Vec<_> = members
        .iter()
        .map(|(name, member)| Row {
            role: Role::of(owner, name, member, all),
            name,
            member,
        })
        .collect();
    rows.sort_by_key(|row| (row.role, tables::rank(row.name), row.name));
    rows
}

fn object(model: &Model, name: &str, all: u8, members: &BTreeMap<String, Member>, out: &mut String) -> Result<()> {
    let rows = rows(name, all, members);
    if rows.len() > 64 {
        bail!("{name} has more members than `Extra` can order");
    }
    let needed: Vec<_> = rows
        .iter()
        .filter(|row| matches!(row.role, Role::Required | Role::Nullable))
        .collect();
    let default = if needed.is_empty() { ", Default" } else { "" };
    writeln!(
        out,
        "#[derive(Clone, Debug{default})]\n#[non_exhaustive]\npub struct {name} {{"
    )?;
    for row in rows.iter().filter(|row| row.role != Role::Constant) {
        let mut text = words::of_member(name, row.name);
        if words::shows_member(row.name) && !text.contains(&format!("`{}`", row.name)) {
            text = format!("`{}`: {}{}", row.name, text[..1].to_lowercase(), &text[1..]);
        }
        if row.role == Role::Defaulted {
            text.push_str(" Empty if a peer left it out.");
        }
        doc(out, "    ", &text, words::revisions(row.member.revisions, all));
        writeln!(out, "    pub {}: {},", field(row.name), field_type(name, row))?;
    }
    out.push_str("    /// All other members.\n    pub extra: Extra,\n}\n");
    if !needed.is_empty() {
        constructor(name, &rows, out)?;
    }
    message(model, name, out)?;
    writeln!(out, "\nobject! {{ {name} in {} {{", bits(all))?;
    for Row { role, name, member } in &rows {
        let revisions = format!("{} / {}", bits(member.revisions), bits(member.required()));
        match &member.of {
            Type::Const(json) => writeln!(out, "    constant {name:?} = {json:?} in {revisions};")?,
            _ => writeln!(out, "    {} {}: {name:?} in {revisions};", role.word(), field(name))?,
        }
    }
    out.push_str("} }\n");
    Ok(())
}

fn field_type(owner: &str, row: &Row<'_>) -> String {
    let mut of = rust(&row.member.of);
    if tables::BOXED.contains(&(owner, row.name)) {
        of = format!("Box<{of}>");
    }
    match row.role {
        Role::Optional | Role::Any => format!("Option<{of}>"),
        _ => of,
    }
}

fn constructor(name: &str, rows: &[Row<'_>], out: &mut String) -> Result<()> {
    let mut parameters = Vec::new();
    let mut fields = Vec::new();
    for row in rows.iter().filter(|row| row.role != Role::Constant) {
        let field = field(row.name);
        if !matches!(row.role, Role::Required | Role::Nullable) {
            fields.push(format!("{field}: Default::default()"));
        } else if matches!(
            row.member.of,
            Type::Text | Type::Number | Type::Integer | Type::OneOrMany(_)
        ) {
            parameters.push(format!("{field}: impl Into<{}>", rust(&row.member.of)));
            fields.push(format!("{field}: {field}.into()"));
        } else {
            parameters.push(format!("{field}: {}", rust(&row.member.of)));
            fields.push(field);
        }
    }
    fields.push("extra: Extra::default()".to_owned());
    writeln!(
        out,
        "\nimpl {name} {{\n    /// With what every revision requires, and nothing else.\n    pub fn new({}) -> Self {{ Self {{ {} }} }}\n}}",
        parameters.join(", "),
        fields.join(", ")
    )?;
    Ok(())
}

/// The traits of messages.
fn message(model: &Model, name: &str, out: &mut String) -> Result<()> {
    let Some((method, row)) = model.methods.iter().find(|(_, row)| row.message == name) else {
        return Ok(());
    };
    let types = Types::of(model, method, &row.message)?;
    let base = if is_notification(method) {
        "NotificationParams"
    } else {
        "RequestParams"
    };
    let params = types.params.unwrap_or_else(|| base.to_owned());
    let kind = if types.result.is_some() {
        "Request"
    } else {
        "Notification"
    };
    writeln!(
        out,
        "\nimpl info::{kind} for {name} {{\n    const METHOD: &'static str = {method:?};\n    type Params = {params};"
    )?;
    if let Some(result) = types.result {
        writeln!(out, "    type Result = {result};")?;
    }
    out.push_str("}\n");
    Ok(())
}

fn union(model: &Model, name: &str, variants: &[String], out: &mut String) -> Result<()> {
    out.push_str("#[derive(Clone, Debug)]\n#[non_exhaustive]\n");
    out.push_str("#[allow(clippy::large_enum_variant, reason = \"a box would be in the way of every match\")]\n");
    writeln!(out, "pub enum {name} {{")?;
    for of in variants {
        let text = words::of_type(of, method_of(model, of));
        let revisions = model
            .types
            .get(of)
            .and_then(|of| words::revisions(of.revisions, tables::ALL));
        doc(out, "    ", &text, revisions);
        writeln!(out, "    {}({of}),", variant(name, of))?;
    }
    out.push_str("    /// Of a kind that is not known here, or not whole: as it came.\n    Unknown(Json),\n}\n");
    let mut marked = Vec::new();
    for of in variants {
        marked.push((marks(model, of)?, of));
    }
    // The sort is stable: kinds with as many marks stay in the schema's order.
    marked.sort_by_key(|(marks, _)| std::cmp::Reverse(marks.len()));
    writeln!(out, "\nunion! {{ {name} {{")?;
    for (marks, of) in marked {
        writeln!(out, "    {}({of}): {};", variant(name, of), marks.join(", "))?;
    }
    out.push_str("} }\n");
    Ok(())
}

/// The signs by which an object of a union is known, as the macro `union` takes them.
fn marks(model: &Model, name: &str) -> Result<Vec<String>> {
    let (Some(members), Some(definition)) = (model.members(name), model.types.get(name)) else {
        bail!("{name} is no object");
    };
    let mut marks = Vec::new();
    for (member, row) in members {
        let required = row.required() == definition.revisions;
        let tells = tables::TELLING.contains(&(name, member));
        let values = match &row.of {
            Type::Const(json) => vec![json.clone()],
            // A value that is not known makes it another kind, not this kind with a strange value.
            Type::Ref(of) if member == "type" => match model.types.get(of).map(|of| &of.kind) {
                Some(Kind::Strings(values)) => values.iter().map(|value| format!("{value:?}")).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        if !values.is_empty() {
            let quoted: Vec<_> = values.iter().map(|json| format!("{json:?}")).collect();
            marks.push(format!("{member:?} = {}", quoted.join(" | ")));
        } else if required || tells {
            marks.push(format!("{member:?}"));
        }
    }
    Ok(marks)
}

fn strings(name: &str, values: &[&str], out: &mut String) -> Result<()> {
    out.push_str("#[derive(Clone, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\n");
    writeln!(out, "pub enum {name} {{")?;
    for value in values {
        writeln!(out, "    /// `{value}`\n    {},", pascal(value))?;
    }
    out.push_str("    /// A value that is not known here.\n    Other(String),\n}\n");
    writeln!(out, "\nstrings! {{ {name} {{")?;
    for value in values {
        writeln!(out, "    {} = {value:?},", pascal(value))?;
    }
    out.push_str("} }\n");
    Ok(())
}

/// The types that go with a method.
pub(super) struct Types {
    pub(super) params: Option<String>,
    pub(super) result: Option<String>,
}

impl Types {
    pub(super) fn of(model: &Model, method: &str, message: &str) -> Result<Self> {
        let Some(members) = model.members(message) else {
            bail!("{message} is no object");
        };
        let params = match members.get("params").map(|member| &member.of) {
            Some(Type::Ref(name)) => Some(name.clone()),
            None => None,
            Some(other) => bail!("the params of {method} are {other:?}"),
        };
        if is_notification(method) {
            return Ok(Self { params, result: None });
        }
        let own = format!("{}Result", message.trim_end_matches("Request"));
        let result = if model.types.contains_key(&own) {
            own
        } else {
            "EmptyResult".to_owned()
        };
        Ok(Self {
            params,
            result: Some(result),
        })
    }
}

fn methods(model: &Model) -> Result<String> {
    let mut out = format!(
        "{NOTE}\n//! The table of methods, sorted by name.\n\nuse super::super::info::{{CapabilityInfo, MethodInfo, Revisions}};\n"
    );
    out.push_str("\npub(in super::super) const METHODS: &[MethodInfo] = &[\n");
    for (name, row) in &model.methods {
        let types = Types::of(model, name, &row.message)?;
        let capability = match tables::capability(name) {
            Some(Needs::Server(path)) => format!("CapabilityInfo::server({path:?})"),
            Some(Needs::Client(path)) => format!("CapabilityInfo::client({path:?})"),
            Some(Needs::Nothing) | None => "None".to_owned(),
        };
        writeln!(
            out,
            "MethodInfo {{ name: {name:?}, is_notification: {}, from_client: Revisions::of({}), from_server: Revisions::of({}), \
             in_result: Revisions::of({}), params: {:?}, result: {:?}, capability: {capability} }},",
            is_notification(name),
            bits(row.from_client),
            bits(row.from_server),
            bits(row.in_result),
            types.params,
            types.result,
        )?;
    }
    out.push_str("];\n");
    Ok(out)
}

fn root(model: &Model) -> Result<String> {
    let mut out = format!("{NOTE}\n//! Types of all revisions, one module per area.\n\n");
    for area in &AREAS {
        writeln!(out, "mod {};", area.name)?;
    }
    out.push_str("mod methods;\n\n");
    for area in &AREAS {
        writeln!(out, "pub use {}::*;", area.name)?;
    }
    out.push_str("pub(super) use methods::METHODS;\n\nuse super::{Object, TypeInfo};\n");
    writeln!(
        out,
        "\n/// Bit 0 of every mask stands for the first one.\npub(super) const REVISIONS: [&str; {}] = {REVISIONS:?};",
        REVISIONS.len()
    )?;
    out.push_str("\npub(super) const OBJECTS: &[&TypeInfo] = &[\n");
    for (name, definition) in &model.types {
        if let Kind::Object(_) = definition.kind {
            writeln!(out, "{name}::INFO,")?;
        }
    }
    out.push_str("];\n");
    Ok(out)
}

/// The method of a message, or of the message that a type's name says it belongs to.
pub(super) fn method_of<'a>(model: &'a Model, name: &str) -> Option<&'a str> {
    let stem = [
        "RequestParams",
        "NotificationParams",
        "ResultResponse",
        "Result",
        "Request",
        "Notification",
    ]
    .iter()
    .find_map(|end| name.strip_suffix(end));
    let stem = stem?;
    let row = model
        .methods
        .iter()
        .find(|(_, row)| [format!("{stem}Request"), format!("{stem}Notification")].contains(&row.message));
    row.map(|(method, _)| &**method)
}

fn rust(of: &Type) -> String {
    match of {
        Type::Any => "Json".to_owned(),
        Type::Object => "JsonObject".to_owned(),
        Type::Text => "String".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Number | Type::Integer => "Number".to_owned(),
        Type::Const(_) => "()".to_owned(),
        Type::Ref(name) => name.clone(),
        Type::Nullable(of) => format!("Option<{}>", rust(of)),
        Type::List(of) => format!("Vec<{}>", rust(of)),
        Type::Map(of) => format!("Map<{}>", rust(of)),
        Type::OneOrMany(of) => format!("OneOrMany<{}>", rust(of)),
        Type::Outcome(of) => format!("Outcome<{}>", rust(of)),
    }
}

fn bits(mask: u8) -> String {
    format!("{mask:#07b}")
}

fn doc(out: &mut String, indent: &str, text: &str, more: Option<String>) {
    const WIDTH: usize = 120;
    let text = more.map_or_else(|| text.to_owned(), |more| format!("{text} {more}"));
    let start = format!("{indent}///");
    let mut line = start.clone();
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line.clone_from(&start);
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        let mut model = Model::default();
        model
            .member("A", "type", Type::Const("\"a\"".to_owned()), true, 0b10000)
            .unwrap();
        model.member("A", "x", Type::Text, true, 0b10000).unwrap();
        model.member("A", "y", Type::Any, false, 0b10000).unwrap();
        model.member("B", "x", Type::Text, true, 0b10000).unwrap();
        model.member("B", "x", Type::Text, true, 0b01000).unwrap();
        model.member("B", "z", Type::Bool, true, 0b10000).unwrap();
        model
    }

    fn written(name: &str) -> String {
        let model = model();
        let mut out = String::new();
        one(&model, name, &model.types[name], &mut out).unwrap();
        out
    }

    #[test]
    fn constants_are_no_fields_and_required_members_are_parameters() {
        let text = written("A");
        assert!(text.contains("pub fn new(x: impl Into<String>) -> Self"), "{text}");
        assert!(!text.contains("pub kind"), "{text}");
        assert!(
            text.contains(r#"constant "type" = "\"a\"" in 0b10000 / 0b10000;"#),
            "{text}"
        );
        assert!(text.contains("pub y: Option<Json>"), "{text}");
        assert!(text.contains(r#"any y: "y" in 0b10000 / 0b00000;"#), "{text}");
    }

    #[test]
    fn what_some_revision_lacks_is_optional() {
        let text = written("B");
        assert!(text.contains("pub x: String"), "{text}");
        assert!(text.contains("Only in 2026-07-28.\n    pub z: Option<bool>"), "{text}");
    }

    #[test]
    fn kinds_with_more_marks_are_tried_first() {
        let mut out = String::new();
        union(&model(), "ContentBlock", &["B".to_owned(), "A".to_owned()], &mut out).unwrap();
        let order = (out.find("A(A): ").unwrap(), out.find("B(B): ").unwrap());
        assert!(order.0 < order.1, "{out}");
    }
}
