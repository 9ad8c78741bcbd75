//! The parts of a template, and the table of operators (RFC 6570, appendix A).
//!
//! | operator | lead | separator | named | empty value | reserved characters |
//! | --- | --- | --- | --- | --- | --- |
//! | none | | `,` | | | encoded |
//! | `+` | | `,` | | | kept |
//! | `#` | `#` | `,` | | | kept |
//! | `.` | `.` | `.` | | | encoded |
//! | `/` | `/` | `/` | | | encoded |
//! | `;` | `;` | `;` | yes | `name` | encoded |
//! | `?` | `?` | `&` | yes | `name=` | encoded |
//! | `&` | `&` | `&` | yes | `name=` | encoded |

/// One part of a template.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Text that stands for itself, in the form in which it is written into a URI.
    Literal(String),
    Expression(Operator, Vec<Variable>),
}

/// One variable of an expression.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: String,
    pub modifier: Modifier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modifier {
    None,
    /// `:n`, the first `n` characters.
    Prefix(usize),
    /// `*`, each item for itself.
    Explode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Parameter,
    Query,
    Continuation,
}

impl Operator {
    pub(super) fn from_char(sign: char) -> Option<Self> {
        Some(match sign {
            '+' => Self::Reserved,
            '#' => Self::Fragment,
            '.' => Self::Label,
            '/' => Self::Path,
            ';' => Self::Parameter,
            '?' => Self::Query,
            '&' => Self::Continuation,
            _ => return None,
        })
    }

    /// What stands before the first value.
    pub(super) fn lead(self) -> Option<char> {
        Some(match self {
            Self::Simple | Self::Reserved => return None,
            Self::Fragment => '#',
            Self::Label => '.',
            Self::Path => '/',
            Self::Parameter => ';',
            Self::Query => '?',
            Self::Continuation => '&',
        })
    }

    /// What stands between two values.
    pub(super) fn separator(self) -> char {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ',',
            Self::Label => '.',
            Self::Path => '/',
            Self::Parameter => ';',
            Self::Query | Self::Continuation => '&',
        }
    }

    /// Whether values are written as `name=value`.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    pub(super) fn keeps_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

/// Whether `character` is one of the reserved characters of RFC 3986: a delimiter, so that its
/// percent-encoded form means something else.
pub(super) fn is_reserved(character: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(character)
}

pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// The byte that a percent-encoding at the start of `text` stands for.
pub(super) fn percent_decoded(text: &[u8]) -> Option<u8> {
    let &[b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}
