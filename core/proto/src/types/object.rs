//! How the generated object types are read and written.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap};
use serde_json::value::RawValue;

use super::{Extra, MemberInfo};
use crate::jsonrpc::{Json, decode_str};

/// A key or another short string, borrowed where its text has no escapes.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// Notes that a known member came; refuses it the second time.
pub(super) fn arrived<E: Error>(members: &[MemberInfo], name: &'static str, extra: &mut Extra) -> Result<(), E> {
    let index = members.iter().position(|member| member.name == name);
    if extra.read_known(index.unwrap_or_default()) {
        Ok(())
    } else {
        Err(E::duplicate_field(name))
    }
}

/// Refuses an object that lacks a constant member.
pub(super) fn need<E: Error>(members: &[MemberInfo], name: &'static str, extra: &Extra) -> Result<(), E> {
    let index = members.iter().position(|member| member.name == name);
    if extra.has_read(index.unwrap_or_default()) {
        Ok(())
    } else {
        Err(E::missing_field(name))
    }
}

/// Reads the value of a member; errors say which member it was.
pub(super) fn value<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    name: &'static str,
    map: &mut A,
) -> Result<T, A::Error> {
    map.next_value()
        .map_err(|error| Error::custom(format_args!("`{name}`: {error}")))
}

/// Reads a member that has to be one particular value.
pub(super) fn constant<'de, A: MapAccess<'de>>(
    name: &'static str,
    wanted: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    let found: Json = map.next_value()?;
    if is(&found, wanted) {
        Ok(())
    } else {
        Err(Error::custom(format_args!("`{name}`: expected {wanted}")))
    }
}

/// Whether a value is the one whose JSON text is `wanted`, a string or an integer.
pub(super) fn is(value: &RawValue, wanted: &str) -> bool {
    value.get() == wanted
        || decode_str(value)
            .is_some_and(|text| wanted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) == Some(&*text))
}

/// Writes a member whose value is JSON text.
pub(super) fn write_constant<M: SerializeMap>(name: &str, json: &'static str, map: &mut M) -> Result<(), M::Error> {
    let value: &RawValue = serde_json::from_str(json).map_err(serde::ser::Error::custom)?;
    map.serialize_entry(name, value)
}

