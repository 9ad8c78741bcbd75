//! TLS: whom a client trusts.

use std::sync::Arc;

use oxmcp_proto::{Error, ErrorKind};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The certificates in a text of PEM blocks.
pub(super) fn read_pem(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |why: &str| Error::new(ErrorKind::Usage, format!("the root certificate is no PEM text: {why}"));
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| wrong(&error.to_string()))?;
    if all.is_empty() {
        return Err(wrong("it must have a block \"-----BEGIN CERTIFICATE-----\""));
    }
    let mut store = RootCertStore::empty();
    for certificate in &all {
        store
            .add(certificate.clone())
            .map_err(|error| wrong(&error.to_string()))?;
    }
    Ok(all)
}

/// For connections without TLS, which need no certificates of the system: reading them takes its time, and a
/// small container may have none.
pub(super) fn none() -> Result<ClientConfig, Error> {
    let config = builder(&provider())?;
    Ok(config
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}

/// Trusts whom the system trusts, and these.
pub(super) fn config(extra: &[CertificateDer<'static>]) -> Result<ClientConfig, Error> {
    let provider = provider();
    let config = match system(extra, &provider) {
        Ok(verifier) => builder(&provider)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier)),
        // The ones that were given are enough where the system has none.
        Err(_) if !extra.is_empty() => {
            let mut store = RootCertStore::empty();
            store.add_parsable_certificates(extra.iter().cloned());
            builder(&provider)?.with_root_certificates(store)
        }
        Err(error) => {
            let message = format!(
                "TLS cannot be used, as the certificates of this system cannot be read: {error}; install them \
                 (on Debian, the package ca-certificates), or give a root certificate"
            );
            return Err(Error::new(ErrorKind::Usage, message));
        }
    };
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn system(
    extra: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Result<rustls_platform_verifier::Verifier, rustls::Error> {
    let provider = Arc::clone(provider);
    #[cfg(not(target_os = "android"))]
    if !extra.is_empty() {
        return rustls_platform_verifier::Verifier::new_with_extra_roots(extra.iter().cloned(), provider);
    }
    rustls_platform_verifier::Verifier::new(provider)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn builder(
    provider: &Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, Error> {
    ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Usage, format!("TLS cannot be used: {error}")))
}
