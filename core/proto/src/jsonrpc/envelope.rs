//! The members of a message, read in one pass with those of its params.

use std::fmt;

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::params::{Params, ParamsAt};
use super::place::Place;
use super::text::decode_str;

/// The members of any message. `null` is not the same as absent, hence the raw values.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub jsonrpc: Option<&'a RawValue>,
    pub id: Option<&'a RawValue>,
    pub method: Option<&'a RawValue>,
    pub params: Option<Given<'a>>,
    pub result: Option<&'a RawValue>,
    pub error: Option<&'a RawValue>,
}

/// The params of a message.
pub(super) enum Given<'a> {
    /// An object, with its members.
    Read(Params<'a>),
    /// As they stand: of a notification, or no object.
    Raw(&'a RawValue),
}

impl<'a> Envelope<'a> {
    /// # Errors
    /// When the text is not JSON, no object, or has a member of these twice.
    pub(super) fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let envelope = reader.deserialize_map(EnvelopeIn(text))?;
        reader.end()?;
        Ok(envelope)
    }

    /// Who gets a notification mostly passes it on, so its params are not taken apart.
    fn is_notification(&self) -> bool {
        let method = self.method.map_or("", RawValue::get);
        method.starts_with("\"notifications/")
    }
}

impl<'a> Given<'a> {
    pub(super) fn into_params(self) -> Params<'a> {
        match self {
            Self::Read(params) => params,
            Self::Raw(raw) => Params::read(Some(raw.get())),
        }
    }

    pub(super) fn into_raw(self) -> Option<&'a RawValue> {
        match self {
            Self::Read(params) => serde_json::from_str(params.text()?).ok(),
            Self::Raw(raw) => Some(raw),
        }
    }
}

struct EnvelopeIn<'a>(&'a str);

impl<'a> Visitor<'a> for EnvelopeIn<'a> {
    type Value = Envelope<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Envelope<'a>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key::<&RawValue>()? {
            let name = decode_str(key).ok_or_else(|| A::Error::custom("a name is not valid text"))?;
            let member = match &*name {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                "params" => {
                    let value = Place::in_text(self.0, 0).value_of(key);
                    let params = if value.is_object() && !envelope.is_notification() {
                        Given::Read(map.next_value_seed(ParamsAt(value))?)
                    } else {
                        Given::Raw(map.next_value()?)
                    };
                    once(envelope.params.replace(params))?;
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            once(member.replace(map.next_value()?))?;
        }
        Ok(envelope)
    }
}

fn once<T, E: serde::de::Error>(before: Option<T>) -> Result<(), E> {
    match before {
        Some(_) => Err(E::custom("a member stands twice")),
        None => Ok(()),
    }
}
