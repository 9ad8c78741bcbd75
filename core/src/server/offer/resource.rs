//! Resources and families of them: what is read by a URI.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use oxmcp_proto::types::{
    Annotations, BlobResourceContents, Icon, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    TextResourceContents,
};
use oxmcp_proto::{Checks, Error, Kind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::super::text;
use super::{
    Completing, Completions, IntoCompletion, JsonResult, Offer, Parts, answer, completer, descriptor, private, refused,
    set_meta, unusable,
};
use crate::Context;
use crate::handler::{Call, Handler, HandlerError, Reply, Started, Work};
use crate::types::content;

/// Reads a resource for a call; the media type is what its description says.
type Read = Arc<dyn Fn(Arc<Call>, Option<&RawValue>, Option<Arc<str>>) -> Result<Work, String> + Send + Sync>;

/// A resource with all that can be said of it, for [`Server::offer`](crate::Server::offer).
///
/// ```
/// use oxmcp::{Context, ResourceOffer, Server};
///
/// let logo = ResourceOffer::new("app://logo", "logo", |_: Context| async { Ok(vec![0x89_u8, b'P', b'N', b'G']) })
///     .title("The logo")
///     .mime_type("image/png");
/// let server = Server::new("demo", "1.0").offer(logo);
/// ```
#[must_use = "it is nothing until it is offered"]
pub struct ResourceOffer {
    resource: Resource,
    read: Read,
    broken: Option<String>,
}

impl ResourceOffer {
    /// An async function that reads the resource of this URI; see [`Server::resource`](crate::Server::resource).
    pub fn new<R, F>(
        uri: impl Into<String>,
        name: impl Into<String>,
        function: impl Fn(Context) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResourceResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        let read: Read = Arc::new(move |call, params, mime_type| {
            let uri = uri_of(params)?;
            let future = function(Context::at(call, Arc::clone(&uri)));
            Ok(reading(future, uri, mime_type))
        });
        Self {
            resource: Resource::new(name, uri),
            read,
            broken: None,
        }
    }

    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.resource.title = Some(title.into());
        self
    }

    /// What it is, and when to read it.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.resource.description = Some(description.into());
        self
    }

    /// Its media type; also that of contents that do not say theirs.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.resource.mime_type = Some(mime_type.into());
        self
    }

    /// Its size in bytes.
    pub fn size(mut self, bytes: u64) -> Self {
        self.resource.size = Some(bytes.into());
        self
    }

    /// Who it is for, and how much it matters.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.resource.annotations = Some(annotations);
        self
    }

    /// Pictures to show beside it.
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.resource.icons = Some(icons);
        self
    }

    /// Sets a member of its `_meta`.
    pub fn meta(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        set_meta(&mut self.resource.meta, &mut self.broken, name.into(), &value);
        self
    }
}

impl private::Sealed for ResourceOffer {}

impl Offer for ResourceOffer {
    #[expect(private_interfaces, reason = "nobody else can call it")]
    fn into_parts(self) -> Result<Parts, Error> {
        let uri = &self.resource.uri;
        if let Some(what) = self.broken {
            return Err(unusable(Kind::Resource, uri, what));
        }
        Ok(Parts {
            kind: Kind::Resource,
            descriptor: descriptor(Kind::Resource, uri, &self.resource)?,
            run: handler(self.read, self.resource.mime_type.as_deref()),
            key: self.resource.uri,
            completions: Completions::new(),
            checks: Checks::default(),
        })
    }
}

/// A family of resources with all that can be said of it, for [`Server::offer`](crate::Server::offer).
///
/// ```
/// use oxmcp::{Completing, Context, Server, TemplateOffer};
///
/// #[derive(serde::Deserialize)]
/// struct Note {
///     id: u32,
/// }
///
/// let notes = TemplateOffer::new("note://{id}", "note", |_: Context, Note { id }: Note| async move {
///     Ok(format!("This is note {id}."))
/// })
/// .mime_type("text/plain")
/// .complete("id", |_: Context, _: Completing| async { Ok(["1", "2", "3"]) });
/// let server = Server::new("demo", "1.0").offer(notes);
/// ```
#[must_use = "it is nothing until it is offered"]
pub struct TemplateOffer {
    template: ResourceTemplate,
    read: Read,
    completions: Completions,
    broken: Option<String>,
}

impl TemplateOffer {
    /// An async function that reads what a URI template (RFC 6570) matches; see
    /// [`Server::resource_template`](crate::Server::resource_template).
    pub fn new<V, R, F>(
        uri_template: impl Into<String>,
        name: impl Into<String>,
        function: impl Fn(Context, V) -> F + Send + Sync + 'static,
    ) -> Self
    where
        V: DeserializeOwned,
        R: IntoResourceResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        let read: Read = Arc::new(move |call, params, mime_type| {
            let uri = uri_of(params)?;
            let variables = text::read(variables_of(params).as_deref())?;
            let future = function(Context::at(call, Arc::clone(&uri)), variables);
            Ok(reading(future, uri, mime_type))
        });
        Self {
            template: ResourceTemplate::new(name, uri_template),
            read,
            completions: Completions::new(),
            broken: None,
        }
    }

    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.template.title = Some(title.into());
        self
    }

    /// What its resources are, and when to read them.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.template.description = Some(description.into());
        self
    }

    /// The media type of all its resources; also that of contents that do not say theirs.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.template.mime_type = Some(mime_type.into());
        self
    }

    /// Who it is for, and how much it matters.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.template.annotations = Some(annotations);
        self
    }

    /// Pictures to show beside it.
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.template.icons = Some(icons);
        self
    }

    /// Sets a member of its `_meta`.
    pub fn meta(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        set_meta(&mut self.template.meta, &mut self.broken, name.into(), &value);
        self
    }

    /// Completes one of its variables; see [`Server::completion`](crate::Server::completion).
    pub fn complete<C, F>(
        mut self,
        variable: impl Into<String>,
        function: impl Fn(Context, Completing) -> F + Send + Sync + 'static,
    ) -> Self
    where
        C: IntoCompletion,
        F: Future<Output = Result<C, HandlerError>> + Send + 'static,
    {
        self.completions.push((variable.into(), completer(function)));
        self
    }
}

