//! What each role sees and may do.

use super::{Browser, entries, furnish, pages};
use crate::access::with_admin;
use serde_json::json;

/// Every form that changes something.
fn forms(vault: &str, run: &str) -> Vec<String> {
    let all = "edit delete versions/1/restore versions/1/redact handoff records records/KL-1/correct \
               records/KL-1/archive updates/RUN/approve updates/RUN/reject updates/RUN/cancel";
    let all = all.replace("RUN", run);
    let of_memory = all
        .split(' ')
        .map(|below| format!("/ui/vaults/{vault}/memories/agent/{below}"));
    let of_keys = ["/ui/keys", "/ui/keys/x/revoke", "/ui/keys/x/rotate"].map(str::to_owned);
    of_memory.chain(of_keys).collect()
}

const FIELDS: &str = "text=x&name=agent&role=admin&reason=x&sure=yes&once=x&if_match=x";

#[tokio::test]
async fn a_reader_reads_every_page_and_changes_nothing() {
    let (service, admin) = with_admin().await;
    let [run, _] = furnish(&service, Some(&admin.token), "acme").await;
    let reader = json!({"name": "eve", "role": "reader", "vaults": ["acme"]});
    let reader = admin.make(reader).await;
    let browser = Browser::signed_in(&service, &reader.token).await;
    let before = service.count("memory_contexts").await;
    for path in pages("acme", &run) {
        let page = browser.get(&path).await.is(200);
        for action in page.text().split(r#"method="post" action=""#).skip(1) {
            assert!(action.starts_with("/ui/sign-out"), "{path}: {}", &action[..60]);
        }
    }
    for path in forms("acme", &run) {
        browser.send(&path, &entries(FIELDS)).await.is(403);
    }
    assert_eq!(service.count("memory_contexts").await, before);
    assert_eq!(service.count("api_keys").await, 2);
    let mut browser = browser;
    let table = "
        GET /ui/keys → 403
        GET /ui/service → 403
        GET ./edit → 403
        GET ./delete → 403";
    browser.session(table).await;
}

#[tokio::test]
async fn nothing_of_another_tenant_is_on_any_page() {
    let (service, admin) = with_admin().await;
    let [run, _] = furnish(&service, Some(&admin.token), "acme").await;
    let canary = "canary7f3a";
    let vault = format!("other-{canary}");
    let [theirs, _] = furnish(&service, Some(&admin.token), &vault).await;
    admin.put(&vault, &format!("# {canary}\n")).await.is(201);
    let own = json!({"name": "ann", "role": "admin", "vaults": ["acme"]});
    let own = admin.make(own).await;
    let browser = Browser::signed_in(&service, &own.token).await;
    let mut looked = pages("acme", &run);
    looked.extend([
        "/ui/".to_owned(),
        "/ui/keys".to_owned(),
        format!("/ui/vaults/acme/search?q={canary}x"),
    ]);
    for path in looked {
        let page = browser.get(&path).await.is(200);
        let text = page.text().replace(&format!("{canary}x"), "");
        assert!(!text.contains(canary), "{path}");
        assert!(!text.contains(&theirs), "{path}");
    }
    for path in pages(&vault, &theirs) {
        let page = browser.get(&path).await.is(404);
        assert!(!page.text().contains(&theirs), "{path}");
    }
    for path in forms(&vault, &theirs).iter().filter(|path| path.contains(&vault)) {
        let status = browser.send(path, &entries(FIELDS)).await.status;
        assert_eq!(status, 404, "{path}");
    }
    for below in ["stream", "memories/agent/edit"] {
        browser.get(&format!("/ui/vaults/{vault}/{below}")).await.is(404);
    }
    // An administrator of some vaults does not see data of all vaults.
    browser.get("/ui/service").await.is(403);
}
