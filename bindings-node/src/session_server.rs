//! A session's answers to the calls of its peer, and the registry that a server offers.

use std::sync::Arc;

use napi::Env;
use napi_derive::napi;
use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json, json};
use oxmcp_proto::{Answer, Config, InboundId, Registry, ToolIndex};

use crate::error::Failure;
use crate::session::Session;

#[napi]
impl Session {
    /// A server's end. Each of `tools` is the JSON text of a descriptor, or of a string: then only its name is known.
    #[napi(factory)]
    pub fn server(env: &Env, info: String, tools: Vec<String>, options: String) -> napi::Result<Self> {
        let make = || {
            let config = Config::from_json(&info, &options)?;
            let registry = Arc::new(Registry::new());
            for tool in &tools {
                add_tool(&registry, tool)?;
            }
            Ok(Self::new(
                oxmcp_proto::Session::server(config, Arc::clone(&registry)),
                registry,
            ))
        };
        make().map_err(|failure: Failure| failure.throw(env))
    }

    /// Answers a call with the JSON text of a result. False when it was cancelled or answered before.
    #[napi]
    pub fn respond_result(&self, env: &Env, id: i64, result: String) -> napi::Result<bool> {
        self.respond(env, id, Answer::Result(&result))
    }

    /// Answers a call: the tool failed.
    #[napi]
    pub fn respond_tool_error(&self, env: &Env, id: i64, message: String) -> napi::Result<bool> {
        self.respond(env, id, Answer::ToolError(&message))
    }

    /// Answers a call: its arguments do not fit the tool's schema.
    #[napi]
    pub fn respond_invalid_arguments(&self, env: &Env, id: i64, what: String) -> napi::Result<bool> {
        self.respond(env, id, Answer::InvalidArguments(&what))
    }

    /// Answers a call with a protocol error. `data` is JSON text.
    #[napi]
    pub fn respond_error(
        &self,
        env: &Env,
        id: i64,
        code: i64,
        message: String,
        data: Option<String>,
    ) -> napi::Result<bool> {
        let mut error = ErrorObject::new(ErrorCode(code), message);
        if let Some(data) = data {
            error.data = Some(valid_json("data", data).map_err(|failure| failure.throw(env))?);
        }
        self.respond(env, id, Answer::Error(error))
    }

    /// Reports progress on a call. False when nothing was sent.
    #[napi]
    pub fn progress(
        &self,
        env: &Env,
        id: i64,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> napi::Result<bool> {
        self.drive(env, |session| {
            session.progress(InboundId(id as u64), progress, total, message.as_deref())
        })
    }

    /// Serves a call that waited for the registry to be complete. False when it was cancelled meanwhile.
    #[napi]
    pub fn resume(&self, env: &Env, id: i64) -> napi::Result<bool> {
        self.drive(env, |session| session.resume(InboundId(id as u64)))
    }

    /// Sets what `tools/list` says of a tool.
    #[napi]
    pub fn describe_tool(&self, env: &Env, index: u32, descriptor: String) -> napi::Result<()> {
        self.handle.with(env, |state| {
            let registry = Arc::clone(&state.registry);
            state.try_drive(env, |_| describe(&registry, index as ToolIndex, descriptor))
        })
    }
}

impl Session {
    fn respond(&self, env: &Env, id: i64, answer: Answer<'_>) -> napi::Result<bool> {
        self.drive(env, |session| session.respond(InboundId(id as u64), answer))
    }
}

fn add_tool(registry: &Registry, text: &str) -> Result<(), Failure> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Tool {
        Name(String),
        Descriptor { name: String },
    }
    let tool = serde_json::from_str(text)
        .map_err(|_| Failure::usage(format!("a tool is a descriptor with a name, or a name; got {text}")))?;
    let (name, described) = match tool {
        Tool::Name(name) => (name, false),
        Tool::Descriptor { name } => (name, true),
    };
    let index = registry
        .add_tool(&name)
        .map_err(|error| Failure::usage(error.to_string()))?;
    if described {
        describe(registry, index, text.to_owned())?;
    }
    Ok(())
}

fn describe(registry: &Registry, index: ToolIndex, descriptor: String) -> Result<(), Failure> {
    let descriptor = valid_json("the descriptor", descriptor)?;
    registry
        .describe_tool(index, &descriptor)
        .map_err(|error| Failure::usage(error.to_string()))
}

fn valid_json(what: &str, text: String) -> Result<Json, Failure> {
    json(text).map_err(|error| Failure::usage(format!("{what} is not JSON: {error}")))
}
