//! The members of a message, read in one pass with those of its params.

use serde_json::value::RawValue;

use super::params::Params;
use super::scan::Scanner;
use super::text::raw;

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
    /// `None` when the text is not JSON, no object, nests deeper than `depth`, or has a member of these twice.
    pub(super) fn read(text: &'a str, depth: usize) -> Option<Self> {
        let (mut scanner, mut envelope) = (Scanner::new(text, depth), Self::default());
        scanner.blanks();
        scanner.object(|scanner, name| envelope.read_member(scanner, &name?))?;
        scanner.is_at_end().then_some(envelope)
    }

    fn read_member(&mut self, scanner: &mut Scanner<'a>, name: &str) -> Option<()> {
        let member = match name {
            "jsonrpc" => &mut self.jsonrpc,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "result" => &mut self.result,
            "error" => &mut self.error,
            "params" => {
                let params = if scanner.is_at_object() && !self.is_notification() {
                    Given::Read(Params::scan(scanner)?)
                } else {
                    Given::Raw(raw(scanner.value()?))
                };
                return once(self.params.replace(params));
            }
            _ => return scanner.value().map(drop),
        };
        once(member.replace(raw(scanner.value()?)))
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
            Self::Read(params) => params.text().map(raw),
            Self::Raw(raw) => Some(raw),
        }
    }
}

fn once<T>(before: Option<T>) -> Option<()> {
    before.is_none().then_some(())
}
