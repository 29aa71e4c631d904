//! Semantic searches, and searches in one memory.

use crate::harness::{EmbeddingServer, Service, has};
use serde_json::{Value, json};

const CAR: &str = "# Key Learnings\n- KL-1 because rain: the automobile leaks\n- KL-2 because fun: soup needs salt\n\n\
                   # Facts\nThe physician is called Nowak.\n";

async fn with_model() -> (EmbeddingServer, Service) {
    let server = EmbeddingServer::start().await;
    let service = Service::configured(server.configure("one")).await;
    (server, service)
}

/// With the memory `m` of the document above, which is indexed.
async fn with_car() -> (EmbeddingServer, Service) {
    let (server, service) = with_model().await;
    service.memory("m").write(CAR).await;
    service.index().await;
    (server, service)
}

async fn search(service: &Service, parameters: &str) -> Value {
    let path = format!("/v1/vaults/acme/search?consistent=true&{parameters}");
    service.read(&path).await
}

/// Memories with the records or sections that were found, in their order.
fn found(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    let name = |item: &Value| {
        let record = item["record_id"]
            .as_str()
            .or(item["section"].as_str())
            .unwrap_or("-");
        format!("{}/{record}", item["memory_id"].as_str().unwrap())
    };
    items.iter().map(name).collect()
}

/// Checks what searches find, one a line: `parameters → memory/record …`.
async fn finds(service: &Service, below: &str, table: &str) {
    for (parameters, expected) in table.trim().lines().map(|row| row.split_once('→').unwrap()) {
        let path = format!("/v1/vaults/acme/{below}?{}", parameters.trim());
        let page = service.read(&path).await;
        assert_eq!(found(&page).join(" "), expected.trim(), "{path}");
        let items = page["items"].as_array().unwrap().iter();
        let ranks: Vec<_> = items.map(|item| item["rank"].as_f64()).collect();
        assert!(ranks.is_sorted_by(|one, next| one >= next), "{page}");
    }
}

#[tokio::test]
async fn without_a_model_only_words_are_searched_and_the_error_names_the_setting() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory.write(CAR).await;
    let table = r#"
        GET /v1/vaults/acme/search?q=x&mode=semantic → 422 invalid mode {"detail~": ["embeddings.base_url", "embeddings.model"]}
        GET search?q=x&mode=semantic → 422 invalid mode {"detail~": ["embeddings.base_url", "embeddings.model"]}
        GET /v1/vaults/acme/search?consistent=true&q=soup → 200 {"mode": "text", "degraded": null, "/items/*/memory_id": ["m"], "/items/*/record_id": ["KL-2"]}
        GET /v1/vaults/acme/search?consistent=true&q=soup → 200 {"/items/0/found_by": ["text"], "/items/0/score": null, "/items/0/status": "active", "/items/0/record_version": 1}
        GET /v1/vaults/acme/search?consistent=true&q=soup&mode=hybrid → 200 {"mode": "text", "degraded~": "no embedding model"}"#;
    memory.requests(table).await;
    assert_eq!(service.count("search_vectors").await, 0);
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let (_, memory) = Service::start().await.with_memory("m");
    memory.write(CAR).await;
    for path in ["/v1/vaults/acme/search", "search"] {
        let table = r#"
            GET PATH?q= → 422 invalid q
            GET PATH?q=x&mode=magic → 422 invalid mode
            GET PATH?q=x&min_score=2 → 422 invalid min_score
            GET PATH?q=x&min_score=NaN → 422 invalid min_score
            GET PATH?q=x&min_score=x → 422 invalid min_score {"detail": "min_score must be a number from -1 to 1"}
            GET PATH?q=x&mode=text&min_score=0.5 → 422 invalid min_score
            GET PATH?q=x&kind=XX → 422 invalid kind
            GET PATH?q=x&status=gone → 422 invalid status
            GET PATH?q=x&actor=%20 → 422 invalid actor"#;
        memory.requests(&table.replace("PATH", path)).await;
    }
    let table = "
        GET /v1/vaults/acme/search?q=x&status=all → 422 invalid status
        GET /v1/vaults/acme/memories/nobody/search?q=x → 404 not-found";
    memory.requests(table).await;
}

