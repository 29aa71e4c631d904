//! Records that are corrected, archived and added on a page; and the way from a record to what it quotes.

use super::{Browser, place, shows};
use crate::access::with_admin;
use crate::harness::{Service, Step, holds, lacks, scripted};
use serde_json::json;

const MEMORY: &str = "/ui/vaults/acme/memories/agent";
const TEXT: &str = "# Key Learnings\n- KL-1 because a test: port 1 is used\n\n# Verbatim Context\n- VC-1 because it is typed: run it => make test\n";

#[tokio::test]
async fn a_learning_is_corrected_archived_and_added_without_editing_the_text() {
    let (service, memory) = Service::start().await.agent();
    memory.write(TEXT).await;
    let mut browser = Browser::new(&service);
    let table = r#"
        GET ./records/KL-1 → 200 =port 1 is used</textarea> | name="because" maxlength="500" required value="a test"
        SEND ./records/KL-1/correct < form=correct&once=a&content=port 2 is used&because=a test&reason=the port moved → 303 ./records/KL-2?done=corrected"#;
    browser.session(table).await;
    let table = r#"
        GET records/KL-1 → 200 {"superseded_by": "KL-2", "archive_reason": "the port moved"}
        GET records/KL-2 → 200 {"content": "port 2 is used", "reason": "a test"}"#;
    memory.requests(table).await;

    let archive = "SEND ./records/KL-2/archive < form=archive&once=b&reason=nobody needs it → 303";
    let answer = browser.session(archive).await;
    let table = format!(
        r#"
        GET {} → 200 Archived, with the reason. | nobody needs it | !/correct
        SEND ./records < form=add&once=c&content=the disk is <small>&because=it was full → 303 ./records/KL-3?done=added
        GET . → 200 the disk is <small> | Add a learning | records/KL-3#change" aria-label="Change KL-3""#,
        place(&answer)
    );
    browser.session(&table).await;
}

#[tokio::test]
async fn a_snippet_and_a_decision_are_corrected_as_well() {
    let (service, memory) = Service::start().await.agent();
    memory.write(TEXT).await;
    let decision = json!({"decision": "Use one queue", "reason": "it is simple"});
    memory.post("decisions", &decision).await.is(201);
    let table = r"
        GET /ui/ → 200
        SEND ./records/VC-1/correct < form=correct&once=a&label=run it&content=make check\r\nmake test\r\n&because=it is typed&reason=it has two steps → 303
        SEND ./records/D-1/correct < form=correct&once=b&content=Use two queues&because=one was slow → 303 ./records/D-2?done=corrected";
    Browser::new(&service).session(table).await;
    let table = r#"
        GET records/VC-2 → 200 {"content": "make check\nmake test"}
        PUT context < # Verbatim Context\r\n- VC-3 because r: lab =>\r\n  a\r\n  b\r\n → 201
        GET records/D-1 → 200 {"superseded_by": "D-2"}"#;
    memory.requests(table).await;
    // A snippet with CRLF keeps it.
    let table = r"SEND ./records/VC-3/correct < form=correct&once=c&label=lab&content=a\r\nc\r\n&because=r&reason=x → 303";
    Browser::new(&service)
        .session(&format!("GET /ui/ → 200\n{table}"))
        .await;
    assert_eq!(memory.read("records/VC-4").await["content"], "a\r\nc");
}

