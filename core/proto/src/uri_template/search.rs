//! Which part of a URI each part of a template stands for.
//!
//! The search walks the template once, and for each of its places the URI once: it keeps the set of
//! positions of the URI at which that place can be, and never tries a position twice. The work is
//! bounded by the length of the URI times the number of literals and variables, whatever they hold.
//! Then it walks back from the end and picks one reading:
//!
//! - an expression that may be missing is there if it can be, with as many values as it can have;
//! - from the last value to the first, each is as short as it can be, so that of two neighbours the
//!   first takes more: `{name}{.ext}` reads `a.tar.gz` as `a.tar` and `gz`;
//! - named members (`{;x}`, `{?x}`, `{&x}`) begin as early as they can.

use super::part::Operator;
use super::pattern::{Literal, Members, Pattern, Piece, Slot};
use super::token::Token;

/// What the URI holds for one piece of the template, as ranges of its tokens.
#[derive(Debug)]
pub(super) enum Found<'p> {
    /// A value, without its lead or separator.
    Value {
        operator: Operator,
        slot: &'p Slot,
        start: usize,
        end: usize,
    },
    Members {
        members: &'p Members,
        start: usize,
        end: usize,
    },
}

/// One member `name=value`.
#[derive(Debug)]
pub(super) struct Member<'p> {
    /// The variable of that name; for other names the exploded variable that takes them.
    pub slot: &'p Slot,
    pub name_end: usize,
    pub value: usize,
    /// The last position at which the value may end.
    until: usize,
}

/// One way of reading a URI.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'u> {
    pub tokens: &'u [Token],
    /// Whether values may have reserved characters as they are, where nothing else of the template
    /// claims them. Expansion never writes them, people do.
    pub lenient: bool,
}

/// Positions between tokens, from 0 to the number of tokens.
#[derive(Debug)]
struct Positions(Vec<u64>);

impl Positions {
    fn new(tokens: &[Token]) -> Self {
        Self(vec![0; tokens.len() / 64 + 1])
    }

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn contains(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    fn extend(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

impl<'u> Reading<'u> {
    /// Reads the whole URI; `steps` grows by the number of tokens looked at.
    pub(super) fn read<'p>(self, pattern: &'p Pattern, steps: &mut usize) -> Option<Vec<Found<'p>>> {
        let mut at = Positions::new(self.tokens);
        at.insert(0);
        let mut places = Vec::with_capacity(pattern.pieces.len());
        for piece in &pattern.pieces {
            let (places_of_piece, exit) = self.forward(piece, at, steps);
            exit.first()?;
            places.push(places_of_piece);
            at = exit;
        }
        let mut end = self.tokens.len();
        if !at.contains(end) {
            return None;
        }
        let mut found = Vec::new();
        for (piece, places) in pattern.pieces.iter().zip(&places).rev() {
            end = self.backward(piece, places, end, &mut found, steps)?;
        }
        found.reverse();
        Some(found)
    }

    /// The positions before each value of `piece` that starts at one of `start`, and those after it.
    fn forward(self, piece: &Piece, start: Positions, steps: &mut usize) -> (Vec<Positions>, Positions) {
        let mut exit = Positions::new(self.tokens);
        match piece {
            Piece::Literal(literal) => {
                self.literal(literal, &start, &mut exit, steps);
                (vec![start], exit)
            }
            Piece::Members(members) => {
                exit.extend(&start);
                self.members(members, &start, steps, |end, _| exit.insert(end));
                (vec![start], exit)
            }
            Piece::Values(operator, slots) => {
                let mut places = vec![start];
                for (index, slot) in slots.iter().enumerate() {
                    let before = &places[index];
                    if is_optional(*operator, index) {
                        exit.extend(before);
                    }
                    let after = self.value(*operator, index, slot, before, steps);
                    places.push(after);
                }
                exit.extend(&places[slots.len()]);
                (places, exit)
            }
        }
    }

    /// Where `piece` begins when it ends at `end`.
    fn backward<'p>(
        self,
        piece: &'p Piece,
        places: &[Positions],
        mut end: usize,
        found: &mut Vec<Found<'p>>,
        steps: &mut usize,
    ) -> Option<usize> {
        match piece {
            Piece::Literal(literal) => end.checked_sub(literal.tokens.len()),
            Piece::Members(members) => {
                let mut start = None;
                self.members(members, &places[0], steps, |at, origin| {
                    if at == end {
                        start = Some(origin);
                    }
                });
                if let Some(start) = start {
                    found.push(Found::Members { members, start, end });
                }
                start.or(Some(end))
            }
            Piece::Values(operator, slots) => {
                let operator = *operator;
                let values = places.iter().rposition(|place| place.contains(end))?;
                for (index, slot) in slots[..values].iter().enumerate().rev() {
                    let mark = mark(operator, index);
                    let before = &places[index];
                    let entry = (0..end).rev().find(|&at| {
                        *steps += 1;
                        before.contains(at) && begins(operator, index, slot, self.tokens[at])
                    })?;
                    let start = entry + usize::from(mark.is_some());
                    found.push(Found::Value {
                        operator,
                        slot,
                        start,
                        end,
                    });
                    end = entry;
                }
                Some(end)
            }
        }
    }

