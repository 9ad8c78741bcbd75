//! A URI as characters, so that matching never looks at percent-encodings.

use super::part::{is_reserved, percent_decoded};

/// One character of a URI, percent-decoded once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token {
    pub character: char,
    /// Whether a reserved character was percent-encoded, so that it is data and no delimiter. False
    /// for all others: with or without encoding they mean the same.
    pub encoded: bool,
}

impl Token {
    /// Whether this is the delimiter `sign`.
    pub(super) fn is(self, sign: char) -> bool {
        self.character == sign && !self.encoded
    }

    /// Whether this is any delimiter.
    pub(super) fn is_delimiter(self) -> bool {
        is_reserved(self.character) && !self.encoded
    }
}

/// The characters of `text`, each `None` where there is none: a `%` without two hex digits, bytes
/// that are not UTF-8, or NUL, which no URI needs and which ends a path early in many systems.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Option<Token>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (character, length) = if first == '%' {
            match decode(rest.as_bytes()) {
                Some(decoded) => decoded,
                None => {
                    rest = "";
                    return Some(None);
                }
            }
        } else {
            (first, first.len_utf8())
        };
        rest = &rest[length..];
        let encoded = first == '%' && is_reserved(character);
        Some((character != '\0').then_some(Token { character, encoded }))
    })
}

/// The character that is percent-encoded at the start of `bytes`, and how many bytes that takes.
fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let mut utf8 = [0; 4];
    utf8[0] = percent_decoded(bytes)?;
    let length = match utf8[0] {
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    for (index, byte) in utf8.iter_mut().enumerate().take(length).skip(1) {
        *byte = percent_decoded(bytes.get(index * 3..)?)?;
    }
    let character = std::str::from_utf8(&utf8[..length]).ok()?.chars().next()?;
    Some((character, length * 3))
}

/// The text that `tokens` stand for.
pub(super) fn text(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encodings_are_decoded_once_and_delimiters_told_from_data() {
        let cases = [
            ("a%41%7e", Some(("aA~", ""))),
            ("/%2f%2F", Some(("///", "/"))),
            ("%252e", Some(("%2e", ""))),
            ("%E2%82%AC\u{20ac}", Some(("\u{20ac}\u{20ac}", ""))),
            ("%F0%9D%84%9E", Some(("\u{1d11e}", ""))),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%+1", None),
            ("%C3", None),
            ("%C3A", None),
            ("%80", None),
            ("%C0%AE", None),
            ("%ED%A0%80", None),
            ("%FF%FF%FF%FF", None),
            ("a%00", None),
            ("a\0", None),
        ];
        for (uri, want) in cases {
            let seen: Option<Vec<Token>> = tokens(uri).collect();
            let seen = seen.map(|all| {
                let delimiters: Vec<Token> = all.iter().copied().filter(|token| token.is_delimiter()).collect();
                (text(&all), text(&delimiters))
            });
            let want = want.map(|(all, delimiters)| (all.to_owned(), delimiters.to_owned()));
            assert_eq!(seen, want, "{uri}");
        }
    }
}
