//! Limits of one client, vault or key on shared resources.

mod answers;
mod bodies;
mod neighbours;
mod stored;

use crate::harness::{Answer, Service};
use reqwest::{Method, RequestBuilder};

/// A request about a memory of any vault.
fn of(service: &Service, method: Method, vault: &str, below: &str) -> RequestBuilder {
    service.request(method, &format!("/v1/vaults/{vault}/memories/{below}"))
}

/// Puts a document into any vault.
async fn put(service: &Service, vault: &str, memory: &str, text: impl Into<String>) -> Answer {
    let request = of(service, Method::PUT, vault, &format!("{memory}/context"));
    Answer::to(request.header("Content-Type", "text/plain").body(text.into())).await
}

/// Reads a document of any vault.
async fn get(service: &Service, vault: &str, memory: &str) -> Answer {
    Answer::to(of(service, Method::GET, vault, &format!("{memory}/context"))).await
}
