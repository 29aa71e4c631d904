//! Signing in and out, and the end of sessions.

use super::Browser;
use crate::access::{first_admin, with_admin};
use crate::harness::{Answer, Service, holds};
use reqwest::{Method, Response};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn without_keys_nobody_signs_in() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service);
    let page = browser.visit("/ui/").await.is(200);
    let parts = ["HttpOnly", "SameSite=Strict", "Path=/ui"];
    holds(page.header("set-cookie"), &parts);
    browser.session("GET /ui/sign-in → 303 /ui/").await;
}

#[tokio::test]
async fn with_keys_a_page_redirects_to_the_form_and_the_form_back_to_the_page() {
    let (service, admin) = with_admin().await;
    let mut browser = Browser::new(&service);
    let table = "
        GET /ui/vaults/acme?sort=bytes → 303 /ui/sign-in?next=%2Fui%2Fvaults%2Facme%3Fsort%3Dbytes
        GET /ui/sign-in?next=%2Fui%2Fvaults%2Facme → 200";
    browser.session(table).await;
    let head = browser.request(Method::HEAD, "/ui/vaults/acme");
    Answer::to(head).await.is(303);
    let before = browser.cookie.clone();
    let sign_in = format!("SEND /ui/sign-in < key={}", admin.token);
    let table = format!("{sign_in}&next=/ui/vaults/acme → 303 /ui/vaults/acme");
    let answer = browser.session(&table).await;
    browser.keep_cookie(&answer);
    // A session that somebody planted would be theirs, too.
    assert_ne!(browser.cookie, before);
    let table = format!("GET /ui/vaults/acme → 200\n{sign_in}&next=https://attacker.example/ → 303 /ui/");
    browser.session(&table).await;
}

#[tokio::test]
async fn an_invalid_key_starts_no_session() {
    let (service, admin) = with_admin().await;
    let mut browser = Browser::new(&service);
    let (own, _) = admin.token.rsplit_once('_').unwrap();
    let almost = format!("{own}_{}", "0".repeat(64));
    for key in ["", "x", &almost, "wm_nobody_x"] {
        let table = format!(
            "
            GET /ui/sign-in → 200
            SEND /ui/sign-in < key={key} → 401 The key is not valid | Where a key comes from | !{almost}
            GET /ui/vaults/acme → 303"
        );
        browser.session(&table).await;
    }
}

#[tokio::test]
async fn a_session_is_stored_as_its_hash_and_the_key_not_at_all() {
    let (service, admin) = with_admin().await;
    let browser = Browser::signed_in(&service, &admin.token).await;
    for secret in [browser.cookie.as_deref().unwrap(), &admin.token, &browser.token()] {
        assert_eq!(service.tables_that_hold(secret).await, [""; 0]);
    }
    assert_eq!(service.count("sessions").await, 1);
}

#[tokio::test]
async fn pages_accept_a_session_and_routes_a_key() {
    let (service, admin) = with_admin().await;
    let browser = Browser::signed_in(&service, &admin.token).await;
    let route = browser.request(Method::GET, "/v1/vaults");
    Answer::to(route).await.unauthorized();
    let with_key = Browser::new(&service);
    let request = with_key.request(Method::GET, "/ui/vaults/acme");
    Answer::to(request.bearer_auth(&admin.token)).await.is(303);
}

#[tokio::test]
async fn a_session_ends_with_its_key() {
    let (service, admin) = with_admin().await;
    let key = admin.make(json!({"name": "ann", "role": "writer"})).await;
    let browser = Browser::signed_in(&service, &key.token).await;
    browser.get("/ui/vaults/acme").await.is(200);
    admin.delete(&format!("/v1/keys/{}", key.key_id)).await.is(204);
    browser.get("/ui/vaults/acme").await.is(303);
    let mut browser = browser;
    browser
        .session("SEND ./edit < text=x&once=a&if_match= → 401")
        .await;
    assert_eq!(service.count("memories").await, 0);
    // A rotation ends the sessions of the old secret.
    let key = admin.make(json!({"name": "ben", "role": "writer"})).await;
    let browser = Browser::signed_in(&service, &key.token).await;
    let rotate = format!("/v1/keys/{}/rotate", key.key_id);
    admin.post(&rotate, &json!({})).await.is(200);
    browser.get("/ui/vaults/acme").await.is(303);
}

