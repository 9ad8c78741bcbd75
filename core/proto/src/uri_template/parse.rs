//! The grammar of templates: RFC 6570, section 2.

use memchr::memchr2;

use super::expand::encode_into;
use super::part::{Modifier, Operator, Part, Variable, percent_decoded};
use super::{UriTemplate, UriTemplateError};

type Result<T> = std::result::Result<T, UriTemplateError>;

/// The longest prefix the grammar has.
const MAX_PREFIX: usize = 9999;

/// Splits `text` into literals and expressions.
pub(super) fn parse(text: &str) -> Result<Vec<Part>> {
    let mut parser = Parser {
        parts: Vec::new(),
        expressions: 0,
        variables: 0,
    };
    if text.len() > UriTemplate::MAX_LENGTH {
        let (limit, length) = (UriTemplate::MAX_LENGTH, text.len());
        let message = format!("the template has {length} bytes; write one of at most {limit}");
        return fail(limit, message);
    }
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        match memchr2(b'{', b'}', rest.as_bytes()) {
            Some(0) if rest.starts_with('{') => at += parser.expression(rest, at)?,
            Some(0) => {
                return fail(
                    at,
                    "`}` without a `{` before it; open an expression, or write %7D for a brace",
                );
            }
            next => {
                let length = next.unwrap_or(rest.len());
                parser.literal(&rest[..length], at)?;
                at += length;
            }
        }
    }
    Ok(parser.parts)
}

struct Parser {
    parts: Vec<Part>,
    expressions: usize,
    variables: usize,
}

impl Parser {
    fn literal(&mut self, text: &str, start: usize) -> Result<()> {
        for (at, character) in text.char_indices() {
            if character == '%' && percent_decoded(&text.as_bytes()[at..]).is_none() {
                return fail(
                    start + at,
                    "`%` without two hex digits after it; write %25 for a percent sign",
                );
            }
            if !may_stand_in_literal(character) {
                let mut encoded = String::new();
                encode_into(&mut encoded, character.encode_utf8(&mut [0; 4]), false);
                let message = format!("{character:?} may not stand in a URI template; write {encoded}");
                return fail(start + at, message);
            }
        }
        let mut literal = String::with_capacity(text.len());
        encode_into(&mut literal, text, true);
        self.parts.push(Part::Literal(literal));
        Ok(())
    }

    /// Reads the expression at the start of `text`; gives its length.
    fn expression(&mut self, text: &str, start: usize) -> Result<usize> {
        let end = match memchr2(b'{', b'}', &text.as_bytes()[1..]).map(|at| at + 1) {
            Some(end) if text[end..].starts_with('}') => end,
            Some(inner) => {
                return fail(
                    start + inner,
                    "`{` inside an expression; close the one before it with `}`",
                );
            }
            None => {
                return fail(
                    start,
                    "`{` without a `}` after it; close the expression, or write %7B for a brace",
                );
            }
        };
        self.expressions += 1;
        if self.expressions > UriTemplate::MAX_EXPRESSIONS {
            let limit = UriTemplate::MAX_EXPRESSIONS;
            return fail(
                start,
                format!("too many expressions; write at most {limit} in one template"),
            );
        }
        let (operator, inner) = operator(&text[1..end], start + 1)?;
        let mut at = start + end - inner.len();
        let mut variables = Vec::new();
        for spec in inner.split(',') {
            self.variables += 1;
            if self.variables > UriTemplate::MAX_VARIABLES {
                let limit = UriTemplate::MAX_VARIABLES;
                return fail(at, format!("too many variables; write at most {limit} in one template"));
            }
            variables.push(variable(spec, at)?);
            at += spec.len() + 1;
        }
        self.parts.push(Part::Expression(operator, variables));
        Ok(end + 1)
    }
}

fn operator(inner: &str, at: usize) -> Result<(Operator, &str)> {
    let Some(sign) = inner.chars().next() else {
        return fail(at, "an expression without a variable; write one, as in {name}");
    };
    if "=,!@|".contains(sign) {
        let message = format!("the operator `{sign}` is reserved and has no meaning; use one of + # . / ; ? & or none");
        return fail(at, message);
    }
    Ok(match Operator::from_char(sign) {
        Some(operator) => (operator, &inner[1..]),
        None => (Operator::Simple, inner),
    })
}

fn variable(spec: &str, at: usize) -> Result<Variable> {
    let length = name_length(spec, at)?;
    let (name, rest) = spec.split_at(length);
    let modifier = match rest.split_at_checked(1) {
        None => Modifier::None,
        Some(("*", "")) => Modifier::Explode,
        Some((":", digits)) => Modifier::Prefix(prefix(digits, at + length + 1)?),
        _ => {
            let message = "only `*` or `:` with a length may follow a variable's name, and only one of them";
            return fail(at + length, message);
        }
    };
    Ok(Variable {
        name: name.to_owned(),
        modifier,
    })
}

/// The length of the name at the start of `spec`: letters, digits, `_` and percent-encodings, with
/// single dots between them.
fn name_length(spec: &str, at: usize) -> Result<usize> {
    const RIGHT: &str = "a name has letters, digits, `_`, percent-encoded bytes, and single dots between them";
    let bytes = spec.as_bytes();
    let mut end = 0;
    let mut after_character = false;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'*' | b':' => break,
            b'.' if after_character => after_character = false,
            b'%' if percent_decoded(&bytes[end..]).is_some() => {
                end += 2;
                after_character = true;
            }
            b'_' => after_character = true,
            _ if byte.is_ascii_alphanumeric() => after_character = true,
            _ => {
                let wrong = spec[end..].chars().next().unwrap_or_default();
                return fail(
                    at + end,
                    format!("{wrong:?} may not stand here in a variable's name; {RIGHT}"),
                );
            }
        }
        end += 1;
    }
    match (after_character, end) {
        (true, _) => Ok(end),
        (false, 0) => fail(at, format!("a variable without a name; {RIGHT}")),
        (false, _) => fail(at + end - 1, format!("a variable's name ends with a dot; {RIGHT}")),
    }
}

fn prefix(digits: &str, at: usize) -> Result<usize> {
    let well_formed = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(length) if well_formed && length <= MAX_PREFIX => Ok(length),
        _ => fail(
            at,
            format!("a prefix without its length; write a number from 1 to {MAX_PREFIX} after the `:`"),
        ),
    }
}

/// The `literals` of the grammar. The apostrophe is among them, as in URIs and by the RFC's errata.
fn may_stand_in_literal(character: char) -> bool {
    match character {
        '\0'..=' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' | '\u{7f}'..='\u{9f}' => false,
        '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}' => false,
        _ => u32::from(character) & 0xfffe != 0xfffe,
    }
}

fn fail<T>(offset: usize, message: impl Into<String>) -> Result<T> {
    Err(UriTemplateError::new(offset, message))
}