/// A record stays if what was to take its place is not saved, and what was entered stays in the form.
#[tokio::test]
async fn a_correction_that_is_rejected_archives_nothing() {
    let service = Service::configured(|config| config.limits.item_bytes = 40).await;
    let (service, memory) = service.agent();
    memory.write(TEXT).await;
    let before = memory.about().await["context_id"].as_str().unwrap().to_owned();
    memory
        .asked(
            "",
            json!({"operations": [{"op": "add", "section": "learnings", "reason": "r", "content": "known"}]}),
        )
        .await;
    let long = "x".repeat(41);
    let table = format!(
        r#"
        GET /ui/ → 200
        SEND ./records/KL-1/correct < form=correct&once=a&content={long}&because=b&reason=c → 422 limits.item_bytes | {long}
        SEND ./records/KL-1/correct < form=correct&once=b&if_match={before}&content=the host&because=b&reason=c → 412 the host | Another change was saved first
        SEND ./records < form=add&once=c&content={long}&because=b → 422 limits.item_bytes | {long}
        SEND ./records/KL-1/correct < form=correct&once=d&content=the host is alpha&because=b&reason=c → 303 ./records/KL-3?done=corrected"#
    );
    let mut browser = Browser::new(&service);
    browser.session(&table).await;
    // The form of a tab that was opened before.
    let late = format!(
        "SEND ./records/KL-1/correct < form=correct&once=e&if_match={before}&content=the host is beta&because=b&reason=c → 422 the host is beta | KL-3 took its place"
    );
    browser.session(&late).await;
    memory
        .requests(r#"GET records/KL-1 → 200 {"superseded_by": "KL-3"}"#)
        .await;
    assert_eq!(service.count("memory_contexts").await, 3);
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
        let fields = format!("form={form}&once={form}&content=<kept>&because=&reason=");
        let answer = browser.session(&format!("SEND ./{below} < {fields} → 422")).await;
        let (_, fault) = answer.text().split_once(r#"id="fault""#).unwrap();
        holds(fault.split("</div>").next().unwrap(), &["reason"]);
        assert!(form == "archive" || shows(&answer, "<kept>"), "{below}");
        // The form has no list.
        lacks(answer.text(), &["operations["]);
    }
    assert_eq!(service.count("memory_contexts").await, 1);
    // Somebody archived it meanwhile.
    let archive = json!({"operations": [{"op": "archive", "id": "KL-1", "reason": "gone"}]});
    memory.asked("", archive).await;
    let archive = "SEND ./records/KL-1/archive < form=archive&once=z&reason=<mine> → 422 KL-1";
    browser.session(archive).await;
}

#[tokio::test]
async fn a_proposer_proposes_and_a_reader_sees_no_form() {
    let (service, admin) = with_admin().await;
    admin.put("acme", TEXT).await.is(201);
    let key = async |role: &str| {
        let key = json!({"name": role, "role": role, "vaults": ["acme"]});
        admin.make(key).await.token
    };
    let mut proposer = Browser::signed_in(&service, &key("proposer").await).await;
    let table = "
        GET ./records/KL-1 → 200 /correct
        SEND ./records/KL-1/archive < form=archive&once=a&reason=old → 303";
    let answer = proposer.session(table).await;
    assert!(place(&answer).ends_with("?done=proposed"), "{}", place(&answer));
    let proposed = "It is applied when somebody approves it";
    let table = format!("GET {} → 200 {proposed}", place(&answer));
    proposer.session(&table).await;
    let reader = Browser::signed_in(&service, &key("reader").await).await;
    for below in ["", "/records", "/records/KL-1"] {
        let page = reader.get(&format!("{MEMORY}{below}")).await.is(200);
        let forms = page.text().matches(r#"method="post""#).count();
        assert_eq!(forms, 1, "only signing out: {below}");
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
    let said =
        "Nothing yet. ".repeat(900) + "Root cause: RabbitMQ drops <unacknowledged> jobs after 30 minutes.";
    let update = json!({"task": "Find out why jobs vanish", "messages": [
        {"role": "user", "content": "Go on."}, {"role": "assistant", "content": said}]});
    let update = memory.updated(update).await;
    let run = format!("{MEMORY}/updates/{}", update["update_id"].as_str().unwrap());
    let browser = Browser::new(&service);

    let record = browser.get(&format!("{MEMORY}/records/KL-1")).await.is(200);
    holds(record.text(), &[&format!(r#"href="{run}""#)]);
    let passage = format!(r##"href="{run}#message-2-at-"##);
    let behind = record.text().split_once(&passage);
    let (_, behind) = behind.unwrap_or_else(|| panic!("{}", record.text()));
    let id = format!("message-2-at-{}", behind.split('"').next().unwrap());

    let page = browser.get(&run).await.is(200);
    let mark = format!(r#"<mark id="{id}">"#);
    let parts = [
        &mark,
        "bytes are not shown",
        r#"id="message-1""#,
        "Find out why jobs vanish",
    ];
    holds(page.text(), &parts);
    assert!(shows(&page, "<unacknowledged>"));

    for below in ["/versions/1", "/timeline"] {
        let page = browser.get(&format!("{MEMORY}{below}")).await.is(200);
        holds(page.text(), &[&format!(r#"href="{run}""#)]);
    }
    let version = memory.get_json("contexts/1").await.json();
    assert_eq!(version["update_id"], update["update_id"]);
    memory.write("by hand\n").await;
    assert_eq!(memory.get_json("contexts/2").await.json().get("update_id"), None);
}
