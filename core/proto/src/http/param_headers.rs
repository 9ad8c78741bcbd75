//! `x-mcp-header`: parameters of a tool that a request also carries as header fields.
//!
//! A property of the input schema with `"x-mcp-header": "Region"` is mirrored into `Mcp-Param-Region`.
//!
//! | constraint on the annotation | else the tool definition is invalid |
//! | --- | --- |
//! | a non-empty token of RFC 9110 | it could not name a field |
//! | unique in the schema without regard to case | two values for one field |
//! | on a `string`, `integer` or `boolean` | no one text for the value |
//! | reached from the root through `properties` only | no one place for the value |
//!
//! (2026-07-28 streamable-http, Custom Headers from Tool Parameters; server/tools, `x-mcp-header`.)

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde_json::value::RawValue;

use super::fields::{self, Fields};
use super::media::is_token;
use super::value::{decode_value, encode_value};
use crate::jsonrpc::{decode_str, members};

const ANNOTATION: &str = "x-mcp-header";
const FIELD_PREFIX: &str = "Mcp-Param-";

/// How deep properties may nest; a schema is a stranger's.
const MAX_DEPTH: usize = 64;

/// The largest integer that every reader of JSON keeps exactly: 2^53 - 1.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Which parameters of a tool stand in header fields too.
///
/// ```
/// use oxmcp_proto::http::ParamHeaders;
/// use oxmcp_proto::jsonrpc::json;
///
/// let schema = json(r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#)?;
/// let headers = ParamHeaders::read(&schema)?;
/// let arguments = json(r#"{"region":"us-west1","query":"SELECT 1"}"#)?;
/// let fields = headers.fields(Some(&arguments))?;
/// assert_eq!(fields, [("Mcp-Param-Region".to_owned(), "us-west1".to_owned())]);
/// assert!(headers.check(Some(&arguments), &fields).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders(Vec<ParamHeader>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ParamHeader {
    /// `Mcp-Param-` and the annotation.
    field: String,
    /// The keys of `properties` from the root.
    path: Vec<String>,
}

/// An annotation that makes its tool definition invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAnnotation {
    at: String,
    why: Cow<'static, str>,
}

impl fmt::Display for BadAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ANNOTATION} at {}: {}", self.at, self.why)
    }
}

impl std::error::Error for BadAnnotation {}

/// A header field and a part of the body that disagree, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement(pub(super) String);

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Disagreement {}

