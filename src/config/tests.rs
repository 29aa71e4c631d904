//! The sources of the configuration, and the sample file compared with the code.

use super::hosts::Authority;
use super::{Config, ConfigError};
use secrecy::ExposeSecret;
use std::collections::BTreeSet;

const SAMPLE: &str = include_str!("../../.env.example");

fn load(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.toml");
    std::fs::write(&file, "").unwrap();
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::load(Some(&file), variables)
}

fn refused(variables: &[(&str, &str)]) -> String {
    load(variables).unwrap_err().to_string()
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_not_no_settings() {
    let folder = tempfile::tempdir().unwrap();
    let latin = folder.path().join("latin.toml");
    std::fs::write(&latin, b"# \xe4\n[http]\nrequire_keys = true\n").unwrap();
    for file in [&latin, folder.path()] {
        let error = Config::load(Some(file), []).unwrap_err().to_string();
        assert!(
            error.contains(&format!("cannot read {}", file.display())),
            "{error}"
        );
    }
    let broken = folder.path().join("broken.toml");
    std::fs::write(&broken, "[http\n").unwrap();
    let error = Config::load(Some(&broken), []).unwrap_err().to_string();
    let named = format!("{}: TOML parse error", broken.display());
    assert!(error.contains(&named), "{error}");
    for text in [
        "[database]\nurl = postgres://wm:SECRET@db/wm\n",
        "[llm]\napi_key = \"SECRET\n",
    ] {
        std::fs::write(&broken, text).unwrap();
        let error = Config::load(Some(&broken), []).unwrap_err().to_string();
        assert!(
            error.contains("at line 2") && !error.contains("SECRET"),
            "{error}"
        );
    }
}

/// The environment's name of a setting.
fn variable(key: &str) -> String {
    format!("WORKING_MEMORY__{}", key.to_uppercase().replace('.', "__"))
}

/// Variables of the sample file with their values, commented out or not.
fn sample() -> Vec<(&'static str, &'static str)> {
    let lines = SAMPLE.lines().map(|line| line.trim_start_matches("# "));
    lines
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
        .collect()
}

/// The keys of a section, from the error message for an unknown one.
fn keys_of(section: &[&str]) -> Vec<String> {
    let name = ["WORKING_MEMORY"]
        .iter()
        .chain(section)
        .chain(&["NO_SUCH_KEY"])
        .copied()
        .collect::<Vec<_>>();
    let message = refused(&[(&name.join("__"), "1")]);
    let expected = message.split_once("expected").map_or("", |(_, list)| list);
    let expected = expected.split(" for key").next().unwrap_or_default();
    let keys: Vec<String> = expected
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_uppercase)
        .collect();
    assert!(!keys.is_empty(), "{message}");
    keys
}

/// All settings, as `section.key`. All roles have the same keys: here, as in the sample file, they are those of the first.
fn settings() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    let mut sections: Vec<Vec<String>> = keys_of(&[]).into_iter().map(|section| vec![section]).collect();
    while let Some(section) = sections.pop() {
        for key in keys_of(&section.iter().map(String::as_str).collect::<Vec<_>>()) {
            let path: Vec<String> = section.iter().cloned().chain([key]).collect();
            let name = path.join(".");
            let is_role = path.len() == 3 && name.starts_with("LLM.ROLES.");
            if is_role || ["HTTP.TLS", "LLM.ROLES", "PIPELINE.QUEUE"].contains(&&*name) {
                sections.push(path);
            } else {
                known.insert(path.join(".").to_lowercase());
            }
        }
    }
    let of_role = |role: &str| -> BTreeSet<&str> {
        let path = format!("llm.roles.{}.", role.to_lowercase());
        let keys = known.iter().filter_map(|key| key.strip_prefix(&path));
        keys.collect()
    };
    for role in keys_of(&["LLM", "ROLES"]) {
        assert_eq!(of_role(&role), of_role("progress"), "{role}");
    }
    known.retain(|key| !key.starts_with("llm.roles.") || key.starts_with("llm.roles.progress."));
    known
}

