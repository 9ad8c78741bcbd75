//! Connections of clients, and of servers over one stream: child processes, standard input and output, memory.

use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::{Config, Error, Registry, Session};

use super::inbox::Inbox;
use super::remote::{Remote, RemoteHost};
use super::runtime::runtime;
use crate::client::{drive, suit};
use crate::driver::Driver;
use crate::transport::{IntoTransport, Transport};

/// Begins a client's connection; [`Output::Ready`](oxmcp_proto::Output::Ready) or
/// [`Output::ConnectFailed`](oxmcp_proto::Output::ConnectFailed) comes by the inbox. `probe` tells whether the
/// server is asked for its era first; without, it is unless that is known of its command or its URL.
///
/// # Errors
/// As for [`IntoTransport::into_transport`], and when there is no runtime.
pub fn connect(
    mut config: Config,
    registry: Arc<Registry>,
    server: impl IntoTransport,
    probe: Option<bool>,
    timeout: Option<Duration>,
    inbox: &Arc<Inbox>,
) -> Result<Remote, Error> {
    let runtime = runtime()?;
    let _entered = runtime.enter();
    let transport = server.into_transport()?;
    let server = suit(&mut config, probe, &transport);
    let remote = Remote::new(Session::client_with(config, registry));
    remote.link().connect(timeout)?;
    let host = RemoteHost::new(&remote, inbox).learning(server).ending_last();
    runtime.spawn(drive(Arc::clone(remote.link()), host, transport));
    Ok(remote)
}

/// Serves one client over a stream. The end of it is [`Output::Closed`](oxmcp_proto::Output::Closed), which comes when
/// all that was to be written is written, or cannot be.
///
/// # Errors
/// When there is no runtime.
pub fn serve(
    config: Config,
    registry: Arc<Registry>,
    transport: Transport,
    inbox: &Arc<Inbox>,
) -> Result<Remote, Error> {
    let runtime = runtime()?;
    let patience = config.limits.drain;
    let session = Session::server(config, Arc::clone(&registry)).with_unix_epoch(crate::server::unix_millis());
    let remote = Remote::new(session);
    let host = RemoteHost::new(&remote, inbox).watching(&registry).ending_last();
    runtime.spawn(Driver::new(Arc::clone(remote.link()), host, transport).run(patience));
    Ok(remote)
}