#[tokio::test]
async fn one_memory_is_searched_by_words_archived_records_too() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory.write(CAR).await;
    let table = r##"
        PUT context < # Key Learnings\n- KL-2 because fun: soup needs salt\n\n# Facts\nno soup\n → 201
        GET search?q=leaks&status=all → 200 {"/items/0/status": "archived", "/items/0/version": 2, "/items/0/record_version": 1, "/items/0/extract": "the automobile <mark>leaks</mark> because rain"}
        GET search?q=soup&limit=1 → 200 {"/items/*/section": ["Facts"]} ⇒ cursor=/next_cursor
        GET search?q=soup&limit=1&cursor=$cursor → 200 {"/items/*/record_id": ["KL-2"]}
        GET search?q=salt&limit=1&cursor=$cursor → 400 malformed cursor"##;
    memory.requests(table).await;
    let table = "
        q=soup → m/Facts m/KL-2
        q=leaks →
        q=leaks&status=all → m/KL-1
        q=soup&kind=KL → m/KL-2
        q=soup&kind=D →
        q=soup&actor=nobody →
        q=soup&until=2000-01-01T00:00:00Z →
        q=soup&since=2000-01-01T00:00:00Z&kind=KL → m/KL-2
        q=automobile&status=archived → m/KL-1
        q=soup%20-no → m/KL-2";
    finds(&service, "memories/m/search", table).await;
    let table = "
        consistent=true&q=soup&kind=KL → m/KL-2
        consistent=true&q=soup&kind=T →";
    finds(&service, "search", table).await;
}

#[tokio::test]
async fn texts_of_the_same_meaning_are_found_and_the_result_says_how() {
    let (_server, service) = with_car().await;
    let other = service.memory("other");
    other.write("# Facts\nNothing of the kind.\n").await;
    service.index().await;
    let table = r#"
        GET SEARCH&q=vehicle&min_score=0.2 → 200 {"mode": "hybrid", "items#": 1, "/items/0/found_by": ["semantic"], "/items/0/status": "active", "/items/0/record_version": 1}
        GET SEARCH&q=automobile&min_score=0.2 → 200 {"/items/0/found_by": ["text", "semantic"]}
        GET SEARCH&q=medic&mode=semantic&min_score=0.2 → 200 {"mode": "semantic"}
        GET SEARCH&q=vehicle+-salt&min_score=0.2 → 200 {"mode": "text", "degraded": null, "items": []}
        GET SEARCH&q=vehicle+-salt&min_score=0.2&mode=hybrid → 200 {"mode": "hybrid", "items#": 1}
        GET /v1/vaults/globex/search?q=vehicle → 200 {"items": []}
        GET /v1/vaults/acme/usage → 200 ~"one""#;
    let search_path = "/v1/vaults/acme/search?consistent=true";
    service.requests(&table.replace("SEARCH", search_path)).await;
    let hit = &search(&service, "q=vehicle&min_score=0.2").await["items"][0];
    assert!(hit["score"].as_f64().unwrap() > 0.2, "{hit}");
    let table = "
        consistent=true&q=vehicle&min_score=0.2 → m/KL-1
        consistent=true&q=medic&mode=semantic&min_score=0.2 → m/Facts
        consistent=true&q=vehicle&mode=text →
        consistent=true&q=medic&kind=KL&min_score=0.2 →
        consistent=true&q=vehicle&kind=KL&min_score=0.2 → m/KL-1
        consistent=true&q=vehicle&actor=nobody →
        consistent=true&q=medic&actor=nobody →
        consistent=true&q=vehicle&until=2000-01-01T00:00:00Z →";
    finds(&service, "search", table).await;
    finds(&service, "memories/m/search", "q=medic&min_score=0.2 → m/Facts").await;
}

#[tokio::test]
async fn pages_of_a_semantic_search_have_no_gaps() {
    let (_server, service) = with_model().await;
    for number in 0..7 {
        let text = format!("# Facts\ncar {}\n", "other things ".repeat(number));
        service.memory(&format!("m{number}")).write(text).await;
    }
    service.index().await;
    let path = "/v1/vaults/acme/search?consistent=true&q=vehicle&mode=semantic";
    let whole = service.read(path).await["items"].clone();
    assert_eq!(whole.as_array().unwrap().len(), 7);
    assert_eq!(json!(service.pages(&format!("{path}&limit=3")).await), whole);
}

