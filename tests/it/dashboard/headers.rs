//! The headers of every page.

use super::Browser;
use crate::access::with_admin;
use crate::harness::{Answer, Service, holds, lacks};
use reqwest::Method;

#[tokio::test]
async fn the_root_redirects_to_the_vaults() {
    let service = Service::start().await;
    let table = "
        GET / → 303 /ui/
        GET /ui → 303 /ui/
        GET /ui/ → 200 There is no vault yet";
    Browser::new(&service).session(table).await;
}

#[tokio::test]
async fn pages_run_only_their_own_scripts_and_cannot_be_framed() {
    let service = Service::start().await;
    let browser = Browser::new(&service);
    for (path, status) in [
        ("/ui/", 200),
        ("/ui/nothing", 404),
        ("/ui/vaults/acme/memories/none", 404),
    ] {
        let answer = browser.get(path).await.is(status);
        let policy = answer.header("content-security-policy");
        let all = "default-src 'none'|script-src 'self'|style-src 'self'|frame-ancestors 'none'|\
                form-action 'self'|base-uri 'none'";
        holds(policy, &all.split('|').collect::<Vec<_>>());
        lacks(policy, &["unsafe"]);
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("referrer-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{path}");
        }
    }
}

#[tokio::test]
async fn assets_are_immutable_and_their_names_change_with_the_content() {
    let service = Service::start().await;
    let browser = Browser::new(&service);
    let page = browser.get("/ui/").await.is(200);
    let mut weight = page.body.len();
    for (begins, media_type) in [
        ("/ui/assets/style-", "text/css; charset=utf-8"),
        ("/ui/assets/script-", "text/javascript; charset=utf-8"),
        ("/ui/assets/icon-", "image/svg+xml"),
    ] {
        let at = page.text().find(begins).unwrap();
        let address = page.text()[at..].split('"').next().unwrap();
        let asset = browser.get(address).await.is(200);
        assert_eq!(asset.header("content-type"), media_type);
        let immutable = "public, max-age=31536000, immutable";
        assert_eq!(asset.header("cache-control"), immutable);
        weight += asset.body.len();
    }
    assert!(weight < 150_000, "{weight} bytes");
    browser.get("/ui/assets/style-0000000000000000.css").await.is(404);
    browser.get("/ui/assets/..%2fmod.rs").await.is(404);
    let script = include_str!("../../../src/dashboard/assets/script.js");
    assert!(script.lines().count() < 300);
}

#[tokio::test]
async fn errors_are_pages_with_the_text_of_the_problem() {
    let service = Service::start().await;
    let browser = Browser::new(&service);
    let get = |path: &str| browser.request(Method::GET, path);
    // A cross-site request gets a page as well.
    let foreign = get("/ui/").header("Host", "attacker.example");
    let delete = browser.request(Method::DELETE, "/ui/");
    for (request, status, words) in [
        (get("/ui/nothing"), 404, "there is no route with this path"),
        (delete, 405, "DELETE is not allowed here"),
        (
            get("/ui/vaults/acme/memories/none"),
            404,
            "the memory does not exist",
        ),
        (get("/ui/vaults/-/memories/none"), 422, "vault_id"),
        (get("/ui/vaults/%ff"), 400, "is not valid"),
        (get("/ui/vaults/acme?cursor=x"), 400, "cursor"),
        (foreign, 403, ""),
    ] {
        let answer = Answer::to(request).await.is(status);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        holds(answer.text(), &[words, "<h1>"]);
    }
    // Routes of the API still return problems.
    service.get("/v1/nothing").await.missing();
}

#[tokio::test]
async fn error_pages_keep_the_navigation() {
    let (service, admin) = with_admin().await;
    admin.put("acme", "one\n").await.is(201);
    let mut browser = Browser::signed_in(&service, &admin.token).await;
    let table = r#"
        GET /ui/vaults/acme/memories/none → 404 "/ui/keys" | "/ui/vaults/acme/inbox"
        GET ./versions/9 → 404 "/ui/vaults/acme" | "/ui/vaults/acme/memories/agent/timeline"
        GET .?from=x → 422 "/ui/sign-out" | "/ui/vaults/acme/memories/agent/records"
        GET /ui/vaults/acme?cursor=x → 400 "/ui/search" | "/ui/vaults/acme/search"
        GET /ui/keys/none → 404 "/ui/keys" | "/ui/service""#;
    browser.session(table).await;
    let table = "GET /ui/vaults/acme/nothing → 404 !/ui/vaults/acme/inbox";
    Browser::new(&service).session(table).await;
}

#[tokio::test]
async fn a_cross_site_link_does_not_sign_anybody_out() {
    let (service, admin) = with_admin().await;
    let browser = Browser::new(&service);
    // The browser does not send a strict cookie here.
    let arriving = browser.request(Method::GET, "/ui/vaults/acme");
    let arriving = arriving.header("Sec-Fetch-Site", "cross-site");
    let answer = Answer::to(arriving.header("Sec-Fetch-Mode", "navigate"))
        .await
        .is(200);
    holds(answer.text(), &[r#"http-equiv="refresh""#]);
    assert!(answer.headers.get("set-cookie").is_none());
    let signed_in = Browser::signed_in(&service, &admin.token).await;
    signed_in.get("/ui/vaults/acme").await.is(200);
}
