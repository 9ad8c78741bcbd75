//! Where a call of the peer came from, for servers over HTTP.

use oxmcp::border::HttpOrigin;

/// The head of the HTTP request that brought a call.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct HttpRequest {
    /// Such as `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The host, where the request names it outside its header fields, as in HTTP/2.
    pub authority: Option<String>,
    /// Its header fields, in order.
    pub headers: Vec<HttpField>,
}

/// A header field.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct HttpField {
    /// In lower case.
    pub name: String,
    /// A character for each byte.
    pub value: String,
}

impl From<HttpOrigin> for HttpRequest {
    fn from(HttpOrigin { request, .. }: HttpOrigin) -> Self {
        let text = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect();
        let headers = request.headers.iter();
        Self {
            method: request.method,
            target: request.target,
            authority: request.authority,
            headers: headers
                .map(|(name, value)| HttpField {
                    name: text(name),
                    value: text(value),
                })
                .collect(),
        }
    }
}
