//! What processes tell each other, as JSON with a version.

use std::borrow::Cow;
use std::sync::Arc;

use oxmcp_proto::Kind;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::http::server::state::{Announcement, Note};

/// The version of these messages. Others are not looked at.
const VERSION: u32 = 1;

/// What a process hears.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// For the service.
    Note(Note),
    /// There is more of a stream.
    More(Arc<str>),
    /// The process hears itself.
    Beat,
    /// An announcement of another process, or of this one, with its number.
    Announced(u64, String, Option<Announcement>),
}

#[derive(Serialize, Deserialize)]
struct Wire<'a> {
    v: u32,
    #[serde(borrow)]
    note: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stream: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    what: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

impl<'a> Wire<'a> {
    fn new(note: &'static str) -> Self {
        Self {
            v: VERSION,
            note: note.into(),
            session: None,
            stream: None,
            message: None,
            from: None,
            what: None,
            number: None,
        }
    }

    fn about(note: &'static str, session: &'a str) -> Self {
        Self {
            session: Some(session.into()),
            ..Self::new(note)
        }
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("strings and JSON serialise: {error}"))
    }
}

pub(super) fn beat() -> String {
    Wire::new("beat").text()
}

pub(super) fn set(session: &str) -> String {
    Wire::about("set", session).text()
}

pub(super) fn ended(session: &str) -> String {
    Wire::about("ended", session).text()
}

/// `message` is JSON.
pub(super) fn message(session: &str, message: &str) -> String {
    let wire = Wire {
        message: serde_json::from_str(message).ok(),
        ..Wire::about("message", session)
    };
    wire.text()
}

/// Start and end of a note, for the number to stand between.
pub(super) fn announced(from: &str, announcement: &Announcement) -> (String, String) {
    let wire = Wire {
        from: Some(from.into()),
        what: Some(name(announcement)),
        ..Wire::new("announced")
    };
    let mut start = wire.text();
    start.truncate(start.len() - 1);
    start.push_str(",\"number\":");
    (start, "}".to_owned())
}

/// The name an announcement is kept under: a newer one of the same name takes its place.
pub(super) fn name(announcement: &Announcement) -> Cow<'_, str> {
    match announcement {
        Announcement::ListChanged(kind) => kind.changed().into(),
        Announcement::ResourceUpdated(uri) => format!("updated {uri}").into(),
    }
}

pub(super) fn named(name: &str) -> Option<Announcement> {
    if let Some(uri) = name.strip_prefix("updated ") {
        return Some(Announcement::ResourceUpdated(uri.to_owned()));
    }
    let kind = Kind::ALL.into_iter().find(|kind| kind.changed() == name);
    kind.map(Announcement::ListChanged)
}

/// Reads what came; `None` when it is of another version, or broken.
pub(super) fn read(text: &[u8]) -> Option<Heard> {
    let wire: Wire<'_> = serde_json::from_slice(text)
        .ok()
        .filter(|it: &Wire<'_>| it.v == VERSION)?;
    let session = || wire.session.as_deref().map(Arc::<str>::from);
    let stream = || wire.stream.as_deref().map(Arc::<str>::from);
    Some(match &*wire.note {
        "beat" => Heard::Beat,
        "more" => Heard::More(stream()?),
        "set" => Heard::Note(Note::Set(session()?)),
        "ended" => Heard::Note(Note::Ended(session()?)),
        "resumed" => Heard::Note(Note::Resumed {
            session: session()?,
            stream: stream()?,
        }),
        "message" => Heard::Note(Note::Message {
            session: session()?,
            message: wire.message?.get().to_owned(),
        }),
        "announced" => Heard::Announced(wire.number?, wire.from?.into_owned(), named(&wire.what?)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let note = |note| Some(Heard::Note(note));
        let session: Arc<str> = "s".into();
        for (text, heard) in [
            (beat(), Some(Heard::Beat)),
            (set("s"), note(Note::Set(Arc::clone(&session)))),
            (ended("s"), note(Note::Ended(Arc::clone(&session)))),
            (
                message("s", "{ \"id\":\n1.0}"),
                note(Note::Message {
                    session: Arc::clone(&session),
                    message: "{ \"id\":\n1.0}".to_owned(),
                }),
            ),
            (
                r#"{"v":1,"note":"more","stream":"x"}"#.to_owned(),
                Some(Heard::More("x".into())),
            ),
            (r#"{"v":2,"note":"beat"}"#.to_owned(), None),
            (r#"{"v":1,"note":"set"}"#.to_owned(), None),
            (r#"{"v":1,"note":"other"}"#.to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(read(text.as_bytes()), heard, "{text}");
        }
    }

    #[test]
    fn announcements_keep_their_names() {
        let updated = Announcement::ResourceUpdated("x://\"1\"".to_owned());
        let changed = Kind::ALL.map(Announcement::ListChanged);
        for announcement in changed.into_iter().chain([updated]) {
            let (start, end) = announced("node", &announcement);
            let heard = read(format!("{start}7{end}").as_bytes());
            let Some(Heard::Announced(7, from, Some(found))) = heard else {
                panic!("{heard:?}")
            };
            assert_eq!(from, "node");
            assert_eq!(name(&found), name(&announcement));
        }
    }
}
