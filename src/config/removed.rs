//! Settings that no longer exist. One that is still set is named at the start, with what to do instead: silence would let
//! the operator believe that it has an effect.

use config::{Config, Value};

/// Keys with what to do instead. `*` stands for the name of a role.
const REMOVED: &[(&str, &str)] = &[
    ("http.max_headers", "a request has at most 100 header lines"),
    (
        "http.header_timeout_seconds",
        "a client has 10 s for the head of a request",
    ),
    (
        "http.body_timeout_seconds",
        "a client has 20 s for a body, and two thirds of http.request_timeout_seconds where that is less",
    ),
    (
        "http.write_timeout_seconds",
        "a client that reads nothing of a response for 30 s is disconnected",
    ),
    (
        "database.acquire_timeout_seconds",
        "a request waits 5 s for a connection; set database.max_connections if that is too short",
    ),
    (
        "database.read_timeout_seconds",
        "a statement that reads has 10 s; PostgreSQL's statement_timeout may end it earlier",
    ),
    (
        "database.write_timeout_seconds",
        "a statement that writes has 10 s; PostgreSQL's statement_timeout may end it earlier",
    ),
    (
        "database.search_timeout_seconds",
        "a search has 30 s; PostgreSQL's statement_timeout may end it earlier",
    ),
    (
        "database.maintenance_timeout_seconds",
        "a statement of background work has 10 minutes",
    ),
    (
        "database.silence_timeout_seconds",
        "a database without any answer for 2 s counts as silent",
    ),
    (
        "database.gather_puts",
        "changes that arrive together are committed together, except on Citus",
    ),
    (
        "llm.max_response_bytes",
        "a model's response has at most 4 MiB; llm.max_output_tokens limits its text",
    ),
    ("llm.currency", "write the prices of llm.prices in US dollars"),
    (
        "llm.roles.*.temperature",
        "set llm.temperature, which holds for all roles",
    ),
    (
        "llm.roles.*.timeout_seconds",
        "set llm.timeout_seconds to that of the slowest model",
    ),
    (
        "llm.roles.*.max_retries",
        "set llm.max_retries, which holds for all roles",
    ),
    (
        "llm.roles.*.max_output_tokens",
        "set llm.max_output_tokens, which holds for all roles",
    ),
    (
        "llm.roles.*.max_response_bytes",
        "a model's response has at most 4 MiB",
    ),
    (
        "llm.roles.*.constrain",
        "set llm.constrain, which holds for the roles with the provider of llm",
    ),
    ("embeddings.batch_size", "a request has at most 32 texts"),
    (
        "embeddings.timeout_seconds",
        "a request that indexes has 30 s, and is retried twice",
    ),
    (
        "embeddings.max_retries",
        "a request that indexes has 30 s, and is retried twice",
    ),
    (
        "embeddings.query_timeout_seconds",
        "a search waits 2 s for the vector of its query",
    ),
    (
        "pipeline.max_archives",
        "a model's answer archives at most 3 records of a section",
    ),
    (
        "pipeline.max_rebases",
        "progress is asked again at most 3 times when the memory changed",
    ),
    (
        "pipeline.queue_per_memory",
        "at most 64 updates of a memory run or wait",
    ),
    (
        "pipeline.concurrent_updates_per_vault",
        "a vault has half of pipeline.concurrent_updates",
    ),
    ("pipeline.queue.max_attempts", "a queued update has 5 attempts"),
    (
        "pipeline.queue.backoff_seconds",
        "the second attempt follows after 5 s, each further one after twice as long",
    ),
    (
        "pipeline.queue.poll_seconds",
        "the queue is looked at every 2 s where no notification comes",
    ),
    (
        "pipeline.queue.max_per_memory",
        "at most 256 updates of a memory are queued; pipeline.queue.max_per_vault is for the vault",
    ),
    (
        "events.max_streams_per_vault",
        "a vault has half of events.max_streams",
    ),
    (
        "events.max_streams_per_key",
        "a key has half of events.max_streams",
    ),
    (
        "events.heartbeat_seconds",
        "a stream without events sends a comment every 15 s",
    ),
    ("prompt.item_bytes", "a prompt item has at most 65,536 bytes"),
    (
        "prompt.max_items",
        "a memory or vault has at most 500 prompt items",
    ),
    (
        "prompt.total_bytes",
        "the prompt items of a memory or vault have at most 1 MiB together",
    ),
    (
        "handoff.model",
        "set llm.roles.handoff.provider to extractive for handoffs without a model",
    ),
    (
        "handoff.section_lines",
        "a section of a handoff has at most 20 lines",
    ),
    (
        "handoff.line_chars",
        "a line of a handoff quotes at most 240 characters",
    ),
    (
        "handoff.max_changes",
        "a handoff reads the newest 1,000 changes of its window",
    ),
    ("handoff.keep", "the newest 100 handoffs of a memory are kept"),
    (
        "http.max_header_bytes",
        "the head of a request has at most 65,536 bytes",
    ),
    (
        "pipeline.messages_bytes",
        "a model is shown at most 200,000 bytes of messages",
    ),
    (
        "telemetry.service_name",
        "set OTEL_SERVICE_NAME in the environment",
    ),
];

const ROLES: [&str; 4] = ["progress", "learnings", "verbatim", "handoff"];

/// All removed keys, each with what to do instead.
pub(super) fn removed() -> impl Iterator<Item = (String, &'static str)> {
    REMOVED.iter().flat_map(|(pattern, instead)| {
        let keys: Vec<String> = match pattern.contains('*') {
            true => ROLES.iter().map(|role| pattern.replace('*', role)).collect(),
            false => vec![(*pattern).to_owned()],
        };
        keys.into_iter().map(|key| (key, *instead))
    })
}

/// A line for each removed key that is set; `None` if none is.
pub(super) fn set_ones(config: &Config) -> Option<String> {
    let lines: Vec<String> = removed()
        .filter(|(key, _)| config.get::<Value>(key).is_ok())
        .map(|(key, instead)| format!("\n  {key}: {instead}"))
        .collect();
    (!lines.is_empty()).then(|| lines.concat())
}
