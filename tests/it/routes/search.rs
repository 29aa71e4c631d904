//! `GET /v1/vaults/{vault_id}/search`

use crate::harness::{Memory, Service, each, eventually};
use futures::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;

/// What a search finds that sees every earlier write.
async fn search(service: &Service, vault: &str, q: &str) -> Value {
    let q: String = url::form_urlencoded::byte_serialize(q.as_bytes()).collect();
    let path = format!("/v1/vaults/{vault}/search?consistent=true&q={q}");
    service.read(&path).await["items"].take()
}

/// The memories that are found, sorted by name.
async fn found(service: &Service, q: &str) -> Vec<String> {
    let items = search(service, "acme", q).await;
    let mut ids: Vec<String> = each(&items, "memory_id").into_iter().map(str::to_owned).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn a_word_finds_its_documents_in_order_of_rank() {
    let service = Service::start().await;
    let table = r#"
        PUT /v1/vaults/acme/memories/often/context < The parser & the <b>parser</b>: parser tests for the parser. → 201
        PUT /v1/vaults/acme/memories/once/context < A note about one parser among many other things. → 201 ⇒ id=/context_id time=/creation_time
        PUT /v1/vaults/acme/memories/never/context < Nothing of the kind. → 201
        GET /v1/vaults/acme/search?consistent=true&q=PARSER → 200 {"/items/*/memory_id": ["often", "once"], "/items/1/version": 1, "/items/1/context_id": "$id", "/items/1/creation_time": "$time"}
        GET /v1/vaults/acme/search?consistent=true&q=PARSER → 200 {"/items/0/extract": "The <mark>parser</mark> &amp; the &lt;b&gt;<mark>parser</mark>&lt;/b&gt;: <mark>parser</mark> tests for the <mark>parser</mark>."}
        ROWS search_entries 3"#;
    let items = service.requests(table).await.json()["items"].take();
    assert!(items[0]["rank"].as_f64() > items[1]["rank"].as_f64());
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

#[tokio::test]
async fn every_word_of_a_large_document_is_found_and_excluded_also_next_to_a_frequent_one() {
    let service = Service::start().await;
    let words: String = (0..9_000).map(|number| format!("w{number:05} ")).collect();
    service.memory("distinct").write(format!("{words}walrus")).await;
    let lines: String = (0..300).map(|number| format!("- src/a{number}.rs\n")).collect();
    service
        .memory("frequent")
        .write(format!("{lines}- src/zebra.rs\n"))
        .await;
    let kanji = "記憶".repeat(10_000);
    service
        .memory("unspaced")
        .write(format!("{kanji}。数据库在柏林"))
        .await;
    service.memory("apart").write("src of it: zebra").await;
    let few = [
        ("walrus", &["distinct"][..]),
        ("w00001 -walrus", &[]),
        ("src/zebra.rs", &["frequent"]),
        ("\"数据库\"", &["unspaced"]),
        ("src -\"src zebra\"", &["apart"]),
    ];
    for (q, ids) in few {
        assert_eq!(found(&service, q).await, ids, "{q}");
    }
    // Also by the index.
    for number in 0..220 {
        service
            .memory(&format!("other-{number}"))
            .write(format!("Entry {number}."))
            .await;
    }
    for (q, ids) in few {
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
    let queries = "parser|pars|parser lines|lines parser|\"two lines\"|\"the parser\" tests|arger or slow|\
                   parser -tests|parser -\"two lines\"|missing";
    for query in queries.split('|') {
        let shown = async |vault: &str| -> Vec<[Value; 5]> {
            let items = search(&service, vault, query).await;
            let members = ["memory_id", "rank", "extract", "record", "section"];
            let shown = |item: &Value| members.map(|name| item[name].clone());
            items.as_array().unwrap().iter().map(shown).collect()
        };
        let small = shown("small").await;
        assert_eq!(small, shown("large").await, "{query}");
        assert_eq!(small.is_empty(), query == "missing", "{query}");
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
async fn a_search_finds_only_the_newest_versions_of_its_vault() {
    let table = r#"
        § only the newest version is found
        PUT context < the first draft → 201
        GET /v1/vaults/acme/search?consistent=true&q=draft → 200 {"/items/*/memory_id": ["$memory"]}
        PUT context < the second text → 201
        GET /v1/vaults/acme/search?q=draft → 200 {"items": []}
        GET /v1/vaults/acme/search?q=draft%EF%BF%BD → 200 {"items": []}
        GET /v1/vaults/acme/search?consistent=true&q=draft → 200 {"items": []}
        GET /v1/vaults/acme/search?consistent=true&q=second → 200 {"/items/*/version": [2]}
        ROWS search_entries 1
        § a search finds only documents of its vault and none that were deleted
        PUT context < secret plan → 201
        GET /v1/vaults/globex/search?q=secret&consistent=true → 200 {"items": [], "next_cursor": null}
        GET /v1/vaults/acm/search?q=secret&consistent=true → 200 {"items": [], "next_cursor": null}
        GET /v1/vaults/acme.1/search?q=secret&consistent=true → 200 {"items": [], "next_cursor": null}
        GET /v1/vaults/acme/search?q=secret&consistent=true → 200 {"/items/*/memory_id": ["$memory"]}
        GET /v1/vaults/acme/search?q=acme&consistent=true → 200 {"items": []}
        DELETE . → 204
        GET /v1/vaults/acme/search?q=secret&consistent=true → 200 {"items": []}
        ROWS search_entries 0
        § an accent that stands alone is no word and stops no search
        PUT context < # Notes\nͺ [ͺ] deploy\n → 201
        GET /v1/vaults/acme/search?q=deploy&consistent=true → 200 {"/items/*/memory_id": ["$memory"]}
        GET /v1/vaults/acme/search?q=%21 → 200
        GET /v1/vaults/acme/search?q=%CD%BA → 200
        § words next to each other are shown where they are
        PUT context < # Key Learnings\n- KL-1 because x: gamma, then beta\n- KL-2 because y: beta gamma\n- KL-3 because z: alpha\n → 201
        GET /v1/vaults/acme/search?q=%22beta+gamma%22&consistent=true → 200 {"/items/*/record_id": ["KL-2"]}
        GET /v1/vaults/acme/search?q=kl-3 → 200 {"/items/*/record_id": ["KL-3"]}
        § an invalid query is rejected
        GET /v1/vaults/acme/search?consistent=true&q= → 422 invalid q
        GET /v1/vaults/acme/search?consistent=true&q=%20 → 422 invalid q
        GET /v1/vaults/acme/search?consistent=true&q=%0A%C2%A0 → 422 invalid q
        GET /v1/vaults/acme/search?consistent=true&q=(x×1001) → 422 invalid q {"limit": 1000}
        GET /v1/vaults/acme/search?consistent=true&q=(x+×500) → 200
        GET /v1/vaults/acme/search?consistent=true&q=("a-b"+or+-c+×80) → 200
        GET /v1/vaults/acme/search → 422 invalid q
        GET /v1/vaults/acme/search?q=x&limit=0 → 422 invalid limit
        GET /v1/vaults/acme/search?q=x&consistent=yes → 422 invalid consistent
        GET /v1/vaults/acme/search?q=x&query=x → 422 invalid query
        GET /v1/vaults/-/search?q=x → 422 invalid vault_id"#;
    Service::start().await.requests(table).await;
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
    let instances = [&service, &beside];
    let write = async |text: &str| {
        let puts = (0..40).map(|number: usize| {
            let memory = instances[number % 2].memory(&format!("m{number}"));
            async move { memory.write(text).await }
        });
        join_all(puts).await;
    };
    write("left behind").await;
    let running = instances.map(Service::background);
    eventually_finds(&service, "behind", 40).await;
    write("written again").await;
    eventually_finds(&service, "again", 40).await;
    eventually_finds(&service, "behind", 0).await;
    service.requests("GET /metrics → 200 ~search_lag_seconds").await;
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