#[test]
fn the_sample_file_lists_every_key_and_no_other() {
    let mut known = settings();
    // Vaults are named in the file only: the environment does not keep the case of letters.
    assert!(known.remove("window.vaults"));
    let mut known: BTreeSet<String> = known.iter().map(|key| variable(key)).collect();
    for name in ["DATABASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"] {
        known.insert(name.to_owned());
    }
    let listed: BTreeSet<String> = sample().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(listed, known);
}

#[test]
fn there_are_at_most_ninety_settings() {
    let settings = settings();
    assert!(settings.len() <= 90, "{} settings: {settings:?}", settings.len());
}

#[test]
fn a_removed_setting_is_named_with_what_to_do_instead() {
    let settings = settings();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("working-memory.toml");
    for line in super::REMOVED.lines() {
        let (key, _) = line.split_once(": ").unwrap();
        assert!(!settings.contains(key), "{key} exists");
        let from_environment = refused(&[(&variable(key), "1")]);
        assert!(from_environment.contains(line), "{from_environment}");
        let (section, name) = key.rsplit_once('.').unwrap();
        std::fs::write(&file, format!("[{section}]\n{name} = 1\n")).unwrap();
        let from_file = Config::load(Some(&file), []).unwrap_err().to_string();
        let is_told = from_file.contains("no longer exist") && from_file.contains(line);
        assert!(is_told, "{from_file}");
    }
    let several = refused(&[
        ("WORKING_MEMORY__HTTP__MAX_HEADERS", "50"),
        ("WORKING_MEMORY__LLM__ROLES__PROGRESS__CONSTRAIN", "off"),
    ]);
    for part in [
        "http.max_headers: ",
        "llm.roles.progress.constrain: set llm.constrain",
    ] {
        assert!(several.contains(part), "{several}");
    }
}

#[test]
fn the_sample_files_values_are_the_defaults() {
    let mut settings = sample();
    settings.retain(|(name, _)| *name != "DATABASE_URL");
    let mut sampled = load(&settings).unwrap();
    // Naming the default equals naming nothing.
    sampled.llm.provider = None;
    assert_eq!(format!("{sampled:?}"), format!("{:?}", load(&[]).unwrap()));
}

