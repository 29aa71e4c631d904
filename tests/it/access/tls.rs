//! TLS of the service's own. The certificates in `tests/data/tls` are for nothing but these tests.

use super::sockets::start;
use reqwest::Certificate;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use working_memory::http::{Settings, Tls};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/tls")
        .join(name)
}

/// Asks for the small answer, trusting one certificate.
async fn ask(address: SocketAddr, trusted: &str) -> Result<String, reqwest::Error> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate = Certificate::from_pem(&fs::read(data(trusted)).unwrap()).unwrap();
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([certificate])
        .build()?;
    client
        .get(format!("https://{address}/small"))
        .send()
        .await?
        .text()
        .await
}

#[tokio::test]
async fn a_certificate_is_used_and_another_one_after_it_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("crt"), folder.path().join("key"));
    let install = |name: &str| {
        fs::copy(data(&format!("{name}.crt")), &certificate).unwrap();
        fs::copy(data(&format!("{name}.key")), &key).unwrap();
    };
    install("one");
    let tls = Arc::new(Tls::load(&certificate, &key).unwrap());
    let address = start(Settings {
        tls: Some(tls.clone()),
        header_timeout: Duration::from_millis(500),
        ..Settings::default()
    })
    .await;
    // One that never begins its handshake keeps nobody waiting.
    let _silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(ask(address, "one.crt").await.unwrap(), "small");
    ask(address, "two.crt").await.unwrap_err();

    fs::write(&certificate, "nothing of use").unwrap();
    tls.reload().unwrap_err();
    assert_eq!(ask(address, "one.crt").await.unwrap(), "small");
    install("two");
    tls.reload().unwrap();
    assert_eq!(ask(address, "two.crt").await.unwrap(), "small");
    ask(address, "one.crt").await.unwrap_err();
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let (one, two) = (data("one.crt"), data("two.key"));
    for (certificate, key, said) in [
        (data("no.crt"), two.clone(), "http.tls.certificate"),
        (two.clone(), two.clone(), "http.tls.certificate"),
        (one.clone(), data("no.key"), "http.tls.key"),
        (one.clone(), one.clone(), "http.tls.key"),
        (one, two, "cannot be used"),
    ] {
        let error = Tls::load(&certificate, &key).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