/// Writes a member unless it is absent.
pub(super) fn write_optional<M: SerializeMap, T: Serialize>(
    name: &str,
    value: Option<&T>,
    map: &mut M,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// Gives an object type its `Deserialize`, `Serialize` and `Object`.
///
/// Each member says in which revisions it exists, and in which of them it is required, as bits of `Revisions`:
///
/// | kind | field | read | written |
/// | --- | --- | --- | --- |
/// | `constant` | none | has to be this value | always |
/// | `required` | `T` | has to be there | always |
/// | `nullable` | `Option<T>` | has to be there, may be null | always |
/// | `defaulted` | `T` | absent and null are the default | always |
/// | `optional` | `Option<T>` | null is absent | when it is `Some` |
/// | `any` | `Option<Json>` | null is a value | when it is `Some` |
///
/// Members come in that order of kinds. All others go to the field `extra`.
macro_rules! object {
    ($type:ident in $revisions:literal {
        $(constant $constant:literal = $json:literal in $constant_in:literal / $constant_required:literal;)*
        $(required $required:ident: $required_name:literal in $required_in:literal / $required_required:literal;)*
        $(nullable $nullable:ident: $nullable_name:literal in $nullable_in:literal / $nullable_required:literal;)*
        $(defaulted $defaulted:ident: $defaulted_name:literal in $defaulted_in:literal / $defaulted_required:literal;)*
        $(optional $optional:ident: $optional_name:literal in $optional_in:literal / $optional_required:literal;)*
        $(any $any:ident: $any_name:literal in $any_in:literal / $any_required:literal;)*
    }) => {
        impl $crate::types::Object for $type {
            const INFO: &'static $crate::types::TypeInfo = &$crate::types::TypeInfo::new(stringify!($type), $revisions, &[
                $($crate::types::MemberInfo::new($constant, $constant_in, $constant_required),)*
                $($crate::types::MemberInfo::new($required_name, $required_in, $required_required),)*
                $($crate::types::MemberInfo::new($nullable_name, $nullable_in, $nullable_required),)*
                $($crate::types::MemberInfo::new($defaulted_name, $defaulted_in, $defaulted_required),)*
                $($crate::types::MemberInfo::new($optional_name, $optional_in, $optional_required),)*
                $($crate::types::MemberInfo::new($any_name, $any_in, $any_required),)*
            ]);

            fn extra(&self) -> &$crate::types::Extra {
                &self.extra
            }

            fn has(&self, name: &str) -> bool {
                match name {
                    $($constant => true,)*
                    $($required_name => true,)*
                    $($nullable_name => true,)*
                    $($defaulted_name => true,)*
                    $($optional_name => self.$optional.is_some(),)*
                    $($any_name => self.$any.is_some(),)*
                    _ => false,
                }
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> ::serde::de::Visitor<'de> for Members {
                    type Value = $type;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(concat!("an object, the specification's ", stringify!($type)))
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$type, A::Error> {
                        #[allow(unused_imports, reason = "not every type has members of every kind")]
                        use $crate::types::object::{Key, arrived, constant, need, value};
                        #[allow(unused_variables, reason = "a type may have no members of its own")]
                        let all = <$type as $crate::types::Object>::INFO.members;
                        let mut extra = $crate::types::Extra::default();
                        $(let mut $required = None;)*
                        $(let mut $nullable = None;)*
                        $(let mut $defaulted = None;)*
                        $(let mut $optional = None;)*
                        $(let mut $any = None;)*
                        while let Some(key) = map.next_key::<Key<'de>>()? {
                            match &*key.0 {
                                $($constant => {
                                    arrived(all, $constant, &mut extra)?;
                                    constant($constant, $json, &mut map)?;
                                })*
                                $($required_name => {
                                    arrived(all, $required_name, &mut extra)?;
                                    $required = Some(value($required_name, &mut map)?);
                                })*
                                $($nullable_name => {
                                    arrived(all, $nullable_name, &mut extra)?;
                                    $nullable = Some(value::<_, Option<_>>($nullable_name, &mut map)?);
                                })*
                                $($defaulted_name => {
                                    arrived(all, $defaulted_name, &mut extra)?;
                                    $defaulted = value::<_, Option<_>>($defaulted_name, &mut map)?;
                                })*
                                $($optional_name => {
                                    arrived(all, $optional_name, &mut extra)?;
                                    $optional = value::<_, Option<_>>($optional_name, &mut map)?;
                                })*
                                $($any_name => {
                                    arrived(all, $any_name, &mut extra)?;
                                    $any = Some(value($any_name, &mut map)?);
                                })*
                                _ => extra.read_other(key.0.into_owned(), map.next_value()?),
                            }
                        }
                        $(need::<A::Error>(all, $constant, &extra)?;)*
                        extra.read_all();
                        Ok($type {
                            $($required: $required.ok_or_else(|| ::serde::de::Error::missing_field($required_name))?,)*
                            $($nullable: $nullable.ok_or_else(|| ::serde::de::Error::missing_field($nullable_name))?,)*
                            $($defaulted: $defaulted.unwrap_or_default(),)*
                            $($optional,)*
                            $($any,)*
                            extra,
                        })
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }

        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap as _;

                let all = <Self as $crate::types::Object>::INFO.members;
                let mut map = serializer.serialize_map(None)?;
                #[allow(unused_variables, reason = "a type may have no members of its own")]
                self.extra.write(all, &mut map, |name, map| match name {
                    $($constant => $crate::types::object::write_constant(name, $json, map),)*
                    $($required_name => map.serialize_entry(name, &self.$required),)*
                    $($nullable_name => map.serialize_entry(name, &self.$nullable),)*
                    $($defaulted_name => map.serialize_entry(name, &self.$defaulted),)*
                    $($optional_name => $crate::types::object::write_optional(name, self.$optional.as_ref(), map),)*
                    $($any_name => $crate::types::object::write_optional(name, self.$any.as_ref(), map),)*
                    _ => Ok(()),
                })?;
                map.end()
            }
        }
    };
}

pub(super) use object;
