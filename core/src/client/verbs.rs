//! What a client asks a server for, method by method.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use oxmcp_proto::{Error, ErrorKind, LogLevel};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Call, Client, read};
use crate::types::{
    CompleteRequestParams, CompleteResult, Completion, CompletionArgument, CompletionReference, GetPromptResult, Json,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, PromptReference,
    ReadResourceResult, Resource, ResourceTemplate, ResourceTemplateReference, Tool, object,
};

type Read<T> = fn(&str, Json) -> Result<T, Error>;

impl Client {
    /// All tools of the server, from as many pages as it has.
    ///
    /// # Errors
    /// As for [`request`](Self::request); [`ErrorKind::Protocol`] also when the server gives
    /// something else than tools, or pages without end ([`Limits::pages`](crate::Limits::pages)).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// for tool in client.list_tools().await? {
    ///     println!("{}: {}", tool.name, tool.description.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_tools(&self) -> Call<Vec<Tool>> {
        self.list("tools/list", |method, result| {
            Ok(read::<ListToolsResult>(method, result)?.tools)
        })
    }

    /// One page of the tools: the first one, or the one that begins at the `next_cursor` of another.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// let first = client.list_tools_page(None).await?;
    /// let second = client.list_tools_page(first.next_cursor.as_deref()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_tools_page(&self, cursor: Option<&str>) -> Call<ListToolsResult> {
        self.page("tools/list", cursor)
    }

    /// All resources of the server, from as many pages as it has.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// for resource in client.list_resources().await? {
    ///     println!("{} {:?}", resource.uri, resource.mime_type);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_resources(&self) -> Call<Vec<Resource>> {
        self.list("resources/list", |method, result| {
            Ok(read::<ListResourcesResult>(method, result)?.resources)
        })
    }

    /// One page of the resources; see [`list_tools_page`](Self::list_tools_page).
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub fn list_resources_page(&self, cursor: Option<&str>) -> Call<ListResourcesResult> {
        self.page("resources/list", cursor)
    }

    /// All resource templates of the server, from as many pages as it has.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// for template in client.list_resource_templates().await? {
    ///     println!("{}", template.uri_template);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_resource_templates(&self) -> Call<Vec<ResourceTemplate>> {
        self.list("resources/templates/list", |method, result| {
            Ok(read::<ListResourceTemplatesResult>(method, result)?.resource_templates)
        })
    }

    /// One page of the resource templates; see [`list_tools_page`](Self::list_tools_page).
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub fn list_resource_templates_page(&self, cursor: Option<&str>) -> Call<ListResourceTemplatesResult> {
        self.page("resources/templates/list", cursor)
    }

    /// All prompts of the server, from as many pages as it has.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// for prompt in client.list_prompts().await? {
    ///     println!("{} takes {} arguments", prompt.name, prompt.arguments.unwrap_or_default().len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_prompts(&self) -> Call<Vec<Prompt>> {
        self.list("prompts/list", |method, result| {
            Ok(read::<ListPromptsResult>(method, result)?.prompts)
        })
    }

    /// One page of the prompts; see [`list_tools_page`](Self::list_tools_page).
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub fn list_prompts_page(&self, cursor: Option<&str>) -> Call<ListPromptsResult> {
        self.page("prompts/list", cursor)
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// As for [`request`](Self::request): a URI that names nothing has the code `-32002`, or `-32602` in
    /// revision 2026-07-28.
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// use oxmcp::types::{ResourceContents, content};
    ///
    /// for contents in client.read_resource("app://logo").await?.contents {
    ///     match contents {
    ///         ResourceContents::Text(text) => println!("{}", text.text),
    ///         ResourceContents::Blob(blob) => println!("{:?}", content::from_base64(&blob.blob)),
    ///         other => println!("{other:?}"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_resource(&self, uri: impl AsRef<str>) -> Call<ReadResourceResult> {
        let uri = uri.as_ref();
        self.typed("resources/read", &Uri { uri })
    }

    /// Fetches a prompt. `arguments` is anything that serialises to an object of strings; `()` is none.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// let prompt = client.get_prompt("poem", serde_json::json!({"about": "rust"})).await?;
    /// println!("{} messages", prompt.messages.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_prompt(&self, name: impl AsRef<str>, arguments: impl Serialize) -> Call<GetPromptResult> {
        #[derive(Serialize)]
        struct Params<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            arguments: Option<Json>,
        }
        let name = name.as_ref();
        let params = object(&arguments, "the arguments of a prompt")
            .and_then(|arguments| object(&Params { name, arguments }, "the params of prompts/get"));
        self.call("prompts/get", params, read)
    }

    /// Asks what could follow what was typed, for an argument of a prompt or a variable of a template.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// use oxmcp::types::{CompleteRequestParams, CompletionArgument, CompletionContext, PromptReference};
    ///
    /// let mut typed = CompleteRequestParams::new(
    ///     CompletionArgument::new("framework", "fl"),
    ///     PromptReference::new("review").into(),
    /// );
    /// let mut known = CompletionContext::default();
    /// known.arguments = Some([("language", "python".to_owned())].into_iter().collect());
    /// typed.context = Some(known);
    /// println!("{:?}", client.complete(&typed).await?.values);
    /// # Ok(())
    /// # }
    /// ```
    pub fn complete(&self, params: &CompleteRequestParams) -> Call<Completion> {
        let params = object(params, "the params of completion/complete");
        self.call("completion/complete", params, |method, result| {
            Ok(read::<CompleteResult>(method, result)?.completion)
        })
    }

    /// Asks what could follow what was typed for an argument of a prompt.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// let completion = client.complete_prompt("review", "language", "py").await?;
    /// println!("{:?}", completion.values);
    /// # Ok(())
    /// # }
    /// ```
    pub fn complete_prompt(
        &self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        value: impl Into<String>,
    ) -> Call<Completion> {
        let reference = CompletionReference::from(PromptReference::new(prompt));
        self.complete(&completing(reference, argument, value))
    }

    /// Asks what could follow what was typed for a variable of a resource template.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// let completion = client.complete_resource("city://{name}", "name", "Os").await?;
    /// println!("{:?}", completion.values);
    /// # Ok(())
    /// # }
    /// ```
    pub fn complete_resource(
        &self,
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        value: impl Into<String>,
    ) -> Call<Completion> {
        let reference = CompletionReference::from(ResourceTemplateReference::new(uri_template));
        self.complete(&completing(reference, variable, value))
    }

    /// Asks to be told of updates of a resource, in revisions with a handshake; they reach
    /// [`on_notification`](crate::ClientBuilder::on_notification). [`listen`](Self::listen) does so in every revision.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// client.subscribe("app://counter").await?;
    /// // later
    /// client.unsubscribe("app://counter").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscribe(&self, uri: impl AsRef<str>) -> Call<()> {
        let params = object(&Uri { uri: uri.as_ref() }, "the params of resources/subscribe");
        self.call("resources/subscribe", params, |_, _| Ok(()))
    }

    /// Ends what [`subscribe`](Self::subscribe) began.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub fn unsubscribe(&self, uri: impl AsRef<str>) -> Call<()> {
        let params = object(&Uri { uri: uri.as_ref() }, "the params of resources/unsubscribe");
        self.call("resources/unsubscribe", params, |_, _| Ok(()))
    }

    /// Sets the mildest log messages that the server is to send. In revision 2026-07-28 every call from now on
    /// asks for them; calls can ask for others ([`Call::log_level`]).
    ///
    /// # Errors
    /// As for [`request`](Self::request): [`ErrorKind::NotNegotiated`] when the server does not log.
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// use oxmcp::LogLevel;
    ///
    /// client.set_logging_level(LogLevel::Warning).await?;
    /// client.call_tool("work", ()).log_level(LogLevel::Debug).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_logging_level(&self, level: LogLevel) -> Result<(), Error> {
        #[derive(Serialize)]
        struct Params {
            level: &'static str,
        }
        if self.inner.peer.revision.has_handshake() {
            let params = object(&Params { level: level.name() }, "the params of logging/setLevel");
            return self.call("logging/setLevel", params, |_, _| Ok(())).await;
        }
        if self.server_capabilities().logging.is_none() {
            let message = "the server does not declare the capability \"logging\"";
            return Err(Error::new(ErrorKind::NotNegotiated, message));
        }
        let place = LogLevel::ALL.iter().position(|it| *it == level).unwrap_or_default();
        let place = u8::try_from(place + 1).unwrap_or_default();
        self.inner.log_level.store(place, Ordering::Relaxed);
        Ok(())
    }

    fn typed<T: DeserializeOwned>(&self, method: &'static str, params: &impl Serialize) -> Call<T> {
        let params = object(params, &format!("the params of {method}"));
        self.call(method, params, read)
    }

    fn page<T: DeserializeOwned>(&self, method: &'static str, cursor: Option<&str>) -> Call<T> {
        #[derive(Serialize)]
        struct Params<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            cursor: Option<&'a str>,
        }
        self.typed(method, &Params { cursor })
    }

    fn list<T>(&self, method: &str, read: Read<T>) -> Call<T> {
        Call::list(Arc::clone(&self.inner), method, read)
    }

    fn call<T>(&self, method: &str, params: Result<Option<Json>, Error>, read: Read<T>) -> Call<T> {
        Call::new(Arc::clone(&self.inner), method.into(), params, read)
    }
}

#[derive(Serialize)]
struct Uri<'a> {
    uri: &'a str,
}

fn completing(
    reference: CompletionReference,
    argument: impl Into<String>,
    value: impl Into<String>,
) -> CompleteRequestParams {
    CompleteRequestParams::new(CompletionArgument::new(argument, value), reference)
}