impl private::Sealed for TemplateOffer {}

impl Offer for TemplateOffer {
    #[expect(private_interfaces, reason = "nobody else can call it")]
    fn into_parts(self) -> Result<Parts, Error> {
        let key = &self.template.uri_template;
        if let Some(what) = self.broken {
            return Err(unusable(Kind::Template, key, what));
        }
        Ok(Parts {
            kind: Kind::Template,
            descriptor: descriptor(Kind::Template, key, &self.template)?,
            run: handler(self.read, self.template.mime_type.as_deref()),
            key: self.template.uri_template,
            completions: self.completions,
            checks: Checks::default(),
        })
    }
}

impl fmt::Debug for ResourceOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceOffer")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TemplateOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateOffer")
            .field("template", &self.template)
            .finish_non_exhaustive()
    }
}

/// What a resource may give. Text and bytes get the URI that was read and the media type of the resource.
pub trait IntoResourceResult {
    /// The result, as it is sent.
    ///
    /// # Errors
    /// When it cannot be made into JSON.
    fn into_resource_result(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResourceResult, serde_json::Error>;
}

impl IntoResourceResult for ReadResourceResult {
    fn into_resource_result(self, _: &str, _: Option<&str>) -> Result<ReadResourceResult, serde_json::Error> {
        Ok(self)
    }
}

impl IntoResourceResult for Vec<ResourceContents> {
    fn into_resource_result(self, _: &str, _: Option<&str>) -> Result<ReadResourceResult, serde_json::Error> {
        Ok(ReadResourceResult::new(self))
    }
}

impl IntoResourceResult for ResourceContents {
    fn into_resource_result(self, _: &str, _: Option<&str>) -> Result<ReadResourceResult, serde_json::Error> {
        Ok(ReadResourceResult::new(vec![self]))
    }
}

impl IntoResourceResult for String {
    fn into_resource_result(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResourceResult, serde_json::Error> {
        let mut contents = TextResourceContents::new(uri, self);
        contents.mime_type = mime_type.map(Into::into);
        Ok(ReadResourceResult::new(vec![contents.into()]))
    }
}

impl IntoResourceResult for &'static str {
    fn into_resource_result(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResourceResult, serde_json::Error> {
        self.to_owned().into_resource_result(uri, mime_type)
    }
}

/// Bytes.
impl IntoResourceResult for Vec<u8> {
    fn into_resource_result(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResourceResult, serde_json::Error> {
        let mut contents = BlobResourceContents::new(uri, content::to_base64(&self));
        contents.mime_type = mime_type.map(Into::into);
        Ok(ReadResourceResult::new(vec![contents.into()]))
    }
}

/// JSON text, of the type `application/json` unless the resource says otherwise.
impl<T: Serialize> IntoResourceResult for JsonResult<T> {
    fn into_resource_result(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResourceResult, serde_json::Error> {
        let text = serde_json::to_string(&self.0)?;
        text.into_resource_result(uri, mime_type.or(Some("application/json")))
    }
}

fn handler(read: Read, mime_type: Option<&str>) -> Handler {
    let mime_type: Option<Arc<str>> = mime_type.map(Into::into);
    Box::new(
        move |call, params| match read(call, params.as_deref(), mime_type.clone()) {
            Ok(work) => Started::Waiting(work),
            Err(what) => refused(what),
        },
    )
}

fn reading<R: IntoResourceResult>(
    future: impl Future<Output = Result<R, HandlerError>> + Send + 'static,
    uri: Arc<str>,
    mime_type: Option<Arc<str>>,
) -> Pin<Box<dyn Future<Output = Result<Reply, String>> + Send>> {
    Box::pin(async move {
        let contents = match future.await {
            Ok(contents) => contents.into_resource_result(&uri, mime_type.as_deref()),
            Err(error) => return error.into_reply(),
        };
        answer(Ok(contents.map_err(|error| {
            format!("its contents cannot be made into JSON: {error}")
        })?))
    })
}

#[derive(Deserialize)]
struct Params<'a> {
    uri: String,
    #[serde(borrow, default)]
    variables: Option<&'a RawValue>,
}

fn params(params: Option<&RawValue>) -> Result<Params<'_>, String> {
    serde_json::from_str(params.map_or("{}", RawValue::get)).map_err(|error| error.to_string())
}

fn uri_of(raw: Option<&RawValue>) -> Result<Arc<str>, String> {
    Ok(params(raw)?.uri.into())
}

fn variables_of(raw: Option<&RawValue>) -> Option<Box<RawValue>> {
    params(raw).ok()?.variables.map(RawValue::to_owned)
}
