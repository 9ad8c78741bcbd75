//! A template as what a URI is compared with.

use super::part::{Modifier, Operator, Part, Variable};
use super::token::{Token, tokens};

/// The pieces of a template.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub pieces: Vec<Piece>,
    /// How often each variable occurs; [`Slot::variable`] is an index into it.
    pub occurrences: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Piece {
    Literal(Literal),
    /// Values in the order of the template.
    Values(Operator, Vec<Slot>),
    /// Members `name=value` in any order.
    Members(Members),
}

/// One place for the value of a variable.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub variable: usize,
    pub name: Vec<Token>,
    /// The most characters the value may have.
    pub limit: usize,
    pub explode: bool,
}

/// One or several named expressions that follow each other, as `{?a}{&b}`.
#[derive(Debug, Clone)]
pub(super) struct Members {
    pub operator: Operator,
    /// What the first member may begin with.
    pub leads: Vec<char>,
    pub slots: Vec<Slot>,
    /// The names of all members of the template, sorted: pairs of a map have others.
    pub taken: Vec<Vec<Token>>,
}

#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub tokens: Vec<Token>,
    /// For each token, how long the longest start of the literal is that also ends there: a search
    /// that fails goes on from it without going back in the URI.
    pub borders: Vec<usize>,
}

impl Pattern {
    /// `None` when a literal or a name is percent-encoded to something that is no text: no URI matches.
    pub(super) fn new(parts: &[Part], names: &[String]) -> Option<Self> {
        let mut pattern = Self {
            pieces: Vec::new(),
            occurrences: vec![0; names.len()],
        };
        for part in parts {
            match part {
                Part::Literal(text) => pattern.pieces.push(Piece::Literal(Literal::new(text)?)),
                Part::Expression(operator, variables) => {
                    let slots = pattern.slots(variables, names)?;
                    pattern.add(*operator, slots);
                }
            }
        }
        pattern.set_taken();
        Some(pattern)
    }

    fn set_taken(&mut self) {
        let runs = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Members(members) => Some(members.slots.iter().map(|slot| slot.name.clone())),
            Piece::Literal(_) | Piece::Values(..) => None,
        });
        let mut taken: Vec<_> = runs.flatten().collect();
        taken.sort_unstable();
        for piece in &mut self.pieces {
            if let Piece::Members(members) = piece {
                members.taken.clone_from(&taken);
            }
        }
    }

    fn slots(&mut self, variables: &[Variable], names: &[String]) -> Option<Vec<Slot>> {
        let mut slots = Vec::new();
        for Variable { name, modifier } in variables {
            let variable = names.iter().position(|known| known == name)?;
            self.occurrences[variable] += 1;
            slots.push(Slot {
                variable,
                name: tokens(name).collect::<Option<_>>()?,
                limit: match modifier {
                    Modifier::Prefix(limit) => *limit,
                    Modifier::None | Modifier::Explode => usize::MAX,
                },
                explode: *modifier == Modifier::Explode,
            });
        }
        Some(slots)
    }

    fn add(&mut self, operator: Operator, slots: Vec<Slot>) {
        if !operator.is_named() {
            return self.pieces.push(Piece::Values(operator, slots));
        }
        let lead = operator.lead();
        match self.pieces.last_mut() {
            Some(Piece::Members(run)) if lead == Some(run.operator.separator()) => {
                if !run.leads.iter().any(|&known| Some(known) == lead) {
                    run.leads.extend(lead);
                }
                run.slots.extend(slots);
            }
            _ => self.pieces.push(Piece::Members(Members {
                operator,
                leads: lead.into_iter().collect(),
                slots,
                taken: Vec::new(),
            })),
        }
    }
}

impl Literal {
    fn new(text: &str) -> Option<Self> {
        let tokens: Vec<Token> = tokens(text).collect::<Option<_>>()?;
        let mut borders = vec![0; tokens.len()];
        let mut border = 0;
        for at in 1..tokens.len() {
            while border > 0 && tokens[at] != tokens[border] {
                border = borders[border - 1];
            }
            border += usize::from(tokens[at] == tokens[border]);
            borders[at] = border;
        }
        Some(Self { tokens, borders })
    }
}
