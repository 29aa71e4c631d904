//! `GET /v1/vaults/{vault_id}/usage`, and the limit of tokens.

use crate::harness::{Service, Step, each, eventually, scripted};
use serde_json::json;
use std::time::Duration;
use working_memory::config::Config;
use working_memory::config::prices::Price;
use working_memory::domain::operation::Role;
use working_memory::llm::{Answer, ModelError, Models};

const USAGE: &str = "/v1/vaults/acme/usage";

/// Models that each use 1,000 input tokens, 400 of them cached, and 50 output tokens; one may fail.
fn models(failing: Option<Role>) -> Models {
    scripted(move |role| {
        if failing == Some(role) {
            let detail = "x".to_owned();
            return Step::Fail(ModelError::BadAnswer { detail });
        }
        Step::Answer(Answer {
            text: format!("{}: NO CHANGE", role.header()),
            input_tokens: Some(1_000),
            cached_tokens: Some(400),
            output_tokens: Some(50),
            ..Answer::default()
        })
    })
}

fn priced(config: &mut Config) {
    let price = Price {
        input: 2.0,
        cached_input: Some(0.5),
        cache_write: None,
        output: 10.0,
    };
    config.llm.prices.insert("scripted-progress".to_owned(), price);
}

#[tokio::test]
async fn tokens_and_cost_are_reported_by_day_and_model() {
    let service = Service::start_with(priced, Some(models(None))).await;
    // Operations use no tokens. 1,200 uncached at 2, 800 cached at 0.5, 100 output at 10, per million tokens.
    let table = r#"
        § used
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 200
        GET USAGE → 200 {"items": [], "next_cursor": null, "/totals/runs": 0, "/totals/cost": null}
        GET USAGE?from=yesterday → 400 malformed from
        GET USAGE?from=2026-13-01 → 400 malformed from
        GET USAGE?from=2026-1-1 → 400 malformed from
        GET USAGE?from=+2026-11-21 → 400 malformed from
        GET USAGE?from=%2B999-01-01 → 400 malformed from
        GET USAGE?from=-001-01-01 → 400 malformed from
        GET USAGE?from=2026-11-21T02:00:00Z → 400 malformed from
        GET USAGE?from= → 400 malformed from
        GET USAGE?from=2026-11-21&to=2026-11-20 → 422 invalid from
        GET USAGE?from=2025-11-20&to=2026-11-21 → 422 invalid from
        GET USAGE?from=2025-11-21&to=2026-11-21 → 200
        GET USAGE?days=3 → 422 invalid days
        GET USAGE?to=0000-01-01 → 200 {"from": "0000-01-01"}
        GET USAGE?cursor=zz → 400 malformed cursor
        POST update < {"task": "a"} → 200
        POST update < {"task": "b", "dry_run": true} → 200
        +86400
        POST update < {"task": "c", "roles": ["progress"]} → 200
        GET USAGE → 200 {"from": "2026-10-24", "to": "2026-11-22", "currency": "USD", "tokens_today": 1050, "tokens_per_day": null, "without_price": ["scripted-learnings", "scripted-verbatim"]}
        GET USAGE → 200 {"/items/*/day": ["2026-11-21", "2026-11-21", "2026-11-21", "2026-11-22"], "/items/*/model": ["scripted-learnings", "scripted-progress", "scripted-verbatim", "scripted-progress"]}
        GET USAGE → 200 {"/items/1/runs": 2, "/items/1/calls": 2, "/items/1/failures": 0, "/items/1/input_tokens": 2000, "/items/1/cached_tokens": 800, "/items/1/output_tokens": 100, "/items/1/cost": 0.0038}
        GET USAGE → 200 {"/items/0/cost": null, "/totals/input_tokens": 7000, "/totals/cost": 0.0057} ⇒ last=/items/3 totals=/totals
        GET USAGE?limit=3 → 200 ⇒ next=/next_cursor
        GET USAGE?limit=3&cursor=$next → 200 {"items": [$last], "next_cursor": null, "totals": $totals}
        GET USAGE?from=2026-11-22&to=2026-11-22 → 200 {"items#": 1}"#;
    service.requests(&table.replace("USAGE", USAGE)).await;
}

#[tokio::test]
async fn pages_have_every_model_whatever_order_the_database_has() {
    let service = Service::start().await;
    service
        .execute(r#"ALTER TABLE model_usage ALTER COLUMN model TYPE TEXT COLLATE "en-x-icu""#)
        .await;
    service
        .execute(
            "INSERT INTO model_usage
             SELECT 'acme', DATE '2026-11-21', model, 'progress', 1, 1, 0, 1, 0, 0, 1, 1
             FROM unnest(ARRAY['Qwen', 'gpt', 'nomic']) AS model",
        )
        .await;

    let paged = json!(service.pages(&format!("{USAGE}?limit=1")).await);

    assert_eq!(each(&paged, "model"), ["Qwen", "gpt", "nomic"]);
}

#[tokio::test]
async fn tokens_of_a_failed_run_count_and_stay_after_the_memory_is_deleted() {
    let service = Service::with_models(models(Some(Role::Learnings))).await;
    let table = r#"
        § failing
        PUT context < mine → 201
        POST update < {"task": "a"} → 502
        DELETE . → 204
        GET /v1/vaults/acme/usage → 200 {"/totals/runs": 3, "/totals/failures": 1, "/totals/input_tokens": 2000}"#;
    service.requests(table).await;
}

#[tokio::test]
async fn a_vault_over_its_token_limit_is_rejected_until_midnight_and_others_are_not() {
    let limited = |config: &mut Config| {
        config.limits.vault_tokens_per_day = Some(3_000);
        config.limits.vault_tokens.insert("rich".to_owned(), 1_000_000);
        config.limits.vault_tokens.insert("poor".to_owned(), 1_000);
    };
    let service = Service::start_with(limited, Some(models(None))).await;
    let table = r#"
        § limited
        POST update < {"task": "a"} → 200
        POST update < {"task": "b"} → 429 | retry-after: 79200 | content-type: application/problem+json | {"type~": "too-many-requests", "detail~": ["3150", "2026-11-22T00:00:00Z"], "limit": 3000, "actual": 3150}
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 200
        POST /v1/vaults/rich/memories/agent/update < {"task": "a"} → 200
        POST /v1/vaults/rich/memories/agent/update < {"task": "a"} → 200
        POST /v1/vaults/third/memories/agent/update < {"task": "a"} → 200
        POST /v1/vaults/third/memories/agent/update < {"task": "a"} → 429 {"limit_name": "limits.vault_tokens_per_day"}
        POST /v1/vaults/poor/memories/agent/update < {"task": "a"} → 200
        POST /v1/vaults/poor/memories/agent/update < {"task": "a"} → 429 {"limit": 1000, "limit_name": "limits.vault_tokens"}
        +79199
        POST update < {"task": "c"} → 429
        +1
        POST update < {"task": "c"} → 200"#;
    service.requests(table).await;
}

#[tokio::test]
async fn tokens_of_a_queued_update_count_on_the_day_on_which_they_are_used() {
    let (service, memory) = Service::with_models(models(None)).await.agent();
    memory.queued(&json!({"task": "a"})).await;
    service.clock.advance(Duration::from_secs(24 * 3600));
    let _workers = service.work(Duration::from_secs(30));

    eventually("they are those of today", async || {
        service.read(USAGE).await["tokens_today"] == 3_150
    })
    .await;
}
