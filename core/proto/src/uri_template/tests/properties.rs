use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::{UriTemplate, UriValue};

/// Text that a path can hold: no slashes, no NUL, not dots alone.
fn segment() -> impl Strategy<Value = String> {
    "[^/\\\\\0]{1,8}".prop_filter("dots alone are refused", |text| text != "." && text != "..")
}

/// Text that a query can hold.
fn any_text() -> impl Strategy<Value = String> {
    "[^\0]{0,8}"
}

/// One expression that stands for itself, with a value that matching has to give back.
fn unambiguous() -> impl Strategy<Value = (String, BTreeMap<String, UriValue>)> {
    let parts = (
        segment(),
        vec(segment(), 0..4),
        option::of(segment()),
        option::of(any_text()),
        vec(any_text(), 0..4),
        option::of("[a-z/?,;]{0,8}"),
        (any::<bool>(), "[a-z\u{e9}%20/]{0,6}"),
    );
    parts.prop_map(|(id, path, parameter, query, tags, fragment, (merged, literal))| {
        let separator = if merged { "}{&" } else { "," };
        let mut text = String::from("x://");
        text.extend(literal.chars().filter(|&character| character != '%'));
        text.push_str(&format!("/{{id}}{{/path*}}{{;p}}{{?q{separator}tags*}}{{#f}}"));
        let mut variables = BTreeMap::from([("id".to_owned(), UriValue::Text(id))]);
        let mut put = |name: &str, value: UriValue| variables.insert(name.to_owned(), value);
        if !path.is_empty() {
            put("path", UriValue::List(path));
        }
        if !tags.is_empty() {
            put("tags", UriValue::List(tags));
        }
        for (name, value) in [("p", parameter), ("q", query), ("f", fragment)] {
            if let Some(value) = value {
                put(name, UriValue::Text(value));
            }
        }
        (text, variables)
    })
}

/// One expression of any kind with values; `index` makes its names unlike those of others, with `maps`
/// the first of a template is the only exploded named variable and holds a map: the pairs of several would mix.
fn expression(index: usize, maps: bool) -> impl Strategy<Value = (String, Vec<(String, UriValue)>)> {
    // No hex digits: after a percent sign in a reserved value they would be an encoding, not text.
    let value = || "[xyz%é ]{1,4}";
    let variable = (0..3usize, value(), vec(value(), 1..4), any::<bool>());
    let operators = vec!["", "+", "#", ".", "/", ";", "?", "&"];
    (select(operators), vec(variable, 1..4)).prop_map(move |(operator, specs)| {
        let mut names = Vec::new();
        let mut values: Vec<(String, UriValue)> = Vec::new();
        for (place, (modifier, text, items, present)) in specs.into_iter().enumerate() {
            let name = format!("v{index}{place}");
            let named = matches!(operator, ";" | "?" | "&");
            let first = index == 0 && place == 0;
            let modifier = if named && maps && !first {
                modifier % 2
            } else {
                modifier
            };
            let value = match modifier {
                2 if named && maps => UriValue::Map(
                    items
                        .into_iter()
                        .enumerate()
                        .map(|(at, item)| (format!("k{at}"), item))
                        .collect(),
                ),
                2 => UriValue::List(items),
                1 => UriValue::Text(text.chars().take(2).collect()),
                _ => UriValue::Text(text),
            };
            names.push(format!("{name}{}", ["", ":2", "*"][modifier]));
            // Without names, values belong to variables from the left.
            let in_turn = named || values.len() == place;
            if in_turn && present || named && maps && first || (place == 0 && matches!(operator, "" | "+")) {
                values.push((name, value));
            }
        }
        (format!("{{{operator}{}}}", names.join(",")), values)
    })
}

fn any_template() -> impl Strategy<Value = (String, BTreeMap<String, UriValue>)> {
    let literal = || select(vec!["", "", "m", "/", "mn/", "z", "é"]);
    let parts = move |maps| {
        (
            expression(0, maps),
            literal(),
            expression(1, maps),
            literal(),
            expression(2, maps),
        )
    };
    any::<bool>()
        .prop_flat_map(parts)
        .prop_map(|(one, between, two, after, three)| {
            let text = format!("{}{between}{}{after}{}", one.0, two.0, three.0);
            let variables = [one.1, two.1, three.1].into_iter().flatten().collect();
            (text, variables)
        })
}

/// Texts that are often almost templates or URIs.
fn fragments() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "+",
        "#",
        ".",
        "/",
        ";",
        "?",
        "&",
        "=",
        ",",
        "*",
        ":3",
        ":",
        "%",
        "%2F",
        "%C3",
        "%A9",
        "a",
        "b",
        "é",
        "x",
        "..",
        "{a}",
        "{b*}",
        "{?a,b}",
        "{&c*}",
        "{;a}",
        "{+c}",
        "{#d:2}",
        "{.a,b}",
        "{/d*}",
        "\0",
        "\u{10ffff}",
    ];
    vec(select(pieces), 0..24).prop_map(|all| all.concat())
}

/// The parts of a URI between the signs of named members: their order, and which of `?` and `&`
/// begins a query, mean nothing.
fn members(uri: &str) -> Vec<&str> {
    let mut all: Vec<&str> = uri.split(['?', '&', ';']).collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn matching_gives_back_what_was_expanded((text, variables) in unambiguous()) {
        let template = UriTemplate::parse(&text).unwrap();
        let uri = template.expand(&variables);
        prop_assert_eq!(template.matches(&uri).map(BTreeMap::from_iter), Some(variables), "{} with {}", text, uri);
    }

    #[test]
    fn every_expansion_matches_and_what_it_gives_expands_to_it((text, variables) in any_template()) {
        let template = UriTemplate::parse(&text).unwrap();
        let uri = template.expand(&variables);
        let found = template.matches(&uri);
        prop_assert!(found.is_some(), "{} with {}", text, uri);
        let again = template.expand(&found.unwrap().into_iter().collect());
        prop_assert_eq!(members(&again), members(&uri), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(template in fragments(), uri in fragments(), any_template in ".*", any_uri in ".*") {
        for text in [&template, &any_template] {
            if let Ok(parsed) = UriTemplate::parse(text) {
                for uri in [&uri, &any_uri, text] {
                    let found = parsed.matches(uri).unwrap_or_default().into_iter().collect();
                    parsed.expand(&found);
                }
            }
        }
    }
}
