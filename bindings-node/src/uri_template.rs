//! URI templates for programs that use them by themselves.

use std::collections::BTreeMap;

use napi::Env;
use napi_derive::napi;
use oxmcp_proto::uri_template::UriValue;
use serde::Deserialize;

use crate::error::Failure;

/// A URI template of RFC 6570.
#[napi]
pub struct UriTemplate {
    template: oxmcp_proto::uri_template::UriTemplate,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    List(Vec<String>),
    Map(BTreeMap<String, String>),
}

#[napi]
impl UriTemplate {
    /// Reads a template.
    #[napi(constructor)]
    pub fn new(env: &Env, text: String) -> napi::Result<Self> {
        match oxmcp_proto::uri_template::UriTemplate::parse(&text) {
            Ok(template) => Ok(Self { template }),
            Err(error) => Err(Failure::usage(format!("{text}: {error}")).throw(env)),
        }
    }

    /// The names of its variables.
    #[napi]
    pub fn variables(&self) -> Vec<String> {
        self.template.variables().map(String::from).collect()
    }

    /// The URI for variables, which are JSON text: an object of texts, lists and objects of texts.
    #[napi]
    pub fn expand(&self, env: &Env, variables: String) -> napi::Result<String> {
        let wrong = |error| {
            Failure::usage(format!(
                "the variables of a URI template are texts, or lists of them: {error}"
            ))
        };
        let given: BTreeMap<String, Value> =
            serde_json::from_str(&variables).map_err(|error| wrong(error).throw(env))?;
        let variables = given.into_iter().map(|(name, value)| (name, value.into())).collect();
        Ok(self.template.expand(&variables))
    }

    /// The variables of a URI, as JSON text; `null` when the template does not make it.
    #[napi]
    pub fn matches(&self, uri: String) -> Option<String> {
        let found = self.template.matches(&uri)?;
        // Written by hand, in the order of the template.
        let members = found
            .into_iter()
            .map(|(name, value)| format!("{}:{}", serde_json::Value::from(name), json(value)));
        Some(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
    }
}

impl From<Value> for UriValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Text(text) => Self::Text(text),
            Value::List(items) => Self::List(items),
            Value::Map(pairs) => Self::Map(pairs.into_iter().collect()),
        }
    }
}

fn json(value: UriValue) -> serde_json::Value {
    match value {
        UriValue::Text(text) => text.into(),
        UriValue::List(items) => items.into(),
        UriValue::Map(pairs) => pairs.into_iter().collect(),
    }
}
