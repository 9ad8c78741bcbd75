//! What the module promises, by table and by property.

mod bounds;
mod expansion;
mod grammar;
mod matching;
mod properties;

use super::{UriTemplate, UriValue};

fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn list(items: &[&str]) -> UriValue {
    UriValue::List(items.iter().map(|&item| item.to_owned()).collect())
}

fn map(pairs: &[(&str, &str)]) -> UriValue {
    let owned = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
    UriValue::Map(owned.collect())
}
