//! Enums that stay open: what they do not know, they keep.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::object::is;
use crate::jsonrpc::members;

/// A sign by which a kind of value is known: a member that is there, with one of these values if any are listed.
pub(super) struct Mark {
    pub(super) member: &'static str,
    pub(super) values: &'static [&'static str],
}

/// An object whose kind is yet to be found out.
pub(super) struct Candidate<'a> {
    json: &'a RawValue,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(json: &'a RawValue) -> Option<Self> {
        members(json).map(|members| Self { json, members })
    }

    /// The object as a `T`, if it bears all of its marks and has the members that `T` requires.
    pub(super) fn read<T: DeserializeOwned>(&self, marks: &[Mark]) -> Option<T> {
        let bears = |mark: &Mark| {
            let member = self.members.iter().find(|(name, _)| name == mark.member);
            member
                .is_some_and(|(_, value)| mark.values.is_empty() || mark.values.iter().any(|wanted| is(value, wanted)))
        };
        if marks.iter().all(bears) {
            serde_json::from_str(self.json.get()).ok()
        } else {
            None
        }
    }
}

/// Gives a union of objects its `Deserialize`, `Serialize` and conversions. Kinds are tried in the order given, those with
/// the most marks first. What is of no known kind, or is not whole, becomes `Unknown`.
macro_rules! union {
    ($union:ident {
        $($variant:ident($type:ident): $($member:literal $(= $($value:literal)|+)?),+;)+
    }) => {
        $(
            impl From<$type> for $union {
                fn from(value: $type) -> Self {
                    Self::$variant(value)
                }
            }
        )+

        impl<'de> ::serde::Deserialize<'de> for $union {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::types::open::{Candidate, Mark};

                let json = $crate::jsonrpc::Json::deserialize(deserializer)?;
                if let Some(candidate) = Candidate::new(&json) {
                    $(
                        let marks = [$(Mark { member: $member, values: &[$($($value),+)?] }),+];
                        if let Some(value) = candidate.read(&marks) {
                            return Ok(Self::$variant(value));
                        }
                    )+
                }
                Ok(Self::Unknown(json))
            }
        }

        impl ::serde::Serialize for $union {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => value.serialize(serializer),)+
                    Self::Unknown(json) => json.serialize(serializer),
                }
            }
        }
    };
}

/// Gives an enum of strings its `Deserialize`, `Serialize`, `as_str` and conversions.
macro_rules! strings {
    ($enum:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $enum {
            /// The value on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $enum {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl ::std::fmt::Display for $enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $enum {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::types::object::Key::deserialize(deserializer).map(|text| Self::from(&*text.0))
            }
        }

        impl ::serde::Serialize for $enum {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

/// Gives a type with one value its `Deserialize` and `Serialize`.
macro_rules! constant {
    ($type:ident = $text:literal) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match &*$crate::types::object::Key::deserialize(deserializer)?.0 {
                    $text => Ok(Self),
                    _ => Err(::serde::de::Error::custom(concat!("expected \"", $text, "\""))),
                }
            }
        }

        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($text)
            }
        }
    };
}

pub(super) use {constant, strings, union};
