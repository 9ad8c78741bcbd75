//! What a client sends, and how it reads what comes back.
//!
//! A shell sends each message as a POST with [`post_fields`], gives status and fields of the response to
//! [`read_head`], and then does what that says. After an answer or the end of a stream it looks whether
//! the call it belongs to is still open: if so, and there is nothing to [resume](Resume), the call has
//! failed, since no answer can come any more.

mod failure;
mod message;
mod probe;
mod redirect;
mod request;
mod response;
mod resume;
mod session;
mod tools;

pub use failure::failure;
pub use message::{
    INITIALIZED, answered_by_start, answers, assumed_discovery, cancelled_request, error_in, error_line, is_answer,
    list_tools_like, negotiated, next_cursor, result_in, says_it_has_a_handshake, stated_revision, string_param,
};
pub use probe::{Verdict, http_sse_endpoint, judge_probe, may_be_http_sse};
pub use redirect::{Carry, Redirect, RedirectPolicy};
pub use request::{RequestFields, delete_fields, get_fields, is_own_field, post_fields};
pub use response::{Failure, Outcome, Reading, Sent, read_body, read_head};
pub use resume::{Backoff, Break, Resume, Retry};
pub use session::{ClientSession, Lost, Ticket};
pub use tools::{RejectedTool, ToolHeaders};
