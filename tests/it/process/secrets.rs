//! Secrets of the service are never revealed, also where other servers send them back: the key of its model, the password of
//! its database, and secrets in requests.

use super::program::{Program, folder, with_models};
use crate::harness::{Answer, Database, eventually};
use crate::pipeline::dictated::learning;
use crate::pipeline::stub::{Reply, Stub};
use reqwest::Method;
use serde_json::json;
use sqlx::{Connection, PgConnection};
use url::Url;
use working_memory::domain::operation::Role;

const MODEL_KEY: &str = "sk-5ec7e7-of-the-model";

/// The rows of all tables, as text.
async fn rows(url: &str) -> String {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query_scalar("SELECT database_to_xml(true, false, '')::text")
        .fetch_one(&mut connection)
        .await
        .unwrap()
}

#[tokio::test]
async fn no_secret_is_in_any_response_log_or_row() {
    let stub = Stub::start(|model_request| match model_request.role() {
        Role::Learnings => Reply::Text(learning("insight")),
        _ => Reply::Status(401, None, "no such key: Bearer sk-5ec7e7-of-the-model"),
    })
    .await;
    let database = Database::create().await;
    let mut url = Url::parse(&database.url()).unwrap();
    let password = url.password().unwrap_or("5ec7e7-of-the-database").to_owned();
    url.set_password(Some(&password)).unwrap();
    let folder = folder();
    let mut environment = with_models(url.as_str(), stub.address());
    environment.push(("WORKING_MEMORY__LLM__API_KEY", MODEL_KEY));
    environment.push(("WORKING_MEMORY__LOG__FILTER", "trace"));
    let program = Program::start_with(folder.path(), &environment).await;
    let sent = ["5ec7e7-cookie", "5ec7e7-query", "5ec7e7-path", "5ec7e7-task"];
    let update = |body| {
        let request = program.request(Method::POST, "agent", "update");
        request.header("Cookie", sent[0]).json(&body)
    };

    let mut responses = String::new();
    let waiting = Answer::to(update(json!({"task": sent[3]}))).await;
    responses += waiting.is(502).text();
    let partly = update(json!({"task": sent[3], "allow_partial": true}));
    Answer::to(partly).await.is(200);
    let later = update(json!({"task": sent[3], "roles": ["progress"]})).header("Prefer", "respond-async");
    let later = Answer::to(later).await.is(202);
    eventually("the queued update has ended", async || {
        let run = program.get(later.header("location")).await.is(200).json();
        run["status"] == "failed"
    })
    .await;
    for path in [
        format!("/v1/vaults/v/memories/{}/context?{}=1", sent[2], sent[1]),
        "/v1/vaults/v/memories/agent/updates".to_owned(),
        "/readyz".to_owned(),
        "/metrics".to_owned(),
    ] {
        responses += program.get(&path).await.text();
    }
    let log = program.log().await;
    let is_traced = log.contains("/chat/completions") || log.contains("model.call");
    assert!(is_traced, "{log}");

    for secret in [MODEL_KEY, &password] {
        assert!(!log.contains(secret), "{secret} in the log");
        assert!(!responses.contains(secret), "{secret} in an answer");
    }
    let stored = rows(&database.url()).await;
    assert!(stored.contains("no such key"), "what the model said is kept");
    assert!(!stored.contains(MODEL_KEY) && !stored.contains(&password));
    for secret in sent {
        assert!(!log.contains(secret), "{secret} in the log");
    }
}
