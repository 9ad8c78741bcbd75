//! The types of all revisions, merged: what the generators write out.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use super::tables;

/// How a type is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Any JSON value, null included.
    Any,
    /// An object that nobody but the user looks into.
    Object,
    Text,
    Bool,
    Number,
    Integer,
    /// The string or integer with this JSON text.
    Const(String),
    Nullable(Box<Type>),
    /// A definition of the model, or `RequestId`.
    Ref(String),
    List(Box<Type>),
    /// An object whose keys are data.
    Map(Box<Type>),
    /// The value or a list of it.
    OneOrMany(Box<Type>),
    /// The result, or a round of input first.
    Outcome(Box<Type>),
}

impl Type {
    pub(super) fn of(name: &str) -> Self {
        Self::Ref(name.to_owned())
    }

    /// An object without known members, which a revision may know more of than another.
    fn is_open(&self) -> bool {
        *self == Self::Object || *self == Self::of("MetaObject")
    }
}

/// A member of an object type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) of: Type,
    /// The revisions that have it.
    pub(super) revisions: u8,
    /// Those in which it may be absent.
    optional: u8,
}

impl Member {
    /// The revisions that require it.
    pub(super) fn required(&self) -> u8 {
        self.revisions & !self.optional
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object(BTreeMap<String, Member>),
    /// Objects, told apart by their members.
    Union(Vec<String>),
    /// Strings.
    Strings(BTreeSet<String>),
    /// The one string a member may be, if it is there.
    Constant(String),
    Alias(Type),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// The revisions that have it.
    pub(super) revisions: u8,
    pub(super) kind: Kind,
}

/// A request or a notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Method {
    /// The type of the whole message.
    pub(super) message: String,
    /// Bits of the revisions in which a client sends it.
    pub(super) from_client: u8,
    /// Bits of the revisions in which a server sends it.
    pub(super) from_server: u8,
    /// Bits of the revisions in which it travels inside a result.
    pub(super) in_result: u8,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) types: BTreeMap<String, Definition>,
    pub(super) methods: BTreeMap<String, Method>,
}

impl Model {
    /// Says that a revision has a member. Revisions come newest first: their word on a type's shape counts.
    pub(super) fn member(&mut self, owner: &str, name: &str, of: Type, required: bool, bit: u8) -> Result<()> {
        let Kind::Object(members) = &mut self.define(owner, bit, || Kind::Object(BTreeMap::new())).kind else {
            bail!("{owner} is an object in one revision and something else in another");
        };
        let member = members.entry(name.to_owned()).or_insert_with(|| Member {
            of: of.clone(),
            revisions: 0,
            optional: 0,
        });
        member.of = unify(&member.of, &of);
        member.revisions |= bit;
        if !required {
            member.optional |= bit;
        }
        Ok(())
    }

    /// A definition that a revision has, made if no newer revision had it.
    pub(super) fn define(&mut self, name: &str, bit: u8, kind: impl FnOnce() -> Kind) -> &mut Definition {
        let definition = self.types.entry(name.to_owned()).or_insert_with(|| Definition {
            revisions: 0,
            kind: kind(),
        });
        definition.revisions |= bit;
        definition
    }

