use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::*;
use crate::domain::operation::Role;

fn read(json: serde_json::Value) -> LlmConfig {
    serde_json::from_value(json).expect("a readable section")
}

fn problem(json: serde_json::Value) -> String {
    read(json).validate().expect_err("must be refused")
}

#[test]
fn a_key_of_the_environment_selects_its_provider_and_two_select_none() {
    let with = |openai: Option<&str>, anthropic: Option<&str>| {
        LlmConfig::default()
            .with_environment(openai.map(SecretString::from), anthropic.map(SecretString::from))
    };
    let openai = with(Some("sk-1"), None).role(Role::Learnings).expect("settings");
    assert_eq!(openai.provider, Provider::Openai);
    let address = openai.base_url.map(String::from);
    assert_eq!(address.as_deref(), Some("https://api.openai.com/v1"));
    let key = openai.api_key.expect("a key");
    assert_eq!(key.expose_secret(), "sk-1");
    for (openai, anthropic, provider) in [
        (None, Some("sk-2"), Provider::Anthropic),
        (Some("sk-1"), Some("sk-2"), Provider::Extractive),
        (None, None, Provider::Extractive),
    ] {
        assert_eq!(with(openai, anthropic).default_provider(), provider);
    }
}

#[test]
fn a_provider_that_is_named_wins_over_the_environment() {
    let config = read(serde_json::json!({"provider": "extractive"}));
    let config = config.with_environment(Some(SecretString::from("sk-1")), None);
    assert_eq!(config.default_provider(), Provider::Extractive);
}

#[test]
fn a_role_falls_back_key_by_key() {
    let config = read(serde_json::json!({
        "provider": "openai", "base_url": "http://localhost:1/v1", "model": "small", "api_key": "k",
        "temperature": 0.5, "timeout_seconds": 5,
        "roles": {
            "progress": {"model": "large"},
            "verbatim": {"base_url": "http://localhost:2/v1"},
            "handoff": {"temperature": 0, "timeout_seconds": 0.5, "max_retries": 0, "max_output_tokens": 9},
        },
    }));
    let progress = config.role(Role::Progress).expect("settings");
    let five = Duration::from_secs(5);
    assert_eq!((progress.model.as_str(), progress.timeout), ("large", five));
    assert_eq!((progress.temperature, progress.max_retries), (Some(0.5), 2));
    let verbatim = config.role(Role::Verbatim).expect("settings");
    let address = verbatim.base_url.map(String::from);
    assert_eq!(verbatim.model, "small");
    assert_eq!(address.as_deref(), Some("http://localhost:2/v1"));
    assert!(verbatim.api_key.is_some());
    let handoff = config.handoff().expect("settings");
    assert_eq!((handoff.temperature, handoff.max_retries), (Some(0.0), 0));
    let half = Duration::from_millis(500);
    assert_eq!((handoff.timeout, handoff.max_output_tokens), (half, 9));
}

#[test]
fn a_role_of_another_provider_takes_no_key_address_or_model_of_the_default() {
    let config = read(serde_json::json!({
        "provider": "openai", "base_url": "http://localhost:1/v1", "model": "small", "api_key": "k",
        "roles": {"progress": {"provider": "anthropic"}},
    }));
    let progress = config.role(Role::Progress).expect("settings");
    let address = progress.base_url.map(String::from);
    assert_eq!(address.as_deref(), Some("https://api.anthropic.com/v1"));
    assert!(progress.api_key.is_none());
    assert_eq!(progress.model, "claude-haiku-4-5");
}

#[test]
fn an_address_alone_means_an_openai_server() {
    let config = read(serde_json::json!({"base_url": "http://localhost:11434/v1", "model": "m"}));
    assert_eq!(config.default_provider(), Provider::Openai);
    let role =
        serde_json::json!({"roles": {"progress": {"base_url": "http://localhost:1/v1", "model": "m"}}});
    let config = read(role);
    let of = |role| config.role(role).expect("settings").provider;
    assert_eq!(of(Role::Progress), Provider::Openai);
    assert_eq!(of(Role::Verbatim), Provider::Extractive);
}

