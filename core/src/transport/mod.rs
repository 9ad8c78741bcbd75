//! Where the bytes of a connection come from and go to.
//!
//! | transport | for |
//! | --- | --- |
//! | [`ChildProcess`] | a client that starts its server |
//! | `Http`, with the feature `http`, or a URL | a client of a server elsewhere |
//! | [`stdio`] | a server that was started by its client |
//! | [`memory`] | both sides in one process |
//! | [`io`] | anything that reads and writes: a socket, a pipe, a tunnel |

mod child;
mod reader_thread;
mod stdio;

use std::fmt;
#[cfg(feature = "http")]
use std::io;
#[cfg(feature = "http")]
use std::pin::Pin;
#[cfg(feature = "http")]
use std::task::{Context, Poll};
use std::time::Duration;

use oxmcp_proto::Error;
#[cfg(feature = "http")]
use tokio::io::ReadBuf;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

#[cfg(feature = "http")]
pub use crate::http::client::{Http, HttpSse, Unauthorized};
pub use child::ChildProcess;
pub(crate) use child::{Child, Group};
pub use stdio::stdio;

/// Starts a server that has left once more.
pub(crate) type Restart = Box<dyn FnOnce() -> Result<Transport, Error> + Send>;

/// Both directions of one connection.
///
/// Made by the functions of this [module](self), or from a [`ChildProcess`].
pub struct Transport {
    pub(crate) reader: Option<Box<dyn AsyncRead + Send + Unpin>>,
    pub(crate) writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    pub(crate) child: Option<Child>,
    /// Starts the server once more.
    pub(crate) restart: Option<Restart>,
    /// What started the server, for what is known of other servers that the same started.
    pub(crate) command: Option<String>,
    /// A server over HTTP, which has no two directions to read and write.
    #[cfg(feature = "http")]
    pub(crate) http: Option<Box<crate::http::client::HttpTransport>>,
    /// What is undone when the connection ends.
    _guard: Option<stdio::Guard>,
}

impl Transport {
    fn new(reader: impl AsyncRead + Send + Unpin + 'static, writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::of(Box::new(reader), Box::new(writer))
    }

    fn of(reader: Box<dyn AsyncRead + Send + Unpin>, writer: Box<dyn AsyncWrite + Send + Unpin>) -> Self {
        Self {
            reader: Some(reader),
            writer: Some(writer),
            child: None,
            restart: None,
            command: None,
            #[cfg(feature = "http")]
            http: None,
            _guard: None,
        }
    }

    /// A server over HTTP.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(http: crate::http::client::HttpTransport) -> Self {
        Self {
            http: Some(Box::new(http)),
            ..Self::new(OnlyForClients, tokio::io::sink())
        }
    }

    /// What the server is known by: the command that starts it, or its URL.
    pub(crate) fn server(&self) -> Option<String> {
        #[cfg(feature = "http")]
        if let Some(http) = &self.http {
            return Some(http.server());
        }
        self.command.clone()
    }

    /// Whether the server may be asked which revisions it speaks before there is a handshake.
    pub(crate) fn may_probe(&self) -> bool {
        #[cfg(feature = "http")]
        if let Some(http) = &self.http {
            return http.may_probe();
        }
        true
    }

    /// Whether messages go out one by one.
    pub(crate) fn is_routed(&self) -> bool {
        #[cfg(feature = "http")]
        return self.http.is_some();
        #[cfg(not(feature = "http"))]
        return false;
    }

    /// Tells the peer that nothing more comes.
    pub(crate) async fn shut_down(&mut self, patience: Duration) {
        if let Some(mut writer) = self.writer.take() {
            // All was written; a peer that does not take the end of it, or has left, changes nothing.
            let _ = tokio::time::timeout(patience, writer.shutdown()).await;
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("child", &self.child)
            .finish_non_exhaustive()
    }
}

/// What a server finds that is to be served over the transport of a client.
#[cfg(feature = "http")]
struct OnlyForClients;

#[cfg(feature = "http")]
impl AsyncRead for OnlyForClients {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let message = "this transport is a client's; a server is served over HTTP by Server::http";
        Poll::Ready(Err(io::Error::other(message)))
    }
}

/// What a connection can be made over.
pub trait IntoTransport {
    /// Opens it.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`](oxmcp_proto::ErrorKind::Closed) when it cannot be opened, with what to do about it.
    fn into_transport(self) -> Result<Transport, Error>;
}

impl IntoTransport for Transport {
    fn into_transport(self) -> Result<Transport, Error> {
        Ok(self)
    }
}

/// Two ends that are connected to each other, in memory.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use oxmcp::{Client, Server, transport};
///
/// let (near, far) = transport::memory();
/// tokio::spawn(Server::new("demo", "1.0").serve(far));
/// let client = Client::connect(near).await?;
/// assert_eq!(client.server_info().name, "demo");
/// # Ok::<(), oxmcp::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn memory() -> (Transport, Transport) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let end = |stream| {
        let (reader, writer) = tokio::io::split(stream);
        Transport::new(reader, writer)
    };
    (end(near), end(far))
}

/// A connection over two halves of anything that reads and writes, one message per line.
///
/// The end of `reader` ends the connection; `writer` is shut down at the end.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use oxmcp::{Client, Server, transport};
///
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
/// tokio::spawn(async move {
///     let (socket, _) = listener.accept().await?;
///     let (reader, writer) = socket.into_split();
///     Server::new("demo", "1.0").serve(transport::io(reader, writer)).await?;
///     Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// });
///
/// let (reader, writer) = tokio::net::TcpStream::connect(address).await?.into_split();
/// let client = Client::connect(transport::io(reader, writer)).await?;
/// client.ping().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn io(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Transport {
    Transport::new(reader, writer)
}
