//! Why a text is no URI template.

use std::fmt;

/// Why a text is no URI template: what is wrong, at which byte, and what would be right.
///
/// ```
/// use oxmcp_proto::uri_template::UriTemplate;
///
/// let error = UriTemplate::parse("users/{id").unwrap_err();
/// assert_eq!(error.offset(), 6);
/// assert!(error.to_string().starts_with("invalid URI template at byte 6: "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplateError {
    offset: usize,
    message: String,
}

impl UriTemplateError {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
        }
    }

    /// The byte of the template at which it goes wrong, from 0.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for UriTemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, message } = self;
        write!(f, "invalid URI template at byte {offset}: {message}")
    }
}

impl std::error::Error for UriTemplateError {}
