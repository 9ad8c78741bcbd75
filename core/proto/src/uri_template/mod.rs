//! URI templates, all four levels of RFC 6570, in both directions: expansion writes a URI from
//! variables, matching finds the variables of a URI.
//!
//! # Matching
//!
//! The RFC defines expansion alone. Here matching is its inverse, with one rule wherever several
//! variables would give the same URI:
//!
//! | expression | matches | value |
//! | --- | --- | --- |
//! | `{x}` | one character or more, without `/`, `?` or `#` | text |
//! | `{x:3}` | the same, at most 3 characters | text |
//! | `{x*}` | the same, separated by `,` | list |
//! | `{+x}` | one character or more, of any kind | text |
//! | `{.x}` `{/x}` | nothing, or the sign and a value as of `{x}` that may be empty | text |
//! | `{.x*}` `{/x*}` | the same, repeated | list |
//! | `{#x}` | nothing, or `#` and characters of any kind | text |
//! | `{;x}` `{?x}` `{&x}` | nothing, or the member `x=value` in any order with others | text |
//! | `{;x*}` `{?x*}` `{&x*}` | the same, repeated | list |
//! | `{;x*}` `{?x*}` `{&x*}` | members of other names than those in the template | map |
//!
//! - **Missing and empty.** A variable is missing when nothing in the URI marks it, and left out of
//!   the result. A value is empty only after a sign that marks it: `users/{id}` does not match
//!   `users/`, `users{/id}` matches both `users` and, with an empty value, `users/`. In an
//!   expression of several variables (`{x,y}`, `{/x,y}`) values belong to variables from the left,
//!   so the last are missing first.
//! - **Shape.** A variable without `*` is always text, commas and all; one with `*` never is.
//! - **Order.** Members of one expression, and of expressions that follow each other (`{?a}{&b}`),
//!   come in any order. A name that no variable takes, or a member twice, is no match; neither is
//!   `{?x*}` with members of its own name and of others.
//! - **Encoding.** Percent-encoding is decoded once. Literals and names of members are compared
//!   after decoding, but an encoded reserved character (`%2F`) is never the same as a plain one.
//!   A malformed percent-encoding, bytes that are not UTF-8, and NUL are no match.
//! - **Reserved characters.** Expansion encodes them in values, people often do not: `{id}` matches
//!   `a@b`. A reading without them goes before one with them.
//! - **Choice.** When several readings remain, expressions that can be there are there, and each
//!   value, from the last to the first, is as short as it can be: `{name}{.ext}` reads `a.tar.gz`
//!   as `a.tar` and `gz`.
//! - **A variable twice** has to have the same value in all places.
//!
//! # Paths
//!
//! A value cannot climb out of the place the template gives it. `{x}`, `{.x}`, `{/x}` and `{;x}`
//! refuse values that hold `/` or `\` after decoding, and the values `.` and `..`; `{+x}` and `{#x}`
//! refuse those that have `.` or `..` between slashes of either kind, and after a `/` those that begin with
//! one. A URI with such a value is no match, even if another reading of it would be harmless.
//! What remains for a server of files: links, drive letters as `C:x`, reserved values that do not
//! stand after a `/` and so may begin with one (`docs{+path}`, `file://{+path}`, the second of
//! `{+x,y}`), and values of a query, which may hold anything.
//!
//! # Bounds
//!
//! Templates: [`UriTemplate::MAX_LENGTH`], [`UriTemplate::MAX_EXPRESSIONS`] and
//! [`UriTemplate::MAX_VARIABLES`]. URIs over [`UriTemplate::MAX_URI_LENGTH`] match nothing. The
//! time of a match is at most proportional to the length of the URI times the number of literals
//! and variables; no URI makes it longer.

mod bind;
mod error;
mod expand;
mod parse;
mod part;
mod pattern;
mod search;
#[cfg(test)]
mod tests;
mod token;

use std::collections::BTreeMap;

pub use error::UriTemplateError;

use part::Part;
use pattern::{Pattern, Piece};
use search::Reading;
use token::{Token, tokens};