impl ParamHeaders {
    /// Reads the annotations of an input schema.
    ///
    /// # Errors
    /// When one of them breaks a constraint. A client then leaves the tool out of its list; a server
    /// does not offer it.
    pub fn read(input_schema: &RawValue) -> Result<Self, BadAnnotation> {
        let mut found = Self::default();
        // Hardly any schema has one. An escape could hide it.
        let text = input_schema.get().as_bytes();
        if memmem::find(text, ANNOTATION.as_bytes()).is_some() || memmem::find(text, b"\\u").is_some() {
            found.collect(input_schema, &mut Vec::new(), Place::Root)?;
        }
        Ok(found)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields a client sends with a call. Parameters that are absent or null have none.
    ///
    /// # Errors
    /// When an integer is outside the range that everyone reads the same.
    pub fn fields(&self, arguments: Option<&RawValue>) -> Result<Vec<(String, String)>, Disagreement> {
        let mut all = Vec::with_capacity(self.0.len());
        for header in &self.0 {
            let Some(value) = header.value(arguments)? else {
                continue;
            };
            let Some(text) = header.text_of(value)? else { continue };
            all.push((header.field.clone(), encode_value(&text).into_owned()));
        }
        Ok(all)
    }

    /// Checks that the fields a server got say what the arguments say.
    ///
    /// # Errors
    /// The first disagreement: a field that is missing, differs, cannot be decoded, or has no value in
    /// the arguments.
    pub fn check(&self, arguments: Option<&RawValue>, fields: &dyn Fields) -> Result<(), Disagreement> {
        self.0.iter().try_for_each(|header| header.check(arguments, fields))
    }

    fn collect(&mut self, schema: &RawValue, path: &mut Vec<String>, place: Place) -> Result<(), BadAnnotation> {
        let bad = |path: &[String], why: Cow<'static, str>| {
            let at = if path.is_empty() {
                "the root".into()
            } else {
                path.join(".")
            };
            Err(BadAnnotation { at, why })
        };
        if place.depth() > MAX_DEPTH {
            return bad(path, "the schema nests too deep".into());
        }
        let Some(all) = members(schema) else {
            return self.collect_in_array(schema, path, place);
        };
        if let (Some((_, name)), true) = (last(&all, ANNOTATION), place.is_schema()) {
            let Some(name) = decode_str(name) else {
                return bad(path, "it must be a string".into());
            };
            if let Err(why) = self.admit(&name, &all, path, place) {
                return bad(path, why);
            }
        }
        for (key, value) in &all {
            path.push(key.clone().into_owned());
            let inner = match (place, &**key) {
                (Place::Properties(depth), _) => Place::Reachable(depth + 1),
                (Place::Names(depth), _) => Place::Elsewhere(depth + 1),
                (Place::Root | Place::Reachable(_), "properties") => {
                    path.pop();
                    self.collect(value, path, Place::Properties(place.depth() + 1))?;
                    continue;
                }
                // What stands in these is a value, not a schema.
                (_, "const" | "default" | "enum" | "examples") => {
                    path.pop();
                    continue;
                }
                (_, "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas") => {
                    Place::Names(place.depth() + 1)
                }
                _ => Place::Elsewhere(place.depth() + 1),
            };
            self.collect(value, path, inner)?;
            path.pop();
        }
        Ok(())
    }

    /// An array in a schema may hold schemas: `oneOf`, `prefixItems`.
    fn collect_in_array(
        &mut self,
        value: &RawValue,
        path: &mut Vec<String>,
        place: Place,
    ) -> Result<(), BadAnnotation> {
        let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(value.get()) else {
            return Ok(());
        };
        elements
            .into_iter()
            .try_for_each(|element| self.collect(element, path, Place::Elsewhere(place.depth() + 1)))
    }

    fn admit(
        &mut self,
        name: &str,
        schema: &[(Cow<'_, str>, &RawValue)],
        path: &[String],
        place: Place,
    ) -> Result<(), Cow<'static, str>> {
        if name.is_empty() {
            return Err("it must not be empty".into());
        }
        if !is_token(name) {
            return Err(format!("{name:?} can not stand in the name of a header field").into());
        }
        if !matches!(place, Place::Reachable(_)) {
            return Err("it must stand on a property that is reached through \"properties\" alone".into());
        }
        if !last(schema, "type").is_some_and(|(_, kind)| is_primitive(kind)) {
            return Err("its property must have the type \"string\", \"integer\" or \"boolean\"".into());
        }
        let field = format!("{FIELD_PREFIX}{name}");
        if self.0.iter().any(|other| other.field.eq_ignore_ascii_case(&field)) {
            return Err(format!("\"{name}\" stands twice in the schema; case makes no difference").into());
        }
        self.0.push(ParamHeader {
            field,
            path: path.to_vec(),
        });
        Ok(())
    }
}

/// Where in a schema an object stands, with its depth.
#[derive(Clone, Copy, Debug)]
enum Place {
    Root,
    /// The value of `properties` on the way from the root.
    Properties(usize),
    /// A property on the way from the root.
    Reachable(usize),
    /// An object whose keys are names, and whose values are schemas, off the way.
    Names(usize),
    /// A schema off the way, or no schema at all.
    Elsewhere(usize),
}

impl Place {
    const fn depth(self) -> usize {
        match self {
            Self::Root => 0,
            Self::Properties(depth) | Self::Reachable(depth) | Self::Names(depth) | Self::Elsewhere(depth) => depth,
        }
    }

