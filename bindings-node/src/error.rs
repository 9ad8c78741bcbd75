//! Failures as plain data: JavaScript builds its own error classes from them.

use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, JsValue as _, Status};
use oxmcp_proto::{Error, ErrorKind};

/// A failure on its way to JavaScript.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The core refused.
    Refused(Error),
    /// The core panicked, now or in an earlier call: the session can not go on.
    Broken(String),
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Refused(Error::new(ErrorKind::Usage, message))
    }

    /// Throws `{kind, code?, message, data?, fault, retryable}`, with `data` as JSON text.
    pub(crate) fn throw(self, env: &Env) -> napi::Error {
        match self.to_object(env).and_then(|object| env.throw(object.to_unknown())) {
            Ok(()) => napi::Error::from_status(Status::PendingException),
            Err(error) => error,
        }
    }

    fn to_object<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let mut object = Object::new(env)?;
        match self {
            Self::Refused(error) => {
                object.set("kind", error.kind().name())?;
                set_present(&mut object, "code", error.code().map(|code| code.0))?;
                object.set("message", error.message())?;
                set_present(&mut object, "data", error.data())?;
                object.set("fault", error.fault().name())?;
                object.set("retryable", error.is_retryable())?;
            }
            Self::Broken(message) => {
                object.set("kind", "internal")?;
                object.set("message", message.as_str())?;
                object.set("fault", "local")?;
                object.set("retryable", false)?;
            }
        }
        Ok(object)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

fn set_present(object: &mut Object<'_>, key: &str, value: Option<impl ToNapiValue>) -> napi::Result<()> {
    match value {
        Some(value) => object.set(key, value),
        None => Ok(()),
    }
}
