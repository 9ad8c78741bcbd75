//! From the parts of a URI to the values of variables, and the rules that keep paths inside.
//!
//! | where | refused |
//! | --- | --- |
//! | `{x}`, `{.x}`, `{/x}`, `{;x}` | `/` or `\` in the decoded value (from `%2F`, `%5C`); the values `.` and `..` |
//! | `{+x}`, `{#x}` | a segment `.` or `..` in the decoded value, with `/` or `\` between segments |
//! | the same, after a `/` that does not end `://` | `/` or `\` at the start of the decoded value |
//! | `{?x}`, `{&x}` | nothing: a query is no path |
//!
//! A path that begins with a slash is refused because, joined to a folder, it would replace it.

use super::UriValue;
use super::part::Operator;
use super::pattern::{Members, Pattern, Slot};
use super::search::{Found, Reading};
use super::token::{Token, text};

/// The value that one expression gives to a variable.
struct Bound<'p> {
    slot: &'p Slot,
    value: UriValue,
}

/// The value of each variable, by its index. `None` when a value is refused, or when the places of a
/// variable contradict each other.
pub(super) fn bind(reading: Reading<'_>, pattern: &Pattern, found: &[Found<'_>]) -> Option<Vec<Option<UriValue>>> {
    let mut bound = Vec::new();
    for part in found {
        match *part {
            Found::Value {
                operator,
                slot,
                start,
                end,
            } => bound.push(value(reading, operator, slot, start, end)?),
            Found::Members { members, start, end } => bind_members(reading, members, start, end, &mut bound)?,
        }
    }
    let occurrences = pattern.occurrences.iter().enumerate();
    occurrences
        .map(|(variable, &expected)| agree(&bound, variable, expected))
        .collect()
}

fn value<'p>(reading: Reading<'_>, operator: Operator, slot: &'p Slot, start: usize, end: usize) -> Option<Bound<'p>> {
    let (before, after) = reading.tokens.split_at(start);
    let tokens = &after[..end - start];
    let value = if slot.explode {
        let items = tokens.split(|token| token.is(operator.separator()));
        let items: Vec<String> = items.map(text).collect();
        if !items.iter().all(|item| is_safe(operator, item, before)) {
            return None;
        }
        UriValue::List(items)
    } else {
        UriValue::Text(Some(text(tokens)).filter(|text| is_safe(operator, text, before))?)
    };
    Some(Bound { slot, value })
}

fn bind_members<'p>(
    reading: Reading<'_>,
    members: &'p Members,
    start: usize,
    end: usize,
    bound: &mut Vec<Bound<'p>>,
) -> Option<()> {
    let separator = members.operator.separator();
    let first = bound.len();
    let mut at = start;
    while at < end {
        let member = reading.member(members, at, &mut 0)?;
        let key = &reading.tokens[at + 1..member.name_end];
        let slot = member.slot;
        let length = reading.tokens[member.value..end]
            .iter()
            .position(|token| token.is(separator));
        at = length.map_or(end, |length| member.value + length);
        let value = text(&reading.tokens[member.value..at]);
        if !is_safe(members.operator, &value, &reading.tokens[..member.value]) {
            return None;
        }
        let gathered = bound[first..]
            .iter_mut()
            .find(|other| slot.explode && other.slot.variable == slot.variable);
        match (gathered.map(|bound| &mut bound.value), slot.name == key) {
            (Some(UriValue::List(items)), true) => items.push(value),
            (Some(UriValue::Map(pairs)), false) => pairs.push((text(key), value)),
            (Some(_), _) => return None,
            (None, own_name) => {
                let value = match (slot.explode, own_name) {
                    (false, _) => UriValue::Text(value),
                    (true, true) => UriValue::List(vec![value]),
                    (true, false) => UriValue::Map(vec![(text(key), value)]),
                };
                bound.push(Bound { slot, value });
            }
        }
    }
    Some(())
}

/// The value that all places of a variable agree on: `Some(None)` when it is missing in all of
/// them, `None` when they contradict each other.
fn agree(bound: &[Bound<'_>], variable: usize, expected: usize) -> Option<Option<UriValue>> {
    let places = || bound.iter().filter(|bound| bound.slot.variable == variable);
    let length = |value: &UriValue| match value {
        UriValue::Text(text) => text.len(),
        UriValue::List(_) | UriValue::Map(_) => 0,
    };
    let Some(whole) = places().map(|place| &place.value).max_by_key(|value| length(value)) else {
        return Some(None);
    };
    let fits = |place: &Bound<'_>| match (&place.value, whole) {
        // What a prefix shows of the whole value.
        (UriValue::Text(part), UriValue::Text(whole)) => part.chars().eq(whole.chars().take(place.slot.limit)),
        (other, whole) => other == whole,
    };
    (places().count() == expected && places().all(fits)).then(|| Some(whole.clone()))
}

/// The rules at the head of this file.
fn is_safe(operator: Operator, value: &str, before: &[Token]) -> bool {
    const SLASHES: [char; 2] = ['/', '\\'];
    let is_dots = |segment: &str| segment == "." || segment == "..";
    match operator {
        Operator::Query | Operator::Continuation => true,
        Operator::Reserved | Operator::Fragment => {
            let after_slash = before.last().is_some_and(|token| SLASHES.contains(&token.character));
            let after_authority = text(&before[before.len().saturating_sub(3)..]) == "://";
            let is_rooted = after_slash && !after_authority && value.starts_with(SLASHES);
            !is_rooted && !value.split(SLASHES).any(is_dots)
        }
        _ => !value.contains(SLASHES) && !is_dots(value),
    }
}