#[tokio::test]
async fn a_session_expires_and_its_row_is_purged() {
    let (service, admin) = with_admin().await;
    let browser = Browser::signed_in(&service, &admin.token).await;
    service.clock.advance(Duration::from_secs(6 * 86_400));
    browser.get("/ui/vaults/acme").await.is(200);
    assert_eq!(service.storage().purge_sessions().await.unwrap(), 0);
    service.clock.advance(Duration::from_secs(2 * 86_400));
    browser.get("/ui/vaults/acme").await.is(303);
    assert_eq!(service.storage().purge_sessions().await.unwrap(), 1);
    assert_eq!(service.count("sessions").await, 0);
}

#[tokio::test]
async fn signing_out_ends_the_session_for_every_holder_of_its_cookie() {
    let (service, admin) = with_admin().await;
    let browser = Browser::signed_in(&service, &admin.token).await;
    let answer = browser.send("/ui/sign-out", &[]).await.is(303);
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    browser.get("/ui/vaults/acme").await.is(303);
    assert_eq!(service.count("sessions").await, 0);
}

#[tokio::test]
async fn an_open_stream_ends_with_its_session_at_once() {
    let (service, admin) = with_admin().await;
    let browser = Browser::signed_in(&service, &admin.token).await;
    let other = Browser::signed_in(&service, &admin.token).await;
    let open = async |browser: &Browser<'_>| {
        let request = browser.request(Method::GET, "/ui/vaults/acme/stream");
        let mut response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.chunk().await.unwrap().unwrap();
        response
    };
    Browser::new(&service).get("/ui/vaults/acme/stream").await.is(303);
    let (mut stream, mut stays) = (open(&browser).await, open(&other).await);
    browser.send("/ui/sign-out", &[]).await.is(303);
    let ends = async |stream: &mut Response, seconds: u64| {
        let ended = async { while stream.chunk().await.unwrap().is_some() {} };
        timeout(Duration::from_secs(seconds), ended)
            .await
            .expect("the stream ends");
    };
    ends(&mut stream, 1).await;
    // The other session of the same key goes on.
    admin.put("acme", "text").await.is(201);
    let goes_on = async {
        loop {
            let piece = stays.chunk().await.unwrap().expect("the other session's stream");
            if String::from_utf8_lossy(&piece).contains("event: version") {
                return;
            }
        }
    };
    let goes_on = timeout(Duration::from_secs(20), goes_on).await;
    goes_on.expect("the stream of the other session");
    // Signed out at another instance.
    let instance = service.beside(None).await;
    let mut there = Browser::new(&instance);
    there.cookie.clone_from(&other.cookie);
    there.send("/ui/sign-out", &[]).await.is(303);
    ends(&mut stays, 10).await;
}

#[tokio::test]
async fn behind_a_proxy_with_tls_the_cookie_is_secure() {
    let (service, admin) = with_admin().await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/sign-in").await;
    let form = browser.form("/ui/sign-in", &[("key", &admin.token)]);
    let form = form.header("Origin", "https://memory.example");
    let answer = Answer::to(form.header("Sec-Fetch-Site", "same-origin"))
        .await
        .is(303);
    let cookie = answer.header("set-cookie");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
}

/// The status that answers a form of the sign-in page of which so many bytes arrive and the last does not.
async fn status_of_a_form_without_end(service: &Service, bytes: usize) -> String {
    let mut stream = TcpStream::connect(service.socket_address()).await.unwrap();
    let form = format!(
        "POST /ui/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{}",
        bytes + 1,
        "x".repeat(bytes)
    );
    stream.write_all(form.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = timeout(Duration::from_secs(15), stream.read_to_string(&mut answer)).await;
    read.expect("an answer in time").unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn what_anyone_may_send_to_sign_in_is_small_must_arrive_in_time_and_counts_for_its_address() {
    let service = Service::configured(|config| {
        config.http.request_timeout_seconds = 3;
        // An address may hold 8 KiB of bodies that arrive, all together 16 KiB.
        config.http.max_bytes_in_flight = 32 << 10;
        (config.limits.context_bytes, config.limits.body_bytes) = (4 << 10, 4 << 10);
    })
    .await;
    first_admin(&service).await;
    let form = |bytes| status_of_a_form_without_end(&service, bytes);
    assert_eq!(form(17_000).await, "413");
    let (one, other) = futures::join!(form(5_000), form(5_000));
    let mut both = [one, other];
    both.sort();
    assert_eq!(both, ["408", "503"]);
}
