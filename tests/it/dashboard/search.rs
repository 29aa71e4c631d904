//! The search of all vaults that a visitor may read.

use super::Browser;
use crate::access::with_admin;
use crate::harness::{eventually, holds, lacks};
use serde_json::json;

#[tokio::test]
async fn all_vaults_of_the_key_are_searched_and_no_others() {
    let (service, admin) = with_admin().await;
    for vault in ["alpha", "beta", "gamma"] {
        let text = format!("# Birds\nA kingfisher of {vault}\n");
        admin.put(vault, &text).await.is(201);
    }
    let reader = json!({"name": "eve", "role": "reader", "vaults": ["alpha", "beta"]});
    let reader = admin.make(reader).await;
    let browser = Browser::signed_in(&service, &reader.token).await;
    let search = async || browser.get("/ui/search?q=kingfisher").await.is(200);
    // What was just written is found within a second.
    eventually("both are found", async || {
        search().await.text().matches("<article").count() == 2
    })
    .await;
    let page = search().await;
    for vault in ["alpha", "beta"] {
        let (name, link) = (
            format!("<bdi>{vault}</bdi>"),
            format!("/ui/vaults/{vault}/memories/"),
        );
        holds(page.text(), &[&name, &link]);
    }
    lacks(page.text(), &["gamma"]);
    let table = r#"
        GET /ui/search?q=heron → 200 No document contains these words
        GET /ui/search?q=LONG → 200 role="alert"
        GET /ui/ → 200 href="/ui/search""#;
    let table = table.replace("LONG", &"x".repeat(1_001));
    let mut browser = browser;
    browser.session(&table).await;
    let stranger = "GET /ui/search?q=kingfisher → 303";
    Browser::new(&service).session(stranger).await;
}
