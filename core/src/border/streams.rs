//! Connections of clients, and of servers over one stream: child processes, standard input and output, memory.

use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::{Config, Error, Registry, Session};

use super::headers::HeaderDesk;
use super::inbox::Inbox;
use super::remote::{Remote, RemoteHost};
use super::runtime::runtime;
use crate::client::{drive, suit};
use crate::driver::Driver;
use crate::transport::{Http, IntoTransport, Transport};

/// Begins a client's connection; [`Output::Ready`](oxmcp_proto::Output::Ready) or
/// [`Output::ConnectFailed`](oxmcp_proto::Output::ConnectFailed) comes by the inbox. `probe` tells whether the
/// server is asked for its era first; without, it is unless that is known of its command or its URL.
///
/// # Errors
/// As for [`IntoTransport::into_transport`], and when there is no runtime.
pub fn connect(
    config: Config,
    registry: Arc<Registry>,
    server: impl IntoTransport,
    probe: Option<bool>,
    timeout: Option<Duration>,
    inbox: &Arc<Inbox>,
) -> Result<Remote, Error> {
    let runtime = runtime()?;
    let _entered = runtime.enter();
    let transport = server.into_transport()?;
    begin((config, registry), transport, probe, timeout, inbox, |remote| remote)
}

/// The same for a server over HTTP. `renews` tells whether the host gives other header fields when the server wants
/// other credentials: [`Item::Unauthorized`](super::Item::Unauthorized) comes then.
///
/// # Errors
/// As for [`connect`].
pub fn connect_http(
    config: Config,
    registry: Arc<Registry>,
    server: Http,
    renews: bool,
    probe: Option<bool>,
    timeout: Option<Duration>,
    inbox: &Arc<Inbox>,
) -> Result<Remote, Error> {
    if !renews {
        return connect(config, registry, server, probe, timeout, inbox);
    }
    let desk = HeaderDesk::default();
    let transport = desk.over(server, inbox).into_transport()?;
    let serve = |remote| desk.serve(remote);
    begin((config, registry), transport, probe, timeout, inbox, serve)
}

fn begin(
    (mut config, registry): (Config, Arc<Registry>),
    transport: Transport,
    probe: Option<bool>,
    timeout: Option<Duration>,
    inbox: &Arc<Inbox>,
    known: impl FnOnce(Remote) -> Remote,
) -> Result<Remote, Error> {
    let server = suit(&mut config, probe, &transport);
    let remote = known(Remote::new(Session::client_with(config, registry)));
    remote.link().connect(timeout)?;
    let host = RemoteHost::new(&remote, inbox).learning(server).ending_last();
    runtime()?.spawn(drive(Arc::clone(remote.link()), host, transport));
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
