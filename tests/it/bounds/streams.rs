//! The limit of event streams per vault.

use crate::harness::{Answer, Service};
use reqwest::{Method, Response};

async fn stream(service: &Service, vault: &str) -> Response {
    let request = service.request(Method::GET, &format!("/v1/vaults/{vault}/events"));
    request
        .header("Accept", "text/event-stream")
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn the_number_of_streams_is_limited_per_vault() {
    let configure = |config: &mut working_memory::config::Config| config.events.max_streams = 2;
    let service = Service::start_with(configure, None).await;
    let first = stream(&service, "a").await;
    assert_eq!(first.status(), 200);

    let request = service.request(Method::GET, "/v1/vaults/a/events");
    let refused = Answer::to(request.header("Accept", "text/event-stream")).await;
    assert_eq!(refused.header("retry-after"), "5");
    let problem = refused.problem(429, "too-many-requests", None);
    assert_eq!(problem["limit"], 1);

    assert_eq!(stream(&service, "b").await.status(), 200);
}