    const fn is_schema(self) -> bool {
        !matches!(self, Self::Properties(_) | Self::Names(_))
    }
}

impl ParamHeader {
    /// The value at the path; `None` when it is absent or null.
    fn value<'a>(&self, arguments: Option<&'a RawValue>) -> Result<Option<&'a RawValue>, Disagreement> {
        let mut at = arguments;
        for key in &self.path {
            let Some(all) = at.and_then(members) else {
                return Ok(None);
            };
            let mut found = all.iter().filter(|(name, _)| name == key);
            at = found.next().map(|(_, value)| *value);
            // Who reads the first and who reads the last would see different values.
            if found.next().is_some() {
                return Err(self.disagree(&format!("\"{key}\" stands twice in the arguments")));
            }
        }
        Ok(at.filter(|value| value.get() != "null"))
    }

    /// The value as text; `None` for an array or an object, which has none.
    fn text_of<'a>(&self, value: &'a RawValue) -> Result<Option<Cow<'a, str>>, Disagreement> {
        let text = value.get();
        Ok(match text.as_bytes().first() {
            Some(b'[' | b'{') | None => None,
            Some(b'"') => {
                let Some(string) = decode_str(value) else {
                    return Err(self.disagree("its value in the arguments is not valid text"));
                };
                Some(string)
            }
            Some(b't' | b'f') => Some(Cow::Borrowed(text)),
            _ => Some(self.number(text)?),
        })
    }

    fn number<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, Disagreement> {
        if text
            .parse::<i64>()
            .is_ok_and(|number| number.unsigned_abs() <= SAFE_INTEGER as u64)
        {
            return Ok(Cow::Borrowed(text));
        }
        let number: f64 = text.parse().unwrap_or(f64::INFINITY);
        if number.abs() > SAFE_INTEGER {
            return Err(self.disagree(&format!(
                "{text} is outside the range of integers that everyone reads the same"
            )));
        }
        // 42.0 and 4.2e1 are integers too.
        let is_whole = number.fract() == 0.0;
        Ok(if is_whole {
            Cow::Owned((number as i64).to_string())
        } else {
            Cow::Borrowed(text)
        })
    }

    fn check(&self, arguments: Option<&RawValue>, fields: &dyn Fields) -> Result<(), Disagreement> {
        let sent = self.sent(fields)?;
        let value = self.value(arguments)?;
        let expected = match value {
            Some(value) => self.text_of(value)?,
            None => None,
        };
        match (sent, expected) {
            (None, None) => Ok(()),
            (None, Some(text)) => Err(self.disagree(&format!("it is missing, and the arguments say {text:?}"))),
            (Some(sent), None) => {
                Err(self.disagree(&format!("it says {sent:?}, and the arguments have no such value")))
            }
            (Some(sent), Some(text)) => {
                let is_number =
                    value.is_some_and(|value| value.get().starts_with(|it: char| it == '-' || it.is_ascii_digit()));
                if sent == text || is_number && same_number(&sent, &text) {
                    Ok(())
                } else {
                    Err(self.disagree(&format!("it says {sent:?}, and the arguments say {text:?}")))
                }
            }
        }
    }

    /// The decoded value of the field.
    fn sent(&self, fields: &dyn Fields) -> Result<Option<String>, Disagreement> {
        let mut values = Vec::new();
        fields.each(&self.field, &mut |value| values.push(value));
        let value = match values[..] {
            [] => return Ok(None),
            [value] => value,
            _ => return Err(self.disagree("it stands twice")),
        };
        let Some(text) = fields::text(value) else {
            return Err(self.disagree("it contains characters other than visible ASCII, space and tab"));
        };
        match decode_value(text) {
            Some(value) => Ok(Some(value.into_owned())),
            None => Err(self.disagree(&format!("{text:?} is not valid Base64 of UTF-8 text"))),
        }
    }

    fn disagree(&self, why: &str) -> Disagreement {
        Disagreement(format!("the {} header: {why}", self.field))
    }
}

