//! The documentation of the metrics and the alerting rules match the metrics that the service registers and exports.

use crate::harness::{Service, Step, lacks, scripted};
use serde_json::json;
use std::collections::BTreeSet;
use working_memory::domain::operation::Role;
use working_memory::llm::{Answer, ModelError};
use working_memory::telemetry::meters::METRICS;

const DOCUMENT: &str = include_str!("../../docs/observability.md");
const RULES: &str = include_str!("../../docs/prometheus-rules.yml");

#[test]
fn the_documentation_lists_every_metric_as_it_is_registered() {
    let lines = DOCUMENT
        .lines()
        .skip_while(|line| !line.starts_with("| metric |"));
    let listed: Vec<&str> = lines.skip(2).take_while(|line| line.starts_with('|')).collect();
    let registered = METRICS.iter().map(|metric| {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let (labels, kind) = (labels.join(", "), format!("{:?}", metric.kind).to_lowercase());
        format!("| `{}` | {kind} | {labels} | {} |", metric.name, metric.help)
    });
    assert_eq!(listed, registered.collect::<Vec<_>>());
}

/// The words of an expression that may be names of metrics.
fn metrics_named(text: &str) -> BTreeSet<&str> {
    let ends = ["_total", "_seconds", "_bucket", "_count", "_info", "_connections"];
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .filter(|word| ends.iter().any(|end| word.ends_with(end)))
        .collect()
}

#[test]
fn the_rules_use_existing_metrics() {
    let mut lines: Vec<&str> = RULES.lines().collect();
    lines.retain(|line| {
        !["summary:", "description:", "record:"]
            .iter()
            .any(|word| line.contains(word))
    });
    let expressions = lines.join("\n");
    let named = metrics_named(&expressions);
    assert!(named.len() > 8, "{named:?}");
    for name in named {
        let bare = name.trim_end_matches("_bucket").trim_end_matches("_count");
        assert!(METRICS.iter().any(|metric| metric.name == bare), "{name}");
    }
}

#[tokio::test]
async fn an_update_changes_all_its_metrics_and_no_label_contains_an_id() {
    let models = scripted(|role| match role {
        Role::Progress => Step::Fail(ModelError::BadAnswer {
            detail: "x".to_owned(),
        }),
        Role::Learnings => Step::Answer(Answer {
            text: "KEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n    - nothing\n"
                .to_owned(),
            input_tokens: Some(100),
            cached_tokens: Some(60),
            output_tokens: Some(10),
            ..Answer::default()
        }),
        Role::Verbatim => Step::answer("VERBATIM_CONTEXT: NO CHANGE"),
    });
    let service = Service::with_models(models).await;
    let memory = service.memory("very-secret-id");
    memory
        .updated(json!({"task": "pin the tool chain", "allow_partial": true}))
        .await;
    memory.get("context").await.is(200);

    let metrics = service.get("/metrics").await.is(200).text().to_owned();

    for line in [
        r#"versions_total{source="update"} 1"#,
        r#"updates_total{kind="update",status="applied"} 1"#,
        r#"model_calls_total{role="learnings",model="scripted-learnings"} 2"#,
        r#"model_tokens_total{role="learnings",model="scripted-learnings",kind="input"} 200"#,
        r#"model_tokens_total{role="learnings",model="scripted-learnings",kind="cached"} 120"#,
        r#"model_failures_total{role="progress",model="scripted-progress",reason="bad_answer"} 1"#,
        r#"update_reprompts_total{role="learnings"} 1"#,
        r#"update_faults_total{section="learnings",kind="missing_reason"} 1"#,
        r#"update_faults_total{section="progress",kind="model_failed"} 1"#,
        r#"update_step_seconds_count{step="ask"} 1"#,
        r#"model_call_seconds_bucket{role="verbatim",model="scripted-verbatim",le="+Inf"} 1"#,
        concat!("build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "db_pool_max_connections 8",
        "process_uptime_seconds",
        "process_resident_memory_bytes",
        "db_pool_wait_seconds_count",
        r#"db_pool_connections{state="idle"}"#,
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    let shown = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in shown.filter_map(|line| line.split(' ').next()) {
        let is_listed = METRICS.iter().any(|metric| metric.name == name);
        assert!(is_listed, "{name} is not in the table");
    }
    lacks(&metrics, &["very-secret-id", "acme"]);
}
