//! The rules of Streamable HTTP, of all revisions and for both sides, without any HTTP.
//!
//! A shell over an HTTP library, an ASGI server or a browser's `fetch` brings heads as [`Fields`] and bodies
//! as bytes, and does what it is told. Nothing here reads a socket, a clock or a source of randomness.
//!
//! | module | rule |
//! | --- | --- |
//! | `guard` | which hosts and origins are served |
//! | `media` | media types: what a body is, and what may be answered |
//! | `server` | what a request to the endpoint is, and how it is turned down |
//! | `agreement` | header fields and body of a request say the same |
//! | `param_headers`, `value` | tool parameters in header fields, and how their values are written |
//! | `status` | the status that goes with an error |
//! | `session_id` | ids of sessions, and a bounded table of them |
//! | `events` | streams that can be resumed, and a bounded store of their events |
//! | `client` | what a client sends, and how it reads the answer, tells eras apart, resumes and follows |
//!
//! # A server
//!
//! 1. [`Endpoint::admit`] with the head, before a byte of the body is read. A [`Refusal`] is written as it is:
//!    its status, its fields, `Content-Type: application/json`, its [`body`](Refusal::body).
//! 2. [`Post::read`] with the whole body, read up to [`Endpoint::body_limit`].
//! 3. For [`Exchange::Session`], look the session up, refuse with [`SessionPost::no_such_session`], or go on
//!    with [`SessionPost::agree`].
//! 4. Wait for the first thing the session says. An answer: JSON, with [`status_of_answer`]. Anything else: an
//!    event stream, with [`STREAM_FIELDS`], headers and first event in one write. A client that takes only one
//!    of the two ([`Post::accepts`]) gets that one.
//! 5. In revisions without a handshake a connection that the client closes cancels its request; in those with
//!    one it does not, and the stream can be resumed.
//!
//! ```
//! use oxmcp_proto::http::{Admitted, Endpoint, Exchange, Guard, Head};
//!
//! let endpoint = Endpoint::new(Guard::for_address("127.0.0.1".parse()?, [""; 0])?);
//! let fields = [("Host", "localhost:8000"), ("Content-Type", "application/json")];
//! let head = Head { method: "POST", authority: None, fields: &fields };
//! let Admitted::Post(post) = endpoint.admit(&head)? else { panic!("it is a POST") };
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
//! assert!(matches!(post.read(body, |_| None)?, Exchange::Initialize(_)));
//!
//! let refusal = post.read(br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#, |_| None).unwrap_err();
//! assert_eq!(refusal.status, 400);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod agreement;
pub mod client;
mod cors;
mod events;
mod fields;
mod guard;
mod media;
mod param_headers;
mod refusal;
mod server;
mod session_id;
mod status;
mod value;

pub use events::{EventCommand, EventId, EventLimits, EventReply, MemoryEvents, ReplyStream, primes};
pub use fields::Fields;
pub use guard::{BadName, Guard};
pub use media::{Accepts, EVENT_STREAM, JSON, is_media_type};
pub use param_headers::{BadAnnotation, Disagreement, ParamHeaders};
pub use refusal::Refusal;
pub use server::{
    Admitted, Content, Endpoint, Exchange, Head, LAST_EVENT_FIELD, Post, SESSION_FIELD, STREAM_FIELDS, SessionPost,
    SessionRef,
};
pub use session_id::{Full, Sessions, is_session_id, session_id};
pub use status::{ACCEPTED, status_of_answer};
pub use value::{decode_value, encode_value};
