//! The HTTP limit of a machine: axum with one handler that answers every request with the same document, on
//! the runtime of the service. `make bench` compares the service with it.
//!
//! ```sh
//! cargo run --release --example bare_handler -- DOCUMENT
//! ```
#![expect(clippy::print_stdout, reason = "says where it listens")]

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::serve::ListenerExt as _;
use std::error::Error;
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: bare_handler DOCUMENT")?;
    let document = Bytes::from(std::fs::read(path)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(document))
}

async fn serve(document: Bytes) -> Result<(), Box<dyn Error>> {
    let handler = move || {
        let answer = ([(CONTENT_TYPE, "text/plain; charset=utf-8")], document.clone());
        async move { answer }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    // The same socket options as the service.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().fallback(handler)).await?;
    Ok(())
}
