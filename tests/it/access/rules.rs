//! Items of the category `rules`: an agent cannot change its own rules.

use super::with_admin;
use crate::harness::Answer;
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn only_an_administrator_writes_the_rules_of_a_memory_and_of_a_vault() {
    let (_, admin) = with_admin().await;
    let writer = json!({"name": "w", "role": "writer", "vaults": ["acme"]});
    let writer = admin.make(writer).await;
    let foreign = json!({"name": "f", "role": "admin", "vaults": ["other"]});
    let foreign = admin.make(foreign).await;
    let own = json!({"name": "a", "role": "admin", "vaults": ["acme"]});
    let own = admin.make(own).await;
    let rule = json!({"content": "never push to main", "category": "rules"});
    let rules = json!([{"content": "push at will"}]);
    for items in ["/v1/vaults/acme/memories/agent/items", "/v1/vaults/acme/items"] {
        let made = own.post(items, &rule).await.is(201).json();
        let one = format!("{items}/{}", made["item_id"].as_str().unwrap());
        let category = format!("{items}?category=rules");
        let category_path = format!("{items}/rules");
        let put = async |holder: &super::Holder| {
            Answer::to(holder.request(Method::PUT, &category_path).json(&rules)).await
        };
        for refused in [
            writer.post(items, &rule).await,
            put(&writer).await,
            writer.delete(&one).await,
            writer.delete(&category).await,
        ] {
            let refused = refused.forbidden();
            assert_eq!(refused["required_role"], "admin");
        }
        for nowhere in [
            foreign.post(items, &rule).await,
            put(&foreign).await,
            foreign.delete(&one).await,
            foreign.delete(&category).await,
            foreign.get(items).await,
        ] {
            nowhere.missing();
        }
        // Other spellings of the name do not avoid this.
        for category in ["Rules", "rules ", "RULES"] {
            let item = json!({"content": "x", "category": category});
            let status = writer.post(items, &item).await.status;
            assert!([403, 422].contains(&status), "{category:?}: {status}");
        }
        let listed = writer.get(&category).await.is(200).json();
        assert_eq!(listed["items"], json!([made]), "{items}");

        let note = json!({"content": "mine", "category": "notes"});
        writer.post(items, &note).await.is(201);
        let removed = writer.delete(&format!("{items}?category=notes")).await;
        assert_eq!(removed.is(200).json()["removed"], 1);
        put(&own).await.is(200);
        assert_eq!(own.delete(&category).await.is(200).json()["removed"], 1);
    }
}
