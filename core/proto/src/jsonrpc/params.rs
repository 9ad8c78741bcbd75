//! The params of a request, read once for all who ask for something in them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::scan::Scanner;
use super::text::raw;

/// The members of an object, in their order.
pub(crate) type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The params of a request, with their members and those of `_meta`.
#[derive(Debug, Default)]
pub struct Params<'a> {
    text: Option<&'a str>,
    /// All but `_meta`.
    members: Members<'a>,
    meta: Meta<'a>,
    /// `_meta` stands in it, whatever it is.
    has_meta: bool,
}

#[derive(Debug, Default)]
enum Meta<'a> {
    /// Or `null`.
    #[default]
    Absent,
    Object {
        text: &'a str,
        members: Members<'a>,
    },
    NoObject,
    Twice,
}

impl<'a> Meta<'a> {
    fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        let start = scanner.place();
        if scanner.is_at_object() {
            let members = scan_members(scanner)?;
            let text = scanner.since(start);
            return Some(Self::Object { text, members });
        }
        let is_null = scanner.value()? == "null";
        Some(if is_null { Self::Absent } else { Self::NoObject })
    }
}

/// A member that stands twice: who reads the first and who reads the last would see different values.
#[derive(Debug)]
pub(crate) struct Twice(pub String);

impl Twice {
    fn of(member: &str) -> Self {
        Self(format!("\"{member}\" stands twice in the body"))
    }
}

impl<'a> Params<'a> {
    /// Reads the text of params, which is valid JSON. What is no object has no members.
    pub fn read(text: Option<&'a str>) -> Self {
        let Some(text) = text else { return Self::default() };
        let mut scanner = Scanner::new(text, usize::MAX);
        scanner.blanks();
        Self {
            text: Some(text),
            ..Self::scan(&mut scanner).unwrap_or_default()
        }
    }

    /// Reads the params that begin here. `None` when they are no object.
    pub(super) fn scan(scanner: &mut Scanner<'a>) -> Option<Self> {
        let (start, mut params) = (scanner.place(), Self::default());
        scanner.object(|scanner, name| {
            let name = name.unwrap_or_default();
            if name != "_meta" {
                params.members.push((name, raw(scanner.value()?)));
                return Some(());
            }
            let meta = Meta::scan(scanner)?;
            params.meta = if params.has_meta { Meta::Twice } else { meta };
            params.has_meta = true;
            Some(())
        })?;
        params.text = Some(scanner.since(start));
        Some(params)
    }

    /// The text, where there are any params.
    pub fn text(&self) -> Option<&'a str> {
        self.text
    }

    /// The text; that of an empty object where there are no params.
    pub(crate) fn text_or_empty(&self) -> &'a str {
        self.text.unwrap_or("{}")
    }

    /// The member called `key`, which is any but `_meta`.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn member(&self, key: &str) -> Result<Option<&'a RawValue>, Twice> {
        only(&self.members, key)
    }

    /// Whether `_meta` can be read.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn check_meta(&self) -> Result<(), Twice> {
        match self.meta {
            Meta::Twice => Err(Twice::of("_meta")),
            Meta::Absent | Meta::Object { .. } | Meta::NoObject => Ok(()),
        }
    }

    /// The text of `_meta`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn meta(&self) -> Result<Option<&'a str>, String> {
        match &self.meta {
            Meta::Absent => Ok(None),
            Meta::Object { text, .. } => Ok(Some(text)),
            Meta::NoObject => Err("\"_meta\" must be an object".to_owned()),
            Meta::Twice => Err(Twice::of("_meta").0),
        }
    }

    /// The members of `_meta`.
    pub(crate) fn all_own(&self) -> &[(Cow<'a, str>, &'a RawValue)] {
        match &self.meta {
            Meta::Object { members, .. } => members,
            Meta::Absent | Meta::NoObject | Meta::Twice => &[],
        }
    }

    /// The member of `_meta` called `key`.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn own(&self, key: &str) -> Result<Option<&'a RawValue>, Twice> {
        only(self.all_own(), key)
    }
}

fn only<'a>(all: &[(Cow<'a, str>, &'a RawValue)], wanted: &str) -> Result<Option<&'a RawValue>, Twice> {
    let mut found = all.iter().filter(|(key, _)| key == wanted);
    let first = found.next().map(|(_, value)| *value);
    match found.next() {
        Some(_) => Err(Twice::of(wanted)),
        None => Ok(first),
    }
}

/// The members of the object that begins here.
fn scan_members<'a>(scanner: &mut Scanner<'a>) -> Option<Members<'a>> {
    let mut members = Members::new();
    scanner.object(|scanner, name| {
        members.push((name.unwrap_or_default(), raw(scanner.value()?)));
        Some(())
    })?;
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_the_whole_object() {
        for text in [
            "{}",
            "{ }",
            r#"{"a":1}"#,
            r#" { "a" : [ "}" ] , "b" : "\"}{" } "#,
            r#"{"_meta":{}}"#,
            r#"{"_meta" : { } }"#,
            r#"{"a":{"b":{}},"_meta":{"c":{"d":"}"} } }"#,
            r#"{"_meta":null}"#,
            r#"{"_meta":"}"}"#,
            r#"{"_meta":{"a":1},"b":2}"#,
            r#"{"\u005fmeta":{"a":"ä"},"ß":"ö"}"#,
        ] {
            let around = format!("{text}]");
            let mut scanner = Scanner::new(&around, 128);
            scanner.blanks();
            let params = Params::scan(&mut scanner).unwrap();
            assert_eq!(params.text(), Some(text.trim()), "{text}");
            assert_eq!(Params::read(Some(text)).text(), Some(text), "{text}");
        }
    }

    #[test]
    fn meta_is_read_with_the_rest() {
        let read = |text: &'static str| Params::read(Some(text));
        let params = read(r#"{"a":1,"_meta":{"x":{"y":2}},"b":3}"#);
        assert_eq!(params.meta(), Ok(Some(r#"{"x":{"y":2}}"#)));
        assert_eq!(params.own("x").unwrap().unwrap().get(), r#"{"y":2}"#);
        assert_eq!(params.member("b").unwrap().unwrap().get(), "3");
        assert!(params.member("c").unwrap().is_none());
        assert_eq!(read(r#"{"_meta":null}"#).meta(), Ok(None));
        assert!(read(r#"{"_meta":[]}"#).meta().is_err());
        assert!(read(r#"{"_meta":{},"_meta":{}}"#).meta().is_err());
        assert!(read(r#"{"_meta":null,"_meta":{}}"#).check_meta().is_err());
        assert!(read(r#"{"a":1,"a":1}"#).member("a").is_err());
        assert!(read(r#"{"_meta":{"a":1,"a":1}}"#).own("a").is_err());
    }
}
