//! TLS: whom a client trusts, and that it says whom it does not.

use std::sync::Arc;

use oxmcp::transport::Http;
use oxmcp::{Client, ErrorKind, Fault, Server};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Signed the certificate of the test server, which is for localhost and 127.0.0.1.
pub(super) const ROOT: &str = include_str!("certs/root.pem");

fn acceptor() -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("certs/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("certs/server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Our server behind TLS; gives the port.
async fn serve() -> u16 {
    let serving = Server::new("secure", "1.0").http().bind(0).await.unwrap();
    let behind = serving.local_addr();
    tokio::spawn(serving);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut stream = acceptor().accept(stream).await?;
                let mut behind = TcpStream::connect(behind).await?;
                copy_bidirectional(&mut stream, &mut behind).await
            });
        }
    });
    port
}

#[tokio::test]
async fn a_root_certificate_makes_its_servers_trusted() {
    let port = serve().await;
    for host in ["127.0.0.1", "localhost"] {
        let http = Http::new(format!("https://{host}:{port}/mcp")).root_certificate(ROOT);
        let client = Client::connect(http).await.unwrap();
        assert_eq!(client.server_info().name, "secure");
        client.ping().await.unwrap();
        client.close().await;
    }
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_refused() {
    let port = serve().await;
    // With a root of our own that signed nothing here, a system without certificates can use TLS too.
    let other = include_str!("certs/other.pem");
    let http = Http::new(format!("https://127.0.0.1:{port}/mcp")).root_certificate(other);
    let error = Client::connect(http).await.unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::Closed, Fault::Transport));
    assert!(
        error.message().contains("no secure connection") && !error.is_retryable(),
        "{error}"
    );
}