    /// The positions at which a value can end.
    ///
    /// Of all values that have begun, the last has the most room under the limit, so one is enough.
    fn value(self, operator: Operator, index: usize, slot: &Slot, before: &Positions, steps: &mut usize) -> Positions {
        let mut ends = Positions::new(self.tokens);
        let Some(first) = before.first() else { return ends };
        let mark = mark(operator, index);
        let mut begun: Option<usize> = None;
        for at in first..=self.tokens.len() {
            *steps += 1;
            if let Some(start) = begun
                && at - start <= slot.limit
                && (at > start || mark.is_some())
            {
                ends.insert(at);
            }
            let Some(&token) = self.tokens.get(at) else { break };
            let begins = before.contains(at) && begins(operator, index, slot, token);
            if begins && mark.is_none() {
                begun = Some(at);
            }
            if !self.may_hold(operator, slot.explode, token) {
                begun = None;
            }
            if begins && mark.is_some() {
                begun = Some(at + 1);
            }
        }
        ends
    }

    fn literal(self, literal: &Literal, before: &Positions, ends: &mut Positions, steps: &mut usize) {
        let Some(first) = before.first() else { return };
        let Literal { tokens, borders } = literal;
        let mut matched = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(first) {
            while matched > 0 && (matched == tokens.len() || tokens[matched] != *token) {
                matched = borders[matched - 1];
                *steps += 1;
            }
            matched += usize::from(tokens[matched] == *token);
            *steps += 1;
            if matched == tokens.len() && before.contains(at + 1 - matched) {
                ends.insert(at + 1);
            }
        }
    }

    /// Tells `each` the positions at which members can end, with the position at which they begin.
    fn members(self, members: &Members, before: &Positions, steps: &mut usize, mut each: impl FnMut(usize, usize)) {
        let Some(mut at) = before.first() else { return };
        // Where the members begin that are being read, and until where their last value may go.
        let mut open: Option<(usize, usize)> = None;
        while at <= self.tokens.len() {
            *steps += 1;
            let ended = open.filter(|&(_, until)| at <= until);
            if let Some((origin, _)) = ended {
                each(at, origin);
            }
            let Some(&token) = self.tokens.get(at) else { break };
            let origin = match ended {
                Some((origin, _)) if token.is(members.operator.separator()) => Some(origin),
                _ if before.contains(at) && members.leads.iter().any(|&lead| token.is(lead)) => Some(at),
                _ => None,
            };
            if let Some(origin) = origin
                && let Some(member) = self.member(members, at, steps)
            {
                open = Some((origin, member.until));
                at = member.value;
                continue;
            }
            if !self.may_hold(members.operator, false, token) {
                open = None;
            }
            at += 1;
        }
    }

    /// The member whose lead or separator is at `at`.
    pub(super) fn member<'p>(self, members: &'p Members, at: usize, steps: &mut usize) -> Option<Member<'p>> {
        let start = at + 1;
        let mut end = start;
        while let Some(&token) = self.tokens.get(end)
            && !token.is('=')
            && !members.leads.iter().any(|&lead| token.is(lead))
            && self.may_hold(members.operator, false, token)
        {
            end += 1;
        }
        *steps += end - start + members.slots.len();
        let name = &self.tokens[start..end];
        let slot = members.slots.iter().find(|slot| slot.name == name).or_else(|| {
            let is_free = || members.taken.binary_search_by(|taken| taken[..].cmp(name)).is_err();
            let mut slots = members.slots.iter();
            slots
                .find(|slot| slot.explode)
                .filter(|_| !name.is_empty() && is_free())
        })?;
        let (value, until) = match self.tokens.get(end) {
            Some(token) if token.is('=') => (end + 1, (end + 1).saturating_add(slot.limit)),
            // Only `;name` stands for an empty value; a query has `name=`.
            _ if members.operator == Operator::Parameter => (end, end),
            _ => return None,
        };
        Some(Member {
            slot,
            name_end: end,
            value,
            until,
        })
    }

    /// Whether `token` may be part of a value.
    fn may_hold(self, operator: Operator, explode: bool, token: Token) -> bool {
        if !token.is_delimiter() || operator.keeps_reserved() {
            return true;
        }
        let stops = match operator {
            Operator::Query | Operator::Continuation => "&#",
            Operator::Parameter => "/?#;",
            _ => "/?#",
        };
        explode && token.is(operator.separator()) || self.lenient && !stops.contains(token.character)
    }
}

/// What stands before the value at `index` of an expression.
fn mark(operator: Operator, index: usize) -> Option<char> {
    if index == 0 {
        operator.lead()
    } else {
        Some(operator.separator())
    }
}

/// Whether a value may begin with `token`: with its mark, or where it has none with anything but the
/// separator of a list, whose first item would be empty.
fn begins(operator: Operator, index: usize, slot: &Slot, token: Token) -> bool {
    match mark(operator, index) {
        Some(sign) => token.is(sign),
        None => !(slot.explode && token.is(operator.separator())),
    }
}

/// Whether an expression may end before its value at `index`. Where nothing marks the first value,
/// it has to be there.
fn is_optional(operator: Operator, index: usize) -> bool {
    index > 0 || operator.lead().is_some()
}
