//! `GET /v1/vaults/{vault_id}/search`

use crate::harness::{Answer, Memory, Service, each, eventually};
use serde_json::{Value, json};
use std::time::Duration;

/// Every byte percent-encoded.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// A search that sees every earlier write; `more` are further parameters.
async fn searching(service: &Service, q: &str, more: &[(&str, &str)]) -> Answer {
    let mut path = format!("/v1/vaults/acme/search?consistent=true&q={}", encoded(q));
    for (name, value) in more {
        path += &format!("&{name}={value}");
    }
    service.get(&path).await
}

async fn search(service: &Service, q: &str) -> Vec<Value> {
    let list = searching(service, q, &[]).await.is(200).json();
    list["items"].as_array().unwrap().clone()
}

/// The memories that are found, sorted by name.
async fn found(service: &Service, q: &str) -> Vec<String> {
    let mut ids: Vec<_> = search(service, q)
        .await
        .iter()
        .map(|item| item["memory_id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn a_word_finds_its_documents_in_order_of_rank() {
    let service = Service::start().await;
    let often = "The parser & the <b>parser</b>: parser tests for the parser.";
    service.memory("often").write(often).await;
    service
        .memory("once")
        .write("A note about one parser among many other things.")
        .await;
    service.memory("never").write("Nothing of the kind.").await;

    let items = search(&service, "PARSER").await;

    let ids: Vec<_> = items.iter().map(|item| &item["memory_id"]).collect();
    assert_eq!(ids, ["often", "once"]);
    assert!(items[0]["rank"].as_f64() > items[1]["rank"].as_f64());
    assert_eq!(
        items[0]["extract"],
        "The <mark>parser</mark> &amp; the &lt;b&gt;<mark>parser</mark>&lt;/b&gt;: <mark>parser</mark> tests for \
         the <mark>parser</mark>."
    );
    let context = service.memory("once").get_json("context").await.json();
    for member in ["memory_id", "version", "context_id", "creation_time"] {
        assert_eq!(items[1][member], context[member], "{member}");
    }
    assert_eq!(service.count("search_entries").await, 3);
}

#[tokio::test]
async fn a_query_has_web_search_syntax() {
    let service = Service::start().await;
    for (id, text) in [
        ("a", "the quick brown fox jumps in src/main.rs"),
        ("b", "the brown quick dog, snake_case and Vec<String>"),
        ("c", "ÄRGER mit dem Fuchs; Ärgernis\n記憶を保存する"),
        ("d", "parsers KL-3"),
    ] {
        service.memory(id).write(text).await;
    }
    for (q, ids) in [
        ("quick", &["a", "b"][..]),
        ("quick brown", &["a", "b"]),
        ("\"quick brown\"", &["a"]),
        ("quick -fox", &["b"]),
        ("quick -\"brown quick\"", &["a"]),
        ("fox or dog", &["a", "b"]),
        ("fox OR fuchs", &["a", "c"]),
        ("the", &["a", "b"]),
        ("jum", &["a"]),
        ("jum fox", &[]),
        ("fox jum", &["a"]),
        ("\"jum\"", &[]),
        ("parser", &["d"]),
        ("main.rs", &["a"]),
        ("rs.main", &[]),
        ("case string", &["b"]),
        ("snake_case", &["b"]),
        ("ärger", &["c"]),
        ("記憶", &["c"]),
        ("憶記", &[]),
        ("kl-3", &["d"]),
        ("-quick", &["c", "d"]),
        ("quick -quick", &[]),
        ("!!!", &[]),
        ("& | ! ( ) : * ' \\ <->", &[]),
        ("fox & 'dog' | \\x:*A", &[]),
        ("\"", &[]),
        ("-", &[]),
        ("or", &[]),
        ("\0", &[]),
    ] {
        assert_eq!(found(&service, q).await, ids, "{q}");
    }
}

/// Documents of a small vault are scanned, those of a large one are found by the index.
#[tokio::test]
async fn a_large_vault_has_the_same_results_as_a_small_one() {
    let documents = [
        "The parser keeps its place between two lines.",
        "Two lines keep the parser busy; the parser and its tests.",
        "Parsing is slow where lines are long.",
        "Ärger mit dem Parser: zwei Zeilen.",
        "Nothing of the kind.",
    ];
    let service = Service::start().await;
    for vault in ["small", "large"] {
        for (number, document) in documents.iter().enumerate() {
            let memory = Memory::new(&service, vault, &format!("memory-{number}"));
            memory.write(*document).await;
        }
    }
    for number in 0..220 {
        let memory = Memory::new(&service, "large", &format!("other-{number}"));
        memory.write(format!("Entry {number} of a long list.")).await;
    }
    for query in [
        "parser",
        "pars",
        "parser lines",
        "lines parser",
        "\"two lines\"",
        "\"the parser\" tests",
        "arger or slow",
        "parser -tests",
        "parser -\"two lines\"",
        "missing",
    ] {
        let mut answers = Vec::new();
        for vault in ["small", "large"] {
            let path = format!("/v1/vaults/{vault}/search?consistent=true&q={}", encoded(query));
            let items = service.read(&path).await["items"].clone();
            let shown = items.as_array().unwrap().iter().map(|item| {
                let members = ["memory_id", "rank", "extract", "record", "section"];
                members.map(|name| item[name].clone())
            });
            answers.push(shown.collect::<Vec<_>>());
        }
        assert_eq!(answers[0], answers[1], "{query}");
        assert_eq!(answers[0].is_empty(), query == "missing", "{query}");
    }
}

#[tokio::test]
async fn an_old_document_of_a_vault_that_has_grown_is_found() {
    let (service, memory) = Service::start().await.agent();
    memory.write("a quokka").await;
    assert_eq!(found(&service, "quokka").await, ["agent"]);

    service
        .execute(
            "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at, indexed_version)
             SELECT 'acme', 'm' || number, 1, 'x', now(), now(), 1 FROM generate_series(1, 3100) AS number;
             INSERT INTO search_entries (vault_id, memory_id, version, creation_time, words)
             SELECT 'acme', 'm' || number, 1, '2100-01-01', '''/acme'' filler:1'::tsvector
             FROM generate_series(1, 3100) AS number;",
        )
        .await;

    let found = eventually_finds(&service, "quokka", 1);
    assert!(tokio::time::timeout(Duration::from_secs(20), found).await.is_ok());
}

#[tokio::test]
async fn only_the_newest_version_is_found() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT context < the first draft → 201
        GET /v1/vaults/acme/search?consistent=true&q=draft → 200 {"/items/*/memory_id": ["agent"]}
        PUT context < the second text → 201
        GET /v1/vaults/acme/search?q=draft → 200 {"items": []}
        GET /v1/vaults/acme/search?consistent=true&q=draft → 200 {"items": []}
        GET /v1/vaults/acme/search?consistent=true&q=second → 200 {"/items/*/version": [2]}
        ROWS search_entries 1"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_search_finds_only_documents_of_its_vault_and_none_that_were_deleted() {
    let (service, memory) = Service::start().await.agent();
    memory.write("secret plan").await;
    let table = r#"
        GET /v1/vaults/globex/search?q=secret&consistent=true → 200 {"items": [], "next_cursor": null}
        GET /v1/vaults/acm/search?q=secret&consistent=true → 200 {"items": [], "next_cursor": null}
        GET /v1/vaults/acme.1/search?q=secret&consistent=true → 200 {"items": [], "next_cursor": null}"#;
    service.requests(table).await;
    assert_eq!(found(&service, "secret").await, ["agent"]);
    assert!(found(&service, "acme").await.is_empty());
    service
        .execute("DELETE FROM memories WHERE vault_id = 'acme'")
        .await;
    assert!(found(&service, "secret").await.is_empty());
    assert_eq!(service.count("search_entries").await, 0);
}

#[tokio::test]
async fn pages_have_no_gaps_and_no_repeats() {
    let service = Service::start().await;
    for number in 0..7 {
        let text = format!("{} {}", "cat ".repeat(1 + number / 3), "dog ".repeat(5));
        service.memory(&format!("m{number}")).write(text).await;
    }
    let path = "/v1/vaults/acme/search?consistent=true&limit=2";
    let found = json!(service.pages(&format!("{path}&q=cat")).await);
    assert_eq!(
        each(&found, "memory_id"),
        ["m6", "m3", "m4", "m5", "m0", "m1", "m2"]
    );
    let table = "
        GET PATH&q=cat → 200 ⇒ cursor=/next_cursor
        GET PATH&q=dog&cursor=$cursor → 400 malformed cursor";
    service.requests(&table.replace("PATH", path)).await;
}

#[tokio::test]
async fn an_invalid_query_is_rejected() {
    let service = Service::start().await;
    for q in ["", " ", "\n\u{a0}"] {
        searching(&service, q, &[]).await.invalid("q");
    }
    let problem = searching(&service, &"x".repeat(1_001), &[]).await;
    assert_eq!(problem.invalid("q")["limit"], 1_000);
    for q in ["x ".repeat(500), "\"a-b\" or -c ".repeat(80)] {
        searching(&service, &q, &[]).await.is(200);
    }
    let table = "
        GET /v1/vaults/acme/search → 422 invalid q
        GET /v1/vaults/acme/search?q=x&limit=0 → 422 invalid limit
        GET /v1/vaults/acme/search?q=x&consistent=yes → 422 invalid consistent
        GET /v1/vaults/acme/search?q=x&query=x → 422 invalid query
        GET /v1/vaults/-/search?q=x → 422 invalid vault_id";
    service.requests(table).await;
}

#[tokio::test]
async fn documents_that_are_hard_to_index_are_found_too() {
    let service = Service::configured(|config| config.limits.context_bytes = 2 << 20).await;
    let words = (0..120_000).fold(String::new(), |text, number| text + &format!("w{number} "));
    service.memory("words").write(words).await;
    service
        .memory("blob")
        .write(format!("blob {} end", "x".repeat(1 << 20)))
        .await;
    service.memory("same").write("same ".repeat(200_000)).await;
    // A letter that is an accent: words made only of these would become empty.
    service.memory("marks").write("alone \u{363} \u{345}").await;

    assert_eq!(found(&service, "w77").await, ["words"]);
    assert_eq!(found(&service, "blob end").await, ["blob"]);
    assert_eq!(found(&service, &"x".repeat(900)).await, ["blob"]);
    assert_eq!(found(&service, "same").await, ["same"]);
    assert_eq!(found(&service, "alone \u{363}").await, ["marks"]);
}

/// Waits until a search that does not force indexing finds `count` documents.
async fn eventually_finds(service: &Service, q: &str, count: usize) {
    eventually("so many documents are found", async || {
        let list = service.read(&format!("/v1/vaults/acme/search?q={q}")).await;
        list["items"].as_array().unwrap().len() == count
    })
    .await;
}

#[tokio::test]
async fn indexers_of_two_instances_index_the_backlog_and_new_writes() {
    let service = Service::start().await;
    let beside = service.beside(None).await;
    for number in 0..40 {
        let memory = format!("m{number}");
        service.memory(&memory).write("left behind").await;
    }
    let running = [&service, &beside].map(Service::background);

    eventually_finds(&service, "behind", 40).await;
    let instances = [&service, &beside];
    let puts = (0..40).map(|number: usize| async move {
        let memory = format!("m{number}");
        instances[number % 2]
            .memory(&memory)
            .put("written again")
            .await
            .is(201)
    });
    futures::future::join_all(puts).await;
    eventually_finds(&service, "again", 40).await;
    eventually_finds(&service, "behind", 0).await;

    assert!(
        service
            .get("/metrics")
            .await
            .text()
            .contains("search_lag_seconds")
    );
    for background in running {
        background.stop().await;
    }
}

#[tokio::test]
async fn a_recently_indexed_memory_is_delayed_unless_its_vault_is_searched() {
    let (service, memory) = Service::start().await.agent();
    let pending = || async {
        let pending = service.storage().pending_for_search(None, None).await;
        pending.unwrap().len()
    };
    memory.write("one").await;
    assert_eq!(pending().await, 1);
    service.index_words().await;
    memory.write("two").await;
    assert_eq!(pending().await, 0);
    service.clock.advance(Duration::from_secs(31));
    assert_eq!(pending().await, 1);
    // The time of the indexed version counts: a version after a pause is indexed at once.
    memory.write("three").await;
    assert_eq!(pending().await, 1);
    service.index_words().await;
    memory.write("four").await;
    assert_eq!(pending().await, 0);

    let found = service.read("/v1/vaults/acme/search?q=four").await;

    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    memory.write("five").await;
    assert_eq!(pending().await, 1, "a vault that is searched does not rest");
}

#[tokio::test]
async fn an_accent_that_stands_alone_is_no_word_and_stops_no_search() {
    let (service, memory) = Service::start().await.agent();
    memory.write("# Notes\n\u{37a} [\u{37a}] deploy\n").await;
    let found = service
        .read("/v1/vaults/acme/search?q=deploy&consistent=true")
        .await;
    assert_eq!(found["items"][0]["memory_id"], "agent");
    for without_words in ["%21", "%CD%BA"] {
        let path = format!("/v1/vaults/acme/search?q={without_words}");
        service.get(&path).await.is(200);
    }
}
