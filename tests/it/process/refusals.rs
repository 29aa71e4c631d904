//! Configurations with which `serve` does not start, and its error messages.

use super::program::{command, folder};
use std::fs;
use std::path::Path;

/// The error message of a start that fails.
#[track_caller]
fn refusal(folder: &Path, environment: &[(&str, &str)]) -> String {
    let output = command(folder, environment).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(!folder.join("data").exists(), "refused before a database is made");
    told
}

#[test]
fn a_reachable_address_is_rejected_without_api_keys() {
    let folder = folder();
    for bind in ["0.0.0.0:0", "[::]:0"] {
        let told = refusal(folder.path(), &[("WORKING_MEMORY__HTTP__BIND", bind)]);
        assert!(told.starts_with("working-memory: http.bind is "), "{told}");
        assert!(
            told.contains(bind)
                && told.contains("working-memory keys create")
                && told.contains("http.allow_open = true"),
            "{told}"
        );
    }
}

#[test]
fn an_unknown_setting_is_named() {
    let folder = folder();
    let told = refusal(folder.path(), &[("WORKING_MEMORY__LIMITS__CONTEXT_BYTE", "5")]);
    assert!(told.contains("context_byte"), "{told}");
    let told = refusal(folder.path(), &[("WORKING_MEMORY__LIMIT__CONTEXT_BYTES", "5")]);
    assert!(told.contains("limit"), "{told}");
    fs::write(
        folder.path().join("working-memory.toml"),
        "[pipeline]\nmax_reprompt = 2\n",
    )
    .unwrap();
    let told = refusal(folder.path(), &[]);
    assert!(told.contains("max_reprompt"), "{told}");
}

#[test]
fn invalid_values_are_named_with_their_setting() {
    let folder = folder();
    for (name, value, key) in [
        (
            "WORKING_MEMORY__PIPELINE__MAX_ADDITIONS",
            "0",
            "pipeline.max_additions",
        ),
        ("WORKING_MEMORY__LLM__BASE_URL", "not a url", "llm.base_url"),
        (
            "WORKING_MEMORY__PIPELINE__PROMPTS_DIR",
            "/no/such/folder",
            "pipeline.prompts_dir",
        ),
        ("WORKING_MEMORY__HTTP__BIND", "nowhere", "bind"),
        (
            "WORKING_MEMORY__TELEMETRY__OTLP_ENDPOINT",
            "http://user:hidden@collector",
            "telemetry.otlp_endpoint",
        ),
    ] {
        let told = refusal(folder.path(), &[(name, value)]);
        assert!(told.contains(key) && !told.contains("hidden"), "{told}");
    }
}