#[tokio::test]
async fn all_pages_of_a_search_are_of_one_mode() {
    let (server, service) = with_model().await;
    for number in 0..7 {
        let text = format!("# Facts\ncar {}\n", "other things ".repeat(number));
        service.memory(&format!("m{number}")).write(text).await;
    }
    service.index().await;
    service
        .memory("m0")
        .write("# Facts\na car\n\n# Notes\na car\n\n# Log\na car\n")
        .await;
    // The vector of this query is kept by the first instance only.
    let paths = ["search", "memories/m0/search"].map(|path| format!("/v1/vaults/acme/{path}?q=car&limit=2"));
    let mut by_both = Vec::new();
    for path in &paths {
        let page = service.read(path).await;
        assert_eq!(page["mode"], "hybrid", "{path}");
        by_both.push(format!("{path}&cursor={}", page["next_cursor"].as_str().unwrap()));
    }
    let other = Service::start_at(service.database(), server.configure("one"), None).await;
    server.is_down(true);
    for (path, next) in paths.iter().zip(by_both) {
        let row = format!(r#"GET {next} → 503 unavailable {{"detail~": ["503", "without cursor"]}}"#);
        other.requests(&row).await;
        service
            .requests(&format!(r#"GET {next} → 200 {{"mode": "hybrid"}}"#))
            .await;
        let page = other.read(path).await;
        has(&page, json!({"mode": "text", "degraded~": "503"}));
        let next = format!("{path}&cursor={}", page["next_cursor"].as_str().unwrap());
        service
            .requests(&format!(r#"GET {next} → 200 {{"mode": "text"}}"#))
            .await;
    }
    let found = service.pages(&format!("{}&mode=text", paths[0])).await;
    assert_eq!(found.len(), 7);
}

#[tokio::test]
async fn archiving_redacting_and_deleting_affect_searches_at_once() {
    let (_server, service) = with_car().await;
    let memory = service.memory("m");
    let rest = "# Key Learnings\n- KL-2 because fun: soup needs salt\n";
    memory.write(rest).await;
    let unindexed = "q=vehicle&mode=semantic&min_score=0.2 →";
    finds(&service, "search", unindexed).await;
    service.index().await;
    let archived = "consistent=true&q=vehicle&status=archived&min_score=0.2 → m/KL-1";
    finds(&service, "search", archived).await;
    let archived = search(&service, "q=vehicle&status=archived&min_score=0.2").await;
    assert_eq!(archived["items"][0]["status"], "archived");

    memory.redact("1").await.is(200);
    assert_eq!(service.count("search_vectors").await, 0);
    service.index().await;
    finds(
        &service,
        "search",
        "consistent=true&q=vehicle&status=all&min_score=0.2 →",
    )
    .await;
    assert_eq!(service.count("search_vectors").await, 1);
    memory.delete().await.is(204);
    assert_eq!(service.count("search_vectors").await, 0);
}

#[tokio::test]
async fn a_model_that_was_replaced_takes_no_newer_vectors_away() {
    let (_server, service) = with_car().await;
    let mut replaced = service.storage().embedding_spaces().await.unwrap().0[0].clone();
    replaced.id = "replaced".to_owned();
    service.storage().space_is_ready(&replaced).await.unwrap();
    assert_eq!(service.count("search_vectors").await, 1);
}

#[tokio::test]
async fn a_text_with_a_vector_is_not_embedded_again() {
    let (server, service) = with_car().await;
    assert_eq!(server.asked("one").len(), 3);
    let memory = service.memory("m");
    memory.write(format!("{CAR}\n# More\nA bridge.\n")).await;
    for _ in 0..2 {
        service.index().await;
        assert_eq!(server.asked("one").len(), 4);
    }
    assert_eq!(server.asked("one")[3], "More: A bridge.");
}

#[tokio::test]
async fn a_long_title_is_not_embedded_with_each_of_its_passages() {
    let (server, service) = with_model().await;
    let title = "a long title ".repeat(1_000);
    let text = format!("# {title}\nThe physician is called Nowak.\n");
    service.memory("m").write(text).await;
    service.index().await;
    assert!(server.asked("one").iter().all(|text| text.len() < 1_000));
    let page = search(&service, "q=medic&mode=semantic").await;
    assert_eq!(page["items"][0]["memory_id"], "m");
}

#[tokio::test]
async fn an_outage_disables_only_semantic_search_and_the_response_says_so() {
    let (server, service) = with_car().await;
    server.is_down(true);
    for mode in ["hybrid", "semantic"] {
        let page = search(&service, &format!("q=automobile&mode={mode}")).await;
        assert_eq!(found(&page), ["m/KL-1"], "{mode}");
        has(
            &page,
            json!({"mode": "text", "degraded~": "503", "degraded!": "127.0.0.1"}),
        );
    }
    service.memory("later").write("# Facts\nA new vehicle.\n").await;
    service.index_words().await;
    assert!(service.meaning().index().await.is_err());
    finds(
        &service,
        "search",
        "consistent=true&q=new&mode=text → later/Facts",
    )
    .await;

    server.is_down(false);
    service.index().await;
    // Searches retry a failed server after a while; another instance calls it at once.
    let other = Service::start_at(service.database(), server.configure("one"), None).await;
    let page = search(&other, "q=car&min_score=0.2").await;
    assert_eq!(page["degraded"], Value::Null);
    let mut all = found(&page);
    all.sort();
    assert_eq!(all, ["later/Facts", "m/KL-1"]);
}

#[tokio::test]
async fn a_text_that_the_model_rejects_or_fails_at_does_not_affect_others() {
    let (_server, service) = with_model().await;
    let text = "# Key Learnings\n- KL-1 because x: poison\n- KL-2 because y: the physician\n- KL-3 because z: thunder\n";
    service.memory("m").write(text).await;
    service.index().await;
    let table = "
        consistent=true&q=medic&mode=semantic&min_score=0.2 → m/KL-2
        consistent=true&q=poison → m/KL-1";
    finds(&service, "search", table).await;
    let spaces = service.storage().embedding_spaces().await.unwrap();
    let progress = service.storage().embedding_progress(&spaces.0[0].id).await;
    let progress = progress.unwrap();
    assert_eq!((progress.passages, progress.refused, progress.pending), (3, 2, 0));
}

#[tokio::test]
async fn a_query_that_the_model_rejects_affects_no_other() {
    let (_server, service) = with_car().await;
    let table = r#"
        GET /v1/vaults/acme/search?consistent=true&q=poison → 200 {"mode": "text", "items": [], "degraded!": "null"}
        GET /v1/vaults/acme/search?consistent=true&q=vehicle&min_score=0.2 → 200 {"mode": "hybrid", "degraded": null, "/items/*/record_id": ["KL-1"]}"#;
    service.requests(table).await;
}

#[tokio::test]
async fn texts_that_a_broken_server_was_asked_for_are_embedded_later() {
    let (server, service) = with_model().await;
    service.memory("first").write("# Facts\nA bridge.\n").await;
    service.index().await;
    service.memory("m").write(CAR).await;
    service.index_words().await;
    server.is_broken(true);
    assert!(service.meaning().index().await.is_err());
    server.is_broken(false);
    service.index().await;
    let table = "consistent=true&q=vehicle&mode=semantic&min_score=0.2 → m/KL-1";
    finds(&service, "search", table).await;
}

#[tokio::test]
async fn vectors_of_any_length_are_compared_by_their_angle() {
    for scale in [1e-38, 1e37] {
        let (server, service) = with_model().await;
        server.scale(scale);
        service.memory("m").write(CAR).await;
        service.index().await;
        let page = search(&service, "q=vehicle&mode=semantic&min_score=0.2").await;
        assert_eq!(found(&page), ["m/KL-1"], "{scale}");
        let score = page["items"][0]["score"].as_f64().unwrap();
        assert!(score < 1.001, "{page}");
    }
}

#[tokio::test]
async fn vectors_of_another_dimension_belong_to_another_model() {
    let (server, service) = with_car().await;
    server.dimensions(64);
    let memory = service.memory("m");
    memory.write(format!("{CAR}\n# More\nA bridge.\n")).await;
    service.index_words().await;
    assert!(service.meaning().index().await.is_err());
    service.meaning().index().await.unwrap();
    let spaces = service.storage().embedding_spaces().await.unwrap();
    assert_eq!(spaces.0[0].settings.dimensions, 64);
    assert_eq!(spaces.0.len(), 1);
    assert_eq!(server.asked("one").len(), 3 + 1 + 4);
}

#[tokio::test]
async fn a_search_notices_vectors_of_another_dimension() {
    let (server, service) = with_car().await;
    server.dimensions(64);
    let page = search(&service, "q=vehicle").await;
    has(&page, json!({"mode": "text", "degraded~": "another length"}));
    service.index().await;
    let spaces = service.storage().embedding_spaces().await.unwrap();
    assert_eq!(spaces.0[0].settings.dimensions, 64);
    assert!(spaces.0[0].ready_at.is_some());
}
