//! Records that are corrected, archived and added on a page; and the way from a record to what it quotes.

use super::{Browser, entries, place, shows};
use crate::access::with_admin;
use crate::harness::{Service, Step, has, holds, scripted};
use serde_json::json;

const MEMORY: &str = "/ui/vaults/acme/memories/agent";
const TEXT: &str = "# Key Learnings\n- KL-1 because a test: port 1 is used\n\n# Verbatim Context\n- VC-1 because it is typed: run it => make test\n";

#[tokio::test]
async fn a_learning_is_corrected_archived_and_added_without_editing_the_text() {
    let (service, memory) = Service::start().await.agent();
    memory.write(TEXT).await;
    let mut browser = Browser::new(&service);
    let page = browser.visit(&format!("{MEMORY}/records/KL-1")).await.is(200);
    for part in [
        "port 1 is used</textarea>",
        r#"name="because" maxlength="500" required value="a test""#,
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let fields = entries("form=correct&once=a&content=port 2 is used&because=a test&reason=the port moved");
    let answer = browser
        .send(&format!("{MEMORY}/records/KL-1/correct"), &fields)
        .await
        .is(303);
    assert_eq!(place(&answer), format!("{MEMORY}/records/KL-2?done=corrected"));
    let old = memory.get("records/KL-1").await.json();
    assert_eq!(old["superseded_by"], "KL-2");
    assert_eq!(old["archive_reason"], "the port moved");
    let new = memory.get("records/KL-2").await.json();
    has(&new, json!({"content": "port 2 is used", "reason": "a test"}));

    let fields = [("form", "archive"), ("once", "b"), ("reason", "nobody needs it")];
    let answer = browser
        .send(&format!("{MEMORY}/records/KL-2/archive"), &fields)
        .await
        .is(303);
    let page = browser.get(place(&answer)).await.is(200);
    assert!(page.text().contains("Archived, with the reason.") && page.text().contains("nobody needs it"));
    assert!(!page.text().contains("/correct"), "an archived record is history");

    let fields = entries("form=add&once=c&content=the disk is <small>&because=it was full");
    let answer = browser.send(&format!("{MEMORY}/records"), &fields).await.is(303);
    assert_eq!(place(&answer), format!("{MEMORY}/records/KL-3?done=added"));
    let page = browser.get(MEMORY).await.is(200);
    assert!(shows(&page, "the disk is <small>") && page.text().contains("Add a learning"));
    assert!(
        page.text()
            .contains(r#"records/KL-3#change" aria-label="Change KL-3""#),
        "{}",
        page.text()
    );
}

#[tokio::test]
async fn a_snippet_and_a_decision_are_corrected_as_well() {
    let (service, memory) = Service::start().await.agent();
    memory.write(TEXT).await;
    let decision = json!({"decision": "Use one queue", "reason": "it is simple"});
    memory.post("decisions", &decision).await.is(201);
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    let fields = [
        ("form", "correct"),
        ("once", "a"),
        ("label", "run it"),
        ("content", "make check\r\nmake test\r\n"),
        ("because", "it is typed"),
        ("reason", "it has two steps"),
    ];
    browser
        .send(&format!("{MEMORY}/records/VC-1/correct"), &fields)
        .await
        .is(303);
    assert_eq!(
        memory.get("records/VC-2").await.json()["content"],
        "make check\nmake test"
    );
    let fields = entries("form=correct&once=b&content=Use two queues&because=one was slow");
    let answer = browser
        .send(&format!("{MEMORY}/records/D-1/correct"), &fields)
        .await
        .is(303);
    assert_eq!(place(&answer), format!("{MEMORY}/records/D-2?done=corrected"));
    assert_eq!(memory.get("records/D-1").await.json()["superseded_by"], "D-2");
}

#[tokio::test]
async fn a_faulty_change_of_a_record_is_told_in_its_form() {
    let (service, memory) = Service::start().await.agent();
    memory.write(TEXT).await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    for (below, form) in [
        ("records/KL-1/correct", "correct"),
        ("records/KL-1/archive", "archive"),
        ("records", "add"),
    ] {
        let fields = [
            ("form", form),
            ("once", form),
            ("content", "<kept>"),
            ("because", ""),
            ("reason", ""),
        ];
        let answer = browser.send(&format!("{MEMORY}/{below}"), &fields).await.is(422);
        let (_, fault) = answer.text().split_once(r#"id="fault""#).unwrap();
        assert!(
            fault.split("</div>").next().unwrap().contains("reason"),
            "{below}: {fault}"
        );
        assert!(form == "archive" || shows(&answer, "<kept>"), "{below}");
        assert!(
            !answer.text().contains("operations["),
            "{below}: the form has no list"
        );
    }
    assert_eq!(service.count("memory_contexts").await, 1);
    // Somebody archived it meanwhile.
    let archive = json!({"operations": [{"op": "archive", "id": "KL-1", "reason": "gone"}]});
    memory.asked("", archive).await;
    let fields = [("form", "archive"), ("once", "z"), ("reason", "<mine>")];
    let answer = browser
        .send(&format!("{MEMORY}/records/KL-1/archive"), &fields)
        .await
        .is(422);
    assert!(answer.text().contains("KL-1"), "{}", answer.text());
}

#[tokio::test]
async fn a_proposer_proposes_and_a_reader_sees_no_form() {
    let (service, admin) = with_admin().await;
    admin.put("acme", TEXT).await.is(201);
    let key = async |role: &str| {
        admin
            .make(json!({"name": role, "role": role, "vaults": ["acme"]}))
            .await
            .token
    };
    let proposer = Browser::signed_in(&service, &key("proposer").await).await;
    let page = proposer.get(&format!("{MEMORY}/records/KL-1")).await.is(200);
    assert!(page.text().contains("/correct"), "{}", page.text());
    let fields = [("form", "archive"), ("once", "a"), ("reason", "old")];
    let answer = proposer
        .send(&format!("{MEMORY}/records/KL-1/archive"), &fields)
        .await
        .is(303);
    assert!(place(&answer).ends_with("?done=proposed"), "{}", place(&answer));
    let page = proposer.get(place(&answer)).await.is(200);
    holds(page.text(), &["It is applied when somebody approves it"]);
    let reader = Browser::signed_in(&service, &key("reader").await).await;
    for below in ["", "/records", "/records/KL-1"] {
        let page = reader.get(&format!("{MEMORY}{below}")).await.is(200);
        assert_eq!(
            page.text().matches(r#"method="post""#).count(),
            1,
            "only signing out: {below}"
        );
        assert!(!page.text().contains("#change"), "{below}");
    }
}

#[tokio::test]
async fn a_record_leads_to_its_run_and_to_the_passage_that_it_quotes() {
    let answers = "KEY_LEARNINGS:\n  ADD:\n    - because it bit: RabbitMQ drops jobs that are unacknowledged for 30 minutes\n";
    let (service, memory) = Service::with_models(scripted(move |role| match role.name() {
        "learnings" => Step::answer(answers),
        _ => Step::answer(&format!("{}: NO CHANGE", role.header())),
    }))
    .await
    .agent();
    let said = format!(
        "{}Root cause: RabbitMQ drops <unacknowledged> jobs after 30 minutes.",
        "Nothing yet. ".repeat(900)
    );
    let update = json!({"task": "Find out why jobs vanish", "messages": [
        {"role": "user", "content": "Go on."}, {"role": "assistant", "content": said}]});
    let update = memory.updated(update).await;
    let run = format!("{MEMORY}/updates/{}", update["update_id"].as_str().unwrap());
    let browser = Browser::new(&service);

    let record = browser.get(&format!("{MEMORY}/records/KL-1")).await.is(200);
    holds(record.text(), &[&format!(r#"href="{run}""#)]);
    let passage = format!(r##"href="{run}#message-2-at-"##);
    let (_, behind) = record
        .text()
        .split_once(&passage)
        .unwrap_or_else(|| panic!("{}", record.text()));
    let id = format!("message-2-at-{}", behind.split('"').next().unwrap());

    let page = browser.get(&run).await.is(200);
    assert!(
        page.text().contains(&format!(r#"<mark id="{id}">"#)),
        "{id}: {}",
        page.text()
    );
    assert!(shows(&page, "<unacknowledged>") && page.text().contains("bytes are not shown"));
    assert!(page.text().contains(r#"id="message-1""#) && page.text().contains("Find out why jobs vanish"));

    for below in ["/versions/1", "/timeline"] {
        let page = browser.get(&format!("{MEMORY}{below}")).await.is(200);
        assert!(
            page.text().contains(&format!(r#"href="{run}""#)),
            "{below}: {}",
            page.text()
        );
    }
    let version = memory.get_json("contexts/1").await.json();
    assert_eq!(version["update_id"], update["update_id"]);
    memory.write("by hand\n").await;
    assert_eq!(memory.get_json("contexts/2").await.json().get("update_id"), None);
}
