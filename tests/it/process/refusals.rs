//! Configurations with which `serve` does not start, and its error messages.

use super::program::{command, folder};
use std::fs;
use std::path::Path;

/// The error message of a start that fails.
#[track_caller]
fn refusal(folder: &Path, environment: &[(&str, &str)]) -> String {
    let output = command(folder, environment).output().unwrap();
    let error_output = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error_output}");
    assert!(!folder.join("data").exists(), "refused before a database is made");
    error_output
}

#[test]
fn a_reachable_address_is_rejected_without_api_keys() {
    let folder = folder();
    for bind in ["0.0.0.0:0", "[::]:0"] {
        let error_output = refusal(folder.path(), &[("WORKING_MEMORY__HTTP__BIND", bind)]);
        assert!(
            error_output.starts_with("working-memory: http.bind is "),
            "{error_output}"
        );
        assert!(
            error_output.contains(bind)
                && error_output.contains("working-memory keys create")
                && error_output.contains("http.allow_open = true"),
            "{error_output}"
        );
    }
}

#[test]
fn an_unknown_setting_is_named() {
    let folder = folder();
    let error_output = refusal(folder.path(), &[("WORKING_MEMORY__LIMITS__CONTEXT_BYTE", "5")]);
    assert!(error_output.contains("context_byte"), "{error_output}");
    let error_output = refusal(folder.path(), &[("WORKING_MEMORY__LIMIT__CONTEXT_BYTES", "5")]);
    assert!(error_output.contains("limit"), "{error_output}");
    fs::write(
        folder.path().join("working-memory.toml"),
        "[pipeline]\nmax_reprompt = 2\n",
    )
    .unwrap();
    let error_output = refusal(folder.path(), &[]);
    assert!(error_output.contains("max_reprompt"), "{error_output}");
}

#[test]
fn invalid_values_are_named_with_their_setting() {
    let folder = folder();
    let table = "
        PIPELINE__MAX_ADDITIONS=0 → pipeline.max_additions
        LLM__BASE_URL=not a url → llm.base_url
        PIPELINE__PROMPTS_DIR=/no/such/folder → pipeline.prompts_dir
        HTTP__BIND=nowhere → bind
        TELEMETRY__OTLP_ENDPOINT=http://user:hidden@collector → telemetry.otlp_endpoint";
    for row in table.trim().lines() {
        let (variable, key) = row.trim().split_once(" → ").unwrap();
        let (name, value) = variable.split_once('=').unwrap();
        let name = format!("WORKING_MEMORY__{name}");
        let error_output = refusal(folder.path(), &[(&name, value)]);
        assert!(
            error_output.contains(key) && !error_output.contains("hidden"),
            "{error_output}"
        );
    }
}
