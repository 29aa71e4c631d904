//! Built-in TLS with a certificate and a key from two PEM files, which can be reloaded while the service runs.

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;

/// Why TLS cannot be used. Every message names the setting and the file.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that cannot be read or does not contain what is expected.
    #[error("{setting} {file}: {problem}", file = file.display())]
    File {
        /// The setting that names the file.
        setting: &'static str,
        /// The file.
        file: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A certificate and a key that do not match.
    #[error("http.tls.certificate {certificate} and http.tls.key {key} cannot be used: {problem}",
            certificate = certificate.display(), key = key.display())]
    Pair {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The problem.
        problem: String,
    },
}

/// The current certificate. A connection keeps the one it started with.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// As [`TlsError`] says.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current: RwLock::new(read(certificate, key)?),
        })
    }

    /// Reads the files again, for later connections. On an error the previous certificate remains in use.
    ///
    /// # Errors
    /// As [`TlsError`] says.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = read(&self.certificate, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// The acceptor for a new connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(current.clone())
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let wrong = |setting, file: &Path, problem: String| TlsError::File {
        setting,
        file: file.to_owned(),
        problem,
    };
    let bad_certificate = |problem| wrong("http.tls.certificate", certificate, problem);
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| bad_certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(bad_certificate("there is no PEM certificate in it".to_owned()));
    }
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| wrong("http.tls.key", key, error.to_string()))?;
    let pair = |error: rustls::Error| TlsError::Pair {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        problem: error.to_string(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
