//! TLS of the service itself. The certificates in `tests/data/tls` are for these tests only.

use super::sockets::start;
use axum::Router;
use axum::routing::get;
use reqwest::Certificate;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use working_memory::http::{Settings, Tls, serve};

fn data(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls")).join(name)
}

/// Requests the small response, trusting one certificate.
async fn ask(address: SocketAddr, trusted: &str) -> Result<String, reqwest::Error> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate = Certificate::from_pem(&fs::read(data(trusted)).unwrap()).unwrap();
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([certificate])
        .build()?;
    let answered = client.get(format!("https://{address}/small")).send();
    answered.await?.text().await
}

#[tokio::test]
async fn a_certificate_is_used_and_a_new_one_after_a_reload() {
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
    // A client that never starts its handshake blocks nobody.
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

#[tokio::test]
async fn a_client_that_does_not_start_its_handshake_does_not_delay_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let settings = Settings {
        tls: Some(Arc::new(Tls::load(&data("one.crt"), &data("one.key")).unwrap())),
        header_timeout: Duration::from_secs(60),
        shutdown_grace: Duration::from_secs(30),
        ..Settings::default()
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let until = async { drop(stopped.await) };
    let router = || Router::new().route("/small", get(|| async { "small" }));
    let serving = tokio::spawn(async move { serve(listener, router, &settings, until).await });
    let _silent = TcpStream::connect(address).await.unwrap();
    // Connections are accepted in turn.
    assert_eq!(ask(address, "one.crt").await.unwrap(), "small");
    stop.send(()).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(15), serving).await;
    assert!(ended.expect("the end in time").unwrap(), "nothing was running");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let (one, two) = (data("one.crt"), data("two.key"));
    let folder = tempfile::tempdir().unwrap();
    let [new, old] = ["new.key", "old.key"].map(|name| folder.path().join(name));
    let encrypted = "ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED";
    fs::write(&new, format!("-----BEGIN {encrypted} PRIVATE KEY-----\n")).unwrap();
    let encrypted = "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIB\n-----END RSA";
    fs::write(&old, format!("-----BEGIN {encrypted} PRIVATE KEY-----\n")).unwrap();
    for (certificate, key, said) in [
        (data("no.crt"), two.clone(), "http.tls.certificate"),
        (two.clone(), two.clone(), "http.tls.certificate"),
        (one.clone(), data("no.key"), "http.tls.key"),
        (one.clone(), one.clone(), "http.tls.key"),
        (one.clone(), new, "the key is encrypted"),
        (one.clone(), old, "the key is encrypted"),
        (one, two, "must be that of the first certificate"),
    ] {
        let error = Tls::load(&certificate, &key).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// `health --settings` in a folder without a settings file, with these variables.
async fn health(address: SocketAddr, environment: &[(&str, &str)]) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_working-memory"));
    command
        .args(["health", "--settings", "--path", "/small"])
        .current_dir(folder.path())
        .env_remove("WORKING_MEMORY_URL")
        .env(
            "WORKING_MEMORY__HTTP__BIND",
            format!("0.0.0.0:{}", address.port()),
        )
        .envs(environment.iter().copied());
    command.output().await.unwrap()
}

#[tokio::test]
async fn a_health_check_follows_the_settings_of_the_service() {
    let (certificate, key) = (data("one.crt"), data("one.key"));
    let tls = Tls::load(&certificate, &key).unwrap();
    let address = start(Settings {
        tls: Some(Arc::new(tls)),
        ..Settings::default()
    })
    .await;
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let of_tls = [
        ("WORKING_MEMORY__HTTP__TLS__CERTIFICATE", certificate),
        ("WORKING_MEMORY__HTTP__TLS__KEY", key),
    ];
    let output = health(address, &of_tls).await;
    assert!(output.status.success(), "{output:?}");
    // With settings for plain HTTP the check uses it, and a service with TLS does not respond to that.
    assert_eq!(health(address, &[]).await.status.code(), Some(1));

    let plain = start(Settings::default()).await;
    let output = health(plain, &[]).await;
    assert!(output.status.success(), "{output:?}");
    let output = health(plain, &[("WORKING_MEMORY__HTTP__NONE", "1")]).await;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