#[test]
fn the_models_of_all_three_roles_are_enough() {
    let own = |model: &str| serde_json::json!({"model": model});
    let roles = serde_json::json!({"progress": own("a"), "learnings": own("b"), "verbatim": own("c")});
    let config = read(serde_json::json!({"base_url": "http://localhost:1/v1", "roles": roles}));
    config.validate().expect("no common model is needed");
    let models = Role::ALL.map(|role| config.role(role).expect("settings").model);
    assert_eq!(models, ["a", "b", "c"]);
    assert_eq!(config.handoff().expect("settings").provider, Provider::Extractive);

    let mut two = serde_json::json!({"base_url": "http://localhost:1/v1", "roles": {"progress": own("a"), "learnings": own("b")}});
    assert!(problem(two.clone()).starts_with("llm.model "));
    two["roles"]["verbatim"] = own("c");
    two["roles"]["handoff"] = own("d");
    assert_eq!(read(two).handoff().expect("settings").model, "d");

    let without = serde_json::json!({
        "base_url": "http://localhost:1/v1", "model": "m", "roles": {"handoff": {"provider": "extractive"}},
    });
    let handoff = read(without).handoff().expect("settings");
    assert_eq!(handoff.provider, Provider::Extractive);
}

#[test]
fn unusable_values_are_refused_with_their_key() {
    let table = r#"
        {"provider": "openai", "base_url": "http://x/v1"} → llm.model
        {"timeout_seconds": 0} → llm.timeout_seconds
        {"timeout_seconds": 1e9} → llm.timeout_seconds
        {"max_retries": 11} → llm.max_retries
        {"temperature": 3} → llm.temperature
        {"max_output_tokens": 0} → llm.max_output_tokens
        {"model": "m"} → llm.provider
        {"timeout_seconds": -1} → llm.timeout_seconds
        {"roles": {"progress": {"timeout_seconds": 0}}} → llm.roles.progress.timeout_seconds
        {"roles": {"learnings": {"max_retries": 11}}} → llm.roles.learnings.max_retries
        {"roles": {"verbatim": {"temperature": 2.5}}} → llm.roles.verbatim.temperature
        {"roles": {"handoff": {"max_output_tokens": 0}}} → llm.roles.handoff.max_output_tokens
        {"roles": {"progress": {"provider": "anthropic", "temperature": 1.5}}} → llm.roles.progress.temperature
        {"provider": "openai", "model": "m", "temperature": 1.5, "roles": {"verbatim": {"provider": "anthropic"}}} → llm.temperature"#;
    for row in table.trim().lines() {
        let (section, key) = row.split_once(" → ").expect("a row");
        let message = problem(serde_json::from_str(section).expect("JSON"));
        let is_named = message.starts_with(&format!("{key} "));
        assert!(is_named, "{section} said {message:?}");
    }
}

#[test]
fn no_debug_form_shows_a_key() {
    let config = read(serde_json::json!({"provider": "openai", "model": "m", "api_key": "sk-very-secret"}))
        .with_environment(Some(SecretString::from("sk-other-secret")), None);
    let shown = format!("{config:?} {:?}", config.role(Role::Progress));
    assert!(!shown.contains("secret\"") && !shown.contains("very") && !shown.contains("other"));
}

#[test]
fn a_schema_is_for_servers_that_take_one() {
    use super::Constrain;
    let local = serde_json::json!({
        "base_url": "http://localhost:1/v1", "model": "m", "constrain": "json_schema",
        "roles": {"verbatim": {"provider": "anthropic", "model": "other"}},
    });
    let config = read(local);
    let of = |role| config.role(role).expect("settings").constrain;
    let expected = [Constrain::JsonSchema, Constrain::JsonSchema, Constrain::Off];
    assert_eq!(Role::ALL.map(of), expected);
    let of_one_role = serde_json::json!({
        "constrain": "json_schema", "roles": {"verbatim": {"base_url": "http://localhost:1/v1", "model": "m"}},
    });
    let settings = read(of_one_role).role(Role::Verbatim).expect("settings");
    assert_eq!(settings.constrain, Constrain::JsonSchema);
    let config = read(serde_json::json!({"provider": "anthropic", "constrain": "json_schema"}));
    let refused = config.role(Role::Progress).expect_err("refused");
    assert_eq!(refused.key, "llm.constrain");
}