/// Whether a `type` allows one kind of text. A null beside it has no text, so it may stand there.
fn is_primitive(kind: &RawValue) -> bool {
    let kinds: Vec<String> = match decode_str(kind) {
        Some(kind) => vec![kind.into_owned()],
        None => serde_json::from_str(kind.get()).unwrap_or_default(),
    };
    let mut texts = kinds.iter().filter(|kind| *kind != "null");
    matches!(
        (texts.next().map(String::as_str), texts.next()),
        (Some("string" | "integer" | "boolean"), None)
    )
}

/// Whether two texts are the same number: `42.0` and `42` are.
fn same_number(a: &str, b: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<f64>(text).ok();
    matches!((read(a), read(b)), (Some(a), Some(b)) if a == b)
}

/// The member that most readers take when a name stands twice.
fn last<'a, 'b>(all: &'b [(Cow<'a, str>, &'a RawValue)], wanted: &str) -> Option<&'b (Cow<'a, str>, &'a RawValue)> {
    all.iter().rfind(|(key, _)| key == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    fn read(properties: &str) -> Result<ParamHeaders, String> {
        let schema = json(format!(r#"{{"type":"object","properties":{properties}}}"#)).unwrap();
        ParamHeaders::read(&schema).map_err(|error| error.to_string())
    }

    fn fields(properties: &str, arguments: &str) -> Vec<(String, String)> {
        read(properties)
            .unwrap()
            .fields(Some(&json(arguments).unwrap()))
            .unwrap()
    }

    #[test]
    fn annotations_that_break_a_constraint_make_the_definition_invalid() {
        for (properties, why) in [
            (
                r#"{"a":{"type":"string","x-mcp-header":""}}"#,
                "at a: it must not be empty",
            ),
            (r#"{"a":{"type":"string","x-mcp-header":7}}"#, "must be a string"),
            (
                r#"{"a":{"type":"string","x-mcp-header":"My Region"}}"#,
                "name of a header",
            ),
            (
                r#"{"a":{"type":"string","x-mcp-header":"Region:Primary"}}"#,
                "name of a header",
            ),
            (
                r#"{"a":{"type":"string","x-mcp-header":"R\u00e9gion"}}"#,
                "name of a header",
            ),
            (
                r#"{"a":{"type":"string","x-mcp-header":"Region\t1"}}"#,
                "name of a header",
            ),
            (r#"{"a":{"type":"string","x-mcp-header":"a\r\nb"}}"#, "name of a header"),
            (r#"{"a":{"type":"object","x-mcp-header":"Data"}}"#, "must have the type"),
            (
                r#"{"items":{"type":"array","items":{"type":"string"},"x-mcp-header":"A"}}"#,
                "must have the type",
            ),
            (r#"{"a":{"type":"null","x-mcp-header":"Nil"}}"#, "must have the type"),
            (r#"{"a":{"type":"number","x-mcp-header":"N"}}"#, "must have the type"),
            (
                r#"{"a":{"type":["string","integer"],"x-mcp-header":"N"}}"#,
                "must have the type",
            ),
            (r#"{"a":{"x-mcp-header":"N"}}"#, "must have the type"),
            (
                r#"{"a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"R"}}"#,
                "at b: \"R\" stands twice",
            ),
            (
                r#"{"a":{"type":"string","x-mcp-header":"MyField"},"b":{"type":"string","x-mcp-header":"myfield"}}"#,
                "stands twice",
            ),
            (
                r#"{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}"#,
                "at a.items: it must stand on a property",
            ),
            (
                r#"{"a":{"oneOf":[{"type":"string","x-mcp-header":"A"}]}}"#,
                "it must stand on a property",
            ),
            (
                r#"{"a":{"anyOf":[{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}]}}"#,
                "at a.anyOf.properties.b: it must stand on a property",
            ),
            (
                r#"{"a":{"$defs":{"default":{"type":"string","x-mcp-header":"A"}}}}"#,
                "it must stand on a property",
            ),
        ] {
            let error = read(properties).unwrap_err();
            assert!(error.contains(why), "{properties}: {error}");
        }
        let root = json(r#"{"type":"object","x-mcp-header":"A"}"#).unwrap();
        assert!(ParamHeaders::read(&root).unwrap_err().to_string().contains("the root"));
        let escaped = json(r#"{"type":"object","properties":{"a":{"\u0078-mcp-header":""}}}"#).unwrap();
        assert!(ParamHeaders::read(&escaped).is_err());
    }

    #[test]
    fn what_only_looks_like_an_annotation_is_none() {
        for properties in [
            r#"{"x-mcp-header":{"type":"object"}}"#,
            r#"{"a":{"type":"object","default":{"x-mcp-header":""}}}"#,
            r#"{"a":{"enum":[{"x-mcp-header":1}]}}"#,
            r#"{"a":{"type":"string","description":"x-mcp-header"}}"#,
        ] {
            assert!(read(properties).unwrap().is_empty(), "{properties}");
        }
    }

    #[test]
    fn a_schema_that_nests_without_end_is_refused_and_not_followed() {
        let deep = format!("{}{}", r#"{"a":"#.repeat(100), "1") + &"}".repeat(100);
        let schema = json(format!(r#"{{"x-mcp-header":"A","properties":{{"b":{deep}}}}}"#)).unwrap();
        assert!(ParamHeaders::read(&schema).is_err());
    }

    #[test]
    fn a_client_mirrors_each_annotated_value_that_is_there() {
        let properties = r#"{
            "region":{"type":"string","x-mcp-header":"Region"},
            "count":{"type":"integer","x-mcp-header":"Count"},
            "debug":{"type":["boolean","null"],"x-mcp-header":"Debug"},
            "method":{"type":"string","x-mcp-header":"Method"},
            "query":{"type":"string"},
            "where":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}}
        }"#;
        for (arguments, want) in [
            ("{}", &[][..]),
            (r#"{"region":null,"query":"x","where":{}}"#, &[]),
            (r#"{"where":{"zone":"b"}}"#, &[("Mcp-Param-Zone", "b")]),
            (
                r#"{"region":"","method":"m"}"#,
                &[("Mcp-Param-Region", ""), ("Mcp-Param-Method", "m")],
            ),
            (r#"{"region":" a"}"#, &[("Mcp-Param-Region", "=?base64?IGE=?=")]),
            (
                r#"{"count":42,"debug":false}"#,
                &[("Mcp-Param-Count", "42"), ("Mcp-Param-Debug", "false")],
            ),
            (r#"{"count":-7.0}"#, &[("Mcp-Param-Count", "-7")]),
            (r#"{"count":4.2e1}"#, &[("Mcp-Param-Count", "42")]),
            (
                r#"{"count":9007199254740991}"#,
                &[("Mcp-Param-Count", "9007199254740991")],
            ),
            (r#"{"region":{"a":1},"where":"x"}"#, &[]),
        ] {
            let want: Vec<_> = want
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            assert_eq!(fields(properties, arguments), want, "{arguments}");
        }
    }

    #[test]
    fn integers_that_readers_would_round_are_not_sent() {
        let headers = read(r#"{"count":{"type":"integer","x-mcp-header":"Count"}}"#).unwrap();
        for number in [
            "9007199254740992",
            "-9007199254740992",
            "1e300",
            "123456789012345678901234567890",
        ] {
            let arguments = json(format!(r#"{{"count":{number}}}"#)).unwrap();
            assert!(headers.fields(Some(&arguments)).is_err(), "{number}");
            assert!(
                headers.check(Some(&arguments), &[("Mcp-Param-Count", number)]).is_err(),
                "{number}"
            );
        }
    }

    #[test]
    fn a_server_takes_only_fields_that_say_what_the_arguments_say() {
        let headers = read(
            r#"{"region":{"type":"string","x-mcp-header":"Region"},"count":{"type":"integer","x-mcp-header":"Count"}}"#,
        )
        .unwrap();
        for (arguments, fields, why) in [
            (
                r#"{"region":"Hello"}"#,
                &[("Mcp-Param-Region", "=?base64?SGVsbG8=?=")][..],
                "",
            ),
            (r#"{"region":"SGVsbG8="}"#, &[("mcp-param-region", " SGVsbG8= ")], ""),
            (
                r#"{"region":"=?base64?SGVsbG8="}"#,
                &[("Mcp-Param-Region", "=?base64?SGVsbG8=")],
                "",
            ),
            (r#"{"region":"Hell\u006f"}"#, &[("MCP-PARAM-REGION", "Hello")], ""),
            (r#"{"region":null}"#, &[], ""),
            ("{}", &[("Mcp-Param-Other", "x")], ""),
            (r#"{"count":42}"#, &[("Mcp-Param-Count", "42.0")], ""),
            (r#"{"count":42.0}"#, &[("Mcp-Param-Count", "42")], ""),
            (r#"{"region":{}}"#, &[], ""),
            (
                r#"{"region":"Hello"}"#,
                &[("Mcp-Param-Region", "=?base64?SGVsbG8?=")],
                "not valid Base64",
            ),
            (
                r#"{"region":"Hello"}"#,
                &[("Mcp-Param-Region", "=?base64?SGVs!!!bG8=?=")],
                "not valid Base64",
            ),
            (
                r#"{"region":"Hello"}"#,
                &[("Mcp-Param-Region", "hello")],
                "arguments say \"Hello\"",
            ),
            (
                r#"{"region":"Hello"}"#,
                &[("Mcp-Param-Region", "H\u{e9}")],
                "characters other than",
            ),
            (
                r#"{"region":"a"}"#,
                &[("Mcp-Param-Region", "a"), ("mcp-param-region", "a")],
                "stands twice",
            ),
            (r#"{"region":"test-value"}"#, &[], "it is missing"),
            (r#"{"region":null}"#, &[("Mcp-Param-Region", "a")], "no such value"),
            ("{}", &[("Mcp-Param-Region", "")], "no such value"),
            (
                r#"{"region":"a","region":"b"}"#,
                &[("Mcp-Param-Region", "a")],
                "stands twice in the arguments",
            ),
            (r#"{"count":42}"#, &[("Mcp-Param-Count", "0x2a")], "arguments say"),
            (r#"{"count":"42"}"#, &[("Mcp-Param-Count", "42.0")], "arguments say"),
        ] {
            let arguments = json(arguments).unwrap();
            match headers.check(Some(&arguments), &fields) {
                Ok(()) => assert_eq!(why, "", "{arguments} {fields:?}"),
                Err(error) => assert!(
                    !why.is_empty() && error.to_string().contains(why),
                    "{arguments} {fields:?}: {error}"
                ),
            }
        }
        assert!(headers.check(None, &[("a", "b")]).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn what_a_client_mirrors_a_server_takes(
            text in "\\PC{0,12}|[ -~]{0,12}",
            number in -9_007_199_254_740_991i64..=9_007_199_254_740_991,
            flag: bool,
        ) {
            let headers = read(r#"{"s":{"type":"string","x-mcp-header":"S"},"o":{"properties":{
                "n":{"type":"integer","x-mcp-header":"N"},"b":{"type":"boolean","x-mcp-header":"B"}}}}"#).unwrap();
            let arguments = serde_json::json!({"s": text, "o": {"n": number, "b": flag}}).to_string();
            let arguments = json(arguments).unwrap();
            let fields = headers.fields(Some(&arguments)).unwrap();
            proptest::prop_assert_eq!(fields.len(), 3);
            proptest::prop_assert_eq!(headers.check(Some(&arguments), &fields), Ok(()));
        }
    }
}
