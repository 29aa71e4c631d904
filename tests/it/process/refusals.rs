//! Configurations with which `serve` does not start, and its error messages.

use super::program::{command, folder};
use crate::harness::holds;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
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
fn a_url_of_the_database_that_cannot_be_used_is_a_wrong_setting() {
    let folder = folder();
    for (end, named) in [(":99999/x", "port"), ("/x?sslmode=sometimes", "sometimes")] {
        let url = format!("postgres://u:hidden@localhost{end}");
        let said = refusal(folder.path(), &[("DATABASE_URL", &url)]);
        assert!(!said.contains("hidden"), "{said}");
        holds(said, &["URL of the database", named]);
    }
}

#[test]
fn settings_that_no_service_starts_with_are_named() {
    let folder = folder();
    let table = "
        HTTP__BIND=0.0.0.0:0 → http.bind is 0.0.0.0:0 | working-memory keys create | http.allow_open = true
        HTTP__BIND=[::]:0 → http.bind is [::]:0 | working-memory keys create | http.allow_open = true
        LIMITS__CONTEXT_BYTE=5 → context_byte
        LIMIT__CONTEXT_BYTES=5 → limit
        PIPELINE__MAX_ADDITIONS=0 → pipeline.max_additions
        LLM__BASE_URL=not a url → llm.base_url
        PIPELINE__PROMPTS_DIR=/no/such/folder → pipeline.prompts_dir
        HTTP__BIND=nowhere → bind
        HTTP__TLS__CERTIFICATE=no.crt; HTTP__TLS__KEY=no.key → http.tls.certificate no.crt
        TELEMETRY__OTLP_ENDPOINT=http://user:hidden@collector → telemetry.otlp_endpoint";
    for row in table.trim().lines() {
        let (variables, parts) = row.trim().split_once(" → ").unwrap();
        let variables = variables
            .split("; ")
            .map(|variable| variable.split_once('=').unwrap());
        let variables = variables.map(|(name, value)| (format!("WORKING_MEMORY__{name}"), value));
        let variables: Vec<_> = variables.collect();
        let environment: Vec<_> = variables.iter().map(|(name, value)| (&**name, *value)).collect();
        let said = refusal(folder.path(), &environment);
        assert!(
            said.starts_with("working-memory: ") && !said.contains("hidden"),
            "{said}"
        );
        holds(&said, &parts.split(" | ").collect::<Vec<_>>());
    }
    let file = folder.path().join("working-memory.toml");
    fs::write(file, "[pipeline]\nmax_reprompt = 2\n").unwrap();
    holds(refusal(folder.path(), &[]), &["max_reprompt"]);
}

#[test]
fn a_variable_that_is_no_text_is_refused_and_does_not_count_as_unset() {
    let folder = folder();
    for name in [
        "DATABASE_URL",
        "OPENAI_API_KEY",
        "WORKING_MEMORY__LIMITS__VAULT_MEMORIES",
    ] {
        let value = OsStr::from_bytes(b"postgres://u:hidden\xe4@localhost/x");
        let mut command = command(folder.path(), &[]);
        let output = command.env("OTHER", value).env(name, value).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(&format!("the value of {name} is not UTF-8")),
            "{said}"
        );
        assert!(
            !said.contains("hidden") && !folder.path().join("data").exists(),
            "{said}"
        );
    }
}