    pub(super) fn members(&self, name: &str) -> Option<&BTreeMap<String, Member>> {
        match &self.types.get(name)?.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Makes optional constants into types, and checks that every name that is used is there.
    pub(super) fn finish(mut self) -> Result<Self> {
        self.name_constants()?;
        for (name, definition) in &self.types {
            let used: Vec<&Type> = match &definition.kind {
                Kind::Object(members) => members.values().map(|member| &member.of).collect(),
                Kind::Alias(of) => vec![of],
                Kind::Union(_) | Kind::Strings(_) | Kind::Constant(_) => Vec::new(),
            };
            for of in used {
                self.check(name, of)?;
            }
            if let Kind::Union(variants) = &definition.kind {
                for variant in variants {
                    if self.members(variant).is_none() {
                        bail!("{name} is a union with {variant}, which is no object");
                    }
                }
            }
        }
        Ok(self)
    }

    fn name_constants(&mut self) -> Result<()> {
        let mut made = BTreeMap::new();
        for (owner, definition) in &mut self.types {
            let all = definition.revisions;
            let Kind::Object(members) = &mut definition.kind else {
                continue;
            };
            for (name, member) in members {
                let required = member.required() == all;
                if let (Type::Const(json), false) = (&member.of, required) {
                    let Some(of) = tables::in_place(owner, name) else {
                        bail!("{owner}.{name} is a constant that may be absent; name its type in tables.rs");
                    };
                    made.insert(of.to_owned(), (json.trim_matches('"').to_owned(), member.revisions));
                    member.of = Type::of(of);
                }
            }
        }
        for (name, (text, revisions)) in made {
            self.define(&name, revisions, || Kind::Constant(text));
        }
        Ok(())
    }

    fn check(&self, owner: &str, of: &Type) -> Result<()> {
        match of {
            Type::Ref(name) if name != "RequestId" && !self.types.contains_key(name) => {
                bail!("{owner} uses {name}, which no revision defines")
            }
            Type::Nullable(of) | Type::List(of) | Type::Map(of) | Type::OneOrMany(of) | Type::Outcome(of) => {
                self.check(owner, of)
            }
            _ => Ok(()),
        }
    }
}

/// One type for what two revisions say: the newer one's, unless the older one says more or allows more.
fn unify(newer: &Type, older: &Type) -> Type {
    match (newer, older) {
        (Type::Any, _) | (_, Type::Any) => Type::Any,
        (newer, older) if newer.is_open() => older.clone(),
        _ => newer.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: u8 = 0b10;
    const OLD: u8 = 0b01;

    fn member(model: &Model, owner: &str, name: &str) -> Member {
        model.members(owner).unwrap()[name].clone()
    }

    #[test]
    fn a_member_is_required_where_every_mention_requires_it() {
        let mut model = Model::default();
        model.member("A", "x", Type::Text, true, NEW).unwrap();
        model.member("A", "x", Type::Text, false, OLD).unwrap();
        model.member("A", "y", Type::Text, true, OLD).unwrap();
        model.member("A", "y", Type::Text, false, OLD).unwrap();
        assert_eq!(member(&model, "A", "x").required(), NEW);
        assert_eq!(member(&model, "A", "y").required(), 0);
        assert_eq!(model.types["A"].revisions, NEW | OLD);
    }

    #[test]
    fn the_wider_and_the_more_telling_shape_wins() {
        let rows = [
            (Type::Any, Type::Object, Type::Any),
            (Type::Object, Type::Any, Type::Any),
            (Type::Object, Type::of("B"), Type::of("B")),
            (Type::of("B"), Type::Object, Type::of("B")),
            (Type::of("MetaObject"), Type::of("B"), Type::of("B")),
            (Type::Number, Type::Integer, Type::Number),
        ];
        for (newer, older, both) in rows {
            assert_eq!(unify(&newer, &older), both, "{newer:?} and {older:?}");
        }
    }

    #[test]
    fn names_that_lead_nowhere_are_refused() {
        let mut model = Model::default();
        model
            .member("A", "x", Type::List(Box::new(Type::of("B"))), true, NEW)
            .unwrap();
        let error = model.finish().unwrap_err().to_string();
        assert_eq!(error, "A uses B, which no revision defines");
    }

    #[test]
    fn a_constant_that_may_be_absent_needs_a_name() {
        let mut model = Model::default();
        model
            .member("A", "jsonrpc", Type::Const("\"2.0\"".to_owned()), false, NEW)
            .unwrap();
        model = model.finish().unwrap();
        assert_eq!(member(&model, "A", "jsonrpc").of, Type::of("JsonRpcVersion"));
        assert_eq!(model.types["JsonRpcVersion"].kind, Kind::Constant("2.0".to_owned()));

        let mut model = Model::default();
        model.member("A", "x", Type::Const("1".to_owned()), false, NEW).unwrap();
        assert!(model.finish().unwrap_err().to_string().contains("A.x"));
    }
}
