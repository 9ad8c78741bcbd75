//! Expansion: RFC 6570, section 3.

use std::collections::BTreeMap;

use super::UriValue;
use super::part::{Modifier, Operator, Part, Variable, is_reserved, is_unreserved, percent_decoded};

/// Writes `parts` with the values of `variables`.
pub(super) fn expand(parts: &[Part], variables: &BTreeMap<String, UriValue>) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Expression(operator, names) => {
                let mut mark = operator.lead();
                for variable in names {
                    let Some(value) = variables.get(&variable.name).filter(|value| is_defined(value)) else {
                        continue;
                    };
                    out.extend(mark);
                    mark = Some(operator.separator());
                    write_value(&mut out, *operator, variable, value);
                }
            }
        }
    }
    out
}

/// A list or map without members counts as undefined.
fn is_defined(value: &UriValue) -> bool {
    match value {
        UriValue::Text(_) => true,
        UriValue::List(items) => !items.is_empty(),
        UriValue::Map(pairs) => !pairs.is_empty(),
    }
}

fn write_value(out: &mut String, operator: Operator, variable: &Variable, value: &UriValue) {
    let name = &variable.name;
    match (value, variable.modifier) {
        (UriValue::Text(text), Modifier::Prefix(limit)) => {
            write_member(out, operator, name, &encode(operator, first(operator, text, limit)));
        }
        (UriValue::Text(text), _) => write_member(out, operator, name, &encode(operator, text)),
        (UriValue::List(items), Modifier::Explode) => {
            separated(out, operator.separator(), items, |out, item| {
                write_member(out, operator, name, &encode(operator, item));
            });
        }
        (UriValue::Map(pairs), Modifier::Explode) => {
            separated(out, operator.separator(), pairs, |out, (key, item)| {
                let (key, item) = (encode(operator, key), encode(operator, item));
                if operator.is_named() {
                    write_member(out, operator, &key, &item);
                } else {
                    out.extend([&key, "=", &item]);
                }
            });
        }
        // A prefix has no meaning for a list or a map, so it is not applied.
        (UriValue::List(items), _) => {
            let mut text = String::new();
            separated(&mut text, ',', items, |text, item| {
                text.push_str(&encode(operator, item));
            });
            write_member(out, operator, name, &text);
        }
        (UriValue::Map(pairs), _) => {
            let mut text = String::new();
            separated(&mut text, ',', pairs, |text, (key, item)| {
                text.extend([&encode(operator, key), ",", &encode(operator, item)]);
            });
            write_member(out, operator, name, &text);
        }
    }
}

fn separated<T>(out: &mut String, separator: char, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    for (index, item) in items.iter().enumerate() {
        out.extend((index > 0).then_some(separator));
        write(out, item);
    }
}

/// Writes an encoded value, under its name if the operator wants it.
fn write_member(out: &mut String, operator: Operator, name: &str, value: &str) {
    if operator.is_named() {
        out.push_str(name);
        if !value.is_empty() || operator != Operator::Parameter {
            out.push('=');
        }
    }
    out.push_str(value);
}

/// The first `limit` characters. Where a percent-encoding is kept it counts as one character.
fn first(operator: Operator, text: &str, limit: usize) -> &str {
    let mut end = 0;
    for _ in 0..limit {
        let rest = &text[end..];
        let Some(character) = rest.chars().next() else { break };
        let kept = operator.keeps_reserved() && percent_decoded(rest.as_bytes()).is_some();
        end += if kept { 3 } else { character.len_utf8() };
    }
    &text[..end]
}

fn encode(operator: Operator, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    encode_into(&mut out, text, operator.keeps_reserved());
    out
}

/// Percent-encodes what may not stand in a URI, and reserved characters unless they are kept; with
/// them, what is percent-encoded already is kept.
pub(super) fn encode_into(out: &mut String, text: &str, keep_reserved: bool) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for (at, byte) in text.bytes().enumerate() {
        let kept = || is_reserved(char::from(byte)) || percent_decoded(&text.as_bytes()[at..]).is_some();
        if is_unreserved(byte) || keep_reserved && kept() {
            out.push(char::from(byte));
        } else {
            let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}