#[test]
fn values_that_make_no_sense_are_refused_with_their_key() {
    let table = "
        HTTP__BIND=somewhere → http.bind
        LIMITS__CONTEXT_BYTES=0 → limits.context_bytes
        LIMITS__CONTEXT_BYTES=many → limits.context_bytes
        DATABASE__MAX_CONNECTIONS=0 → database.max_connections
        PIPELINE__MAX_ADDITIONS=0 → pipeline.max_additions
        PIPELINE__QUEUE__LEASE_SECONDS=0 → pipeline.queue.lease_seconds
        HTTP__MAX_REQUESTS=0 → http.max_requests
        CONSOLIDATION__MAX_SHARE=1.5 → consolidation.max_share
        CONSOLIDATION__AT_PERCENT=101 → consolidation.at_percent
        HTTP__TLS__CERTIFICATE=x.pem → http.tls.key
        HTTP__REQUEST_TIMEOUT_SECONDS=0 → http.request_timeout_seconds
        LLM__PROVIDER=oracle → llm.provider
        LLM__BASE_URL=ftp://x → llm.base_url
        LLM__BASE_URL=localhost:80 → llm.base_url
        LLM__BASE_URL=http://u:p@x → llm.base_url
        LLM__ROLES__VERBATIM__BASE_URL=http://u:p@x → llm.roles.verbatim.base_url
        LLM__PROVIDER=openai; LLM__API_KEY=u:p x → llm.api_key
        LLM__ROLES__PROGRESS__API_KEY=u:p x → llm.roles.progress.api_key
        HTTP__ALLOWED_HOSTS=http://a → http.allowed_hosts
        HTTP__ALLOWED_HOSTS=a/b → http.allowed_hosts
        HTTP__ALLOWED_HOSTS=* → http.allowed_hosts
        HTTP__ALLOWED_HOSTS=a:x → http.allowed_hosts
        EMBEDDINGS__BASE_URL=http://127.0.0.1:1/v1 → embeddings.model
        EMBEDDINGS__MODEL=m → embeddings.base_url
        EMBEDDINGS__MODEL=m; EMBEDDINGS__BASE_URL=ftp://a/v1 → embeddings.base_url
        EMBEDDINGS__MODEL=m; EMBEDDINGS__BASE_URL=a → embeddings.base_url
        EMBEDDINGS__MODEL=m; EMBEDDINGS__BASE_URL=http:// → embeddings.base_url
        EMBEDDINGS__MODEL=m; EMBEDDINGS__BASE_URL=http://u:p@a/v1 → embeddings.base_url
        EMBEDDINGS__MODEL=m; EMBEDDINGS__BASE_URL=http://a/v1; EMBEDDINGS__DIMENSIONS=0 → embeddings.dimensions
        EMBEDDINGS__MODEL=m; EMBEDDINGS__BASE_URL=http://a/v1; EMBEDDINGS__DOCUMENT_PREFIX=LONG → embeddings.document_prefix
        EMBEDDINGS__MODEL=m; EMBEDDINGS__BASE_URL=http://a/v1; EMBEDDINGS__API_KEY=a b → embeddings.api_key
        RETENTION__MAX_VERSIONS=0 → max_versions
        RETENTION__MAX_VERSIONS=true → retention.max_versions must be a whole number from 0 on, not true
        LIMITS__VAULT_MEMORIES=off → limits.vault_memories must be a whole number
        LLM__TEMPERATURE=Off → llm.temperature must be a number, not Off
        HTTP__ALLOW_OPEN=2 → http.allow_open
        RETENTION__MAX_AGE=soon → max_age
        RETENTION__MAX_AGE=3600000d → max_age
        RETENTION__RUNS_MAX_AGE=0d → runs_max_age
        LOG__FILTER=foo=bar=baz → log.filter
        LOG__FILTER=[[ → log.filter
        REVIEW__EXPIRE_AFTER=soon → review.expire_after
        REVIEW__EXPIRE_AFTER=0d → review.expire_after
        REVIEW__EXPIRE_AFTER=30 → review.expire_after
        HANDOFF__WINDOW=soon → handoff.window
        HANDOFF__WINDOW=0h → handoff.window
        HANDOFF__WINDOW=P400D → handoff.window";
    let table = table.replace("LONG", &"x".repeat(1_001));
    for row in table.trim().lines() {
        let (variables, key) = row.trim().split_once(" → ").unwrap();
        let named = |variable: &str| {
            let (name, value) = variable.split_once('=').unwrap();
            (format!("WORKING_MEMORY__{name}"), value.to_owned())
        };
        let error = Config::load(None, variables.split("; ").map(named)).unwrap_err();
        let message = error.to_string();
        let is_named = message.contains(key) && !message.contains("u:p");
        assert!(is_named, "{row}: {message}");
    }
}

#[test]
fn an_open_public_address_must_be_allowed_explicitly() {
    let open = ("WORKING_MEMORY__HTTP__BIND", "0.0.0.0:8080");
    let never = ("WORKING_MEMORY__HTTP__REQUIRE_KEYS", "false");
    let allowed = ("WORKING_MEMORY__HTTP__ALLOW_OPEN", "true");
    let message = refused(&[open, never]);
    for part in ["http.bind", "http.require_keys", "http.allow_open"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(load(&[open, never, allowed]).is_ok());
    assert!(!load(&[open]).unwrap().http.may_be_open());
    assert!(load(&[open, allowed]).unwrap().http.may_be_open());
    for loopback in "127.0.0.1:0 127.9.9.9:80 [::1]:8080 [::ffff:127.0.0.1]:80".split(' ') {
        let config = load(&[("WORKING_MEMORY__HTTP__BIND", loopback)]).unwrap();
        assert!(config.http.may_be_open(), "{loopback}");
    }
}

#[test]
fn the_environment_counts_for_more_than_the_file_and_its_own_names_for_most() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("working-memory.toml");
    let text = "[pipeline]\nmax_additions = 5\nmax_reprompts = 2\n[database]\nurl = \"postgres://file\"\n";
    std::fs::write(&file, text).unwrap();
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let read = |variables: Vec<(String, String)>| Config::load(Some(&file), variables).unwrap();
    let url = |config: &Config| config.database.url.as_ref().unwrap().expose_secret().to_owned();
    let config = read(vec![variable("WORKING_MEMORY__PIPELINE__MAX_ADDITIONS", "9")]);
    let found = (config.pipeline.max_additions, config.pipeline.max_reprompts);
    assert_eq!(found, (9, 2));
    assert_eq!(url(&config), "postgres://file");
    let shared = variable("DATABASE_URL", "postgres://shared");
    assert_eq!(url(&read(vec![shared.clone()])), "postgres://shared");
    let own = variable("WORKING_MEMORY__DATABASE__URL", "postgres://own");
    assert_eq!(url(&read(vec![shared, own])), "postgres://own");
}

#[test]
fn a_number_of_the_file_is_not_rounded_and_no_word_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("working-memory.toml");
    let read = |section: &str, line: &str| {
        std::fs::write(&file, format!("[{section}]\n{line}\n")).unwrap();
        Config::load(Some(&file), [])
    };
    let table = "
        limits | context_bytes = 5.5
        limits | vault_bytes = 1e300
        http | rate_per_key = -0.5
        http | rate_per_key = true
        http | rate_per_address = false
        window | tasks = 2.9
        window.vaults.v | tasks = 2.9
        embeddings | dimensions = 0.5
        llm.roles.progress | max_retries = 1.5
        pipeline.queue | workers = true
        retention | max_versions = 'on'
        limits | vault_memories = 'Off'
        llm | temperature = false
        llm.roles.handoff | temperature = 'no'
        limits | context_bytes = -1";
    for row in table.trim().lines() {
        let (section, line) = row.trim().split_once(" | ").unwrap();
        let error = read(section, line).unwrap_err().to_string();
        let key = line.split(' ').next().unwrap();
        let wanted = match key {
            "temperature" => "number",
            _ => "whole number from 0 on",
        };
        let said = format!("{section}.{key} must be a {wanted}, not ");
        assert!(error.contains(&said), "{row}: {error}");
    }
    let others = "
        limits | context_bytes = '5'
        limits | context_bytes = 5.0
        llm | timeout_seconds = 0.5
        llm.prices | m = { input = 0.25, output = 2.5 }
        llm | constrain = 'off'
        pipeline | evidence = 'off'
        guard | collapse = 'off'
        http | require_keys = 'no'
        http | allow_open = 0
        http | allow_open = false";
    for row in others.trim().lines() {
        let (section, line) = row.trim().split_once(" | ").unwrap();
        read(section, line).unwrap();
    }
}

#[test]
fn a_file_that_was_named_has_to_be_there() {
    let missing = std::path::Path::new("/no/such/file.toml");
    let error = Config::load(Some(missing), []).unwrap_err().to_string();
    assert!(error.contains("/no/such/file.toml"), "{error}");
}

#[test]
fn a_variable_that_is_not_read_is_refused() {
    let table = "
        WORKING_MEMORY_HTTP__BIND is not read: the names of settings begin with
        WORKING_MEMORY__WINDOW__VAULTS__ACME__TASKS is not read: it can be set in the file only
        WORKING_MEMORY__HTTP is the name of a section
        working_memory__pipeline__QUEUE is the name of a section";
    // The order of the variables, which is another one each time, does not matter.
    for row in table.trim().lines().cycle().take(80) {
        let (name, problem) = row.trim().split_once(' ').unwrap();
        let message = refused(&[
            ("WORKING_MEMORY__HTTP__BIND", "127.0.0.1:1"),
            ("WORKING_MEMORY__PIPELINE__QUEUE__WORKERS", "1"),
            (name, "5"),
        ]);
        let said = format!("{} {problem}", name.to_uppercase());
        assert!(message.contains(&said), "{row}: {message}");
    }
    assert!(
        load(&[
            ("WORKING_MEMORY_API_KEY", "wm_x"),
            ("WORKING_MEMORY_HTTP__BIND", " ")
        ])
        .is_ok()
    );
}

#[test]
fn blank_values_count_as_unset() {
    let blank = [
        "OPENAI_API_KEY",
        "WORKING_MEMORY__LLM__BASE_URL",
        "WORKING_MEMORY__EMBEDDINGS__MODEL",
    ];
    let config = load(&blank.map(|name| (name, " "))).unwrap();
    assert_eq!(format!("{config:?}"), format!("{:?}", load(&[]).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("working-memory.toml");
    let mut text = "\u{feff}".to_owned();
    for key in "log.filter database.data_dir database.url llm.provider retention.max_age http.tls.key http.require_keys \
                llm.roles.verbatim.temperature"
        .split_whitespace()
    {
        text += &format!("{key} = \"\"\n");
    }
    std::fs::write(&file, text).unwrap();
    let config = Config::load(Some(&file), []).unwrap();
    assert_eq!(format!("{config:?}"), format!("{:?}", load(&[]).unwrap()));
}

#[test]
fn a_key_of_the_environment_that_cannot_be_sent_is_refused_where_it_would_be() {
    let key = ("OPENAI_API_KEY", "hunter2 hunter2");
    let message = refused(&[key]);
    assert!(
        message.contains("llm.api_key") && !message.contains("hunter2"),
        "{message}"
    );
    let rules = ("WORKING_MEMORY__LLM__PROVIDER", "extractive");
    assert!(load(&[key, rules]).is_ok());
    let address = (
        "WORKING_MEMORY__EMBEDDINGS__BASE_URL",
        "https://api.openai.com/v1",
    );
    let message = refused(&[key, rules, address, ("WORKING_MEMORY__EMBEDDINGS__MODEL", "m")]);
    assert!(
        message.contains("embeddings.api_key") && !message.contains("hunter2"),
        "{message}"
    );
}

#[test]
fn secrets_are_not_in_what_is_printed() {
    let secrets = [
        ("DATABASE_URL", "postgres://u:hunter2@h/d"),
        ("OPENAI_API_KEY", "sk-hunter2"),
    ];
    let config = load(&secrets).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn hosts_are_a_list_in_the_file_and_in_the_environment() {
    let name = "WORKING_MEMORY__HTTP__ALLOWED_HOSTS";
    let config = load(&[(name, "memory.example.org, [::1]:8080,")]).unwrap();
    let hosts = |texts: [&str; 2]| texts.map(|text| text.parse::<Authority>().unwrap());
    let expected = hosts(["memory.example.org", "[::1]:8080"]);
    assert_eq!(config.http.allowed_hosts, expected);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts.toml");
    std::fs::write(&file, "[http]\nallowed_hosts = [\"a.b\", \"c:80\"]\n").unwrap();
    let config = Config::load(Some(&file), []).unwrap();
    assert_eq!(config.http.allowed_hosts, hosts(["a.b", "c:80"]));
}

#[test]
fn a_bad_value_is_answered_with_the_accepted_ones() {
    let table = "
        WORKING_MEMORY__LLM__PROVIDER=gemini → extractive, openai, anthropic | gemini | llm.provider
        WORKING_MEMORY__LLM__ROLES__PROGRESS__PROVIDER=gemini → extractive, openai, anthropic | progress
        WORKING_MEMORY__LOG__FORMAT=xml → text, json | log.format
        WORKING_MEMORY__GUARD__COLLAPSE=x → off, warn, reject
        WORKING_MEMORY__HTTP__BIND=localhost:8080 → 127.0.0.1:8080 | http.bind | localhost
        WORKING_MEMORY__HTTP__MAX_REQUESTS=-1 → http.max_requests must be a whole number from 0 on
        DATABASE_URL=mysql://u:hunter2@h/d → postgres:// or postgresql:// | not mysql://";
    for row in table.trim().lines() {
        let (variable, parts) = row.trim().split_once(" → ").unwrap();
        let (name, value) = variable.split_once('=').unwrap();
        let error = Config::load(None, [(name.to_owned(), value.to_owned())]).unwrap_err();
        let message = error.to_string();
        for part in parts.split(" | ") {
            assert!(message.contains(part), "{name}: {message}");
        }
        let is_plain = !message.contains("hunter2") && !message.contains("variant");
        assert!(is_plain, "{message}");
    }
}