/// A URI template of RFC 6570.
///
/// ```
/// use std::collections::BTreeMap;
/// use oxmcp_proto::uri_template::{UriTemplate, UriValue};
///
/// let template = UriTemplate::parse("repo://{owner}/{name}/files{/path*}{?ref}")?;
/// let variables = BTreeMap::from([
///     ("owner".to_owned(), UriValue::from("ada")),
///     ("name".to_owned(), UriValue::from("engine")),
///     ("path".to_owned(), UriValue::List(vec!["src".to_owned(), "main file.rs".to_owned()])),
/// ]);
/// let uri = template.expand(&variables);
/// assert_eq!(uri, "repo://ada/engine/files/src/main%20file.rs");
///
/// assert_eq!(template.matches(&uri).map(BTreeMap::from_iter), Some(variables));
/// assert_eq!(template.matches("repo://ada/engine/files/..%2Fsecret"), None);
/// # Ok::<(), oxmcp_proto::uri_template::UriTemplateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct UriTemplate {
    text: String,
    parts: Vec<Part>,
    names: Vec<String>,
    pattern: Option<Pattern>,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UriValue {
    /// One text.
    Text(String),
    /// Several, in order. Without items it counts as undefined.
    List(Vec<String>),
    /// Pairs of a name and a value, in order. Without pairs it counts as undefined.
    Map(Vec<(String, String)>),
}

impl From<&str> for UriValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for UriValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for UriValue {
    fn from(items: Vec<String>) -> Self {
        Self::List(items)
    }
}

impl UriTemplate {
    /// The most bytes a template may have.
    pub const MAX_LENGTH: usize = 4096;
    /// The most expressions `{..}` a template may have.
    pub const MAX_EXPRESSIONS: usize = 64;
    /// The most variables the expressions of a template may have together.
    pub const MAX_VARIABLES: usize = 128;
    /// The most bytes of a URI that can match.
    pub const MAX_URI_LENGTH: usize = 64 * 1024;

    /// Reads a template.
    ///
    /// # Errors
    /// When `text` does not follow the grammar of RFC 6570, or is over a bound.
    pub fn parse(text: &str) -> Result<Self, UriTemplateError> {
        let parts = parse::parse(text)?;
        let mut names = Vec::new();
        for part in &parts {
            let Part::Expression(_, variables) = part else { continue };
            for variable in variables {
                if !names.contains(&variable.name) {
                    names.push(variable.name.clone());
                }
            }
        }
        Ok(Self {
            text: text.to_owned(),
            pattern: Pattern::new(&parts, &names),
            parts,
            names,
        })
    }

    /// The template as it was given to [`parse`](Self::parse).
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables, in the order of the template, once each.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The URI for `variables`, as section 3 of RFC 6570 has it.
    ///
    /// Variables that are not in the map, and lists and maps without members, are undefined and
    /// write nothing. A prefix (`:n`) has no meaning for lists and maps: they are written whole.
    pub fn expand(&self, variables: &BTreeMap<String, UriValue>) -> String {
        expand::expand(&self.parts, variables)
    }

    /// The variables of a URI this template could have made, percent-decoded, in the order of the
    /// template and without the missing ones; `None` when it could not. The [module](self) has the
    /// rules.
    ///
    /// ```
    /// use oxmcp_proto::uri_template::{UriTemplate, UriValue};
    ///
    /// let template = UriTemplate::parse("search://{index}{?q,page}")?;
    /// let found = template.matches("search://books?page=2&q=rust%20uri").unwrap();
    /// assert_eq!(found[0], ("index".to_owned(), UriValue::from("books")));
    /// assert_eq!(found[1], ("q".to_owned(), UriValue::from("rust uri")));
    /// assert_eq!(template.matches("search://books?limit=2"), None);
    /// # Ok::<(), oxmcp_proto::uri_template::UriTemplateError>(())
    /// ```
    pub fn matches(&self, uri: &str) -> Option<Vec<(String, UriValue)>> {
        self.matches_counted(uri, &mut 0)
    }

    /// Adds the number of tokens looked at to `steps`: the bound on it is a promise.
    fn matches_counted(&self, uri: &str, steps: &mut usize) -> Option<Vec<(String, UriValue)>> {
        let pattern = self.pattern.as_ref()?;
        let tokens = tokens_after_start(pattern, uri)?;
        let mut read = |lenient| {
            let tokens = &tokens;
            let reading = Reading { tokens, lenient };
            Some((reading, reading.read(pattern, steps)?))
        };
        let (reading, found) = read(false).or_else(|| read(true))?;
        let values = bind::bind(reading, pattern, &found)?;
        let named = self.names.iter().zip(values);
        Some(named.filter_map(|(name, value)| Some((name.clone(), value?))).collect())
    }
}

/// The tokens of `uri`, if it begins as the template does: most URIs that do not match end here.
fn tokens_after_start(pattern: &Pattern, uri: &str) -> Option<Vec<Token>> {
    if uri.len() > UriTemplate::MAX_URI_LENGTH {
        return None;
    }
    let start = match pattern.pieces.first() {
        Some(Piece::Literal(literal)) => &literal.tokens[..],
        _ => &[],
    };
    let mut all = Vec::new();
    for token in tokens(uri) {
        let token = token?;
        if start.get(all.len()).is_some_and(|&want| want != token) {
            return None;
        }
        all.push(token);
    }
    Some(all)
}
