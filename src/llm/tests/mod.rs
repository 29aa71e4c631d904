//! What is described at the start, and the server that tests of models call.

pub(super) mod stub;

use super::*;

#[test]
fn nothing_configured_is_reported_at_the_start() {
    let models = Models::from_config(&LlmConfig::default()).expect("models");
    assert_eq!(
        models.describe(),
        "all roles: extractive (built-in rules, no model)"
    );
    assert!(models.for_role(Role::Progress).is_none() && models.for_handoff().is_none());
}

#[test]
fn roles_with_models_of_their_own_are_distinguished() {
    let config: LlmConfig = serde_json::from_value(serde_json::json!({
        "roles": {"progress": {"base_url": "http://localhost:1/v1", "model": "m", "api_key": "sk-secret"}},
    }))
    .expect("a readable section");
    let line = Models::from_config(&config).expect("models").describe();
    assert!(
        line.starts_with("progress: m (openai, localhost:1/v1); learnings: extractive"),
        "{line}"
    );
    assert!(!line.contains("secret"));
}

#[test]
fn a_model_of_handoffs_is_distinguished_from_the_roles() {
    let config: LlmConfig = serde_json::from_value(serde_json::json!({
        "roles": {"handoff": {"base_url": "http://localhost:1/v1", "model": "m"}},
    }))
    .expect("a readable section");
    let line = Models::from_config(&config).expect("models").describe();
    assert!(line.starts_with("progress: extractive"), "{line}");
    assert!(line.ends_with("; handoff: m (openai, localhost:1/v1)"), "{line}");
}
