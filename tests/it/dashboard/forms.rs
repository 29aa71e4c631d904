//! Forms: CSRF tokens, resubmission, and concurrent changes.

use super::{Browser, Form, entries, furnish, place, shows};
use crate::access::with_admin;
use crate::harness::{Answer, Memory, Service, holds, lacks};
use reqwest::Method;
use working_memory::config::Config;
use working_memory::config::limits::Guard;

const EDIT: &str = "/ui/vaults/acme/memories/agent/edit";
const FIRST: [(&str, &str); 3] = [("text", "mine\n"), ("once", "one"), ("if_match", "")];

/// Puts a document; the id of its version.
async fn head_of(memory: &Memory, text: &str) -> String {
    let put = memory.put(text).await.json();
    put["context_id"].as_str().unwrap().to_owned()
}

/// Makes the first key on the page of keys, which shows it once.
async fn make_root(browser: &Browser<'_>) -> String {
    let fields = [("name", "root"), ("role", "admin"), ("reach", "all")];
    let answer = browser.send("/ui/keys", &fields).await.is(200);
    let (_, behind) = answer.text().split_once(r#"data-copy="wm_"#).unwrap();
    format!("wm_{}", behind.split('"').next().unwrap())
}

#[tokio::test]
async fn a_cross_site_form_is_rejected() {
    let (service, admin) = with_admin().await;
    let browser = Browser::signed_in(&service, &admin.token).await;
    let other = Browser::signed_in(&service, &admin.token).await;
    let with = |token: &str| {
        let mut fields = vec![("form_token", token)];
        fields.extend(FIRST);
        browser.request(Method::POST, EDIT).form_of(&fields)
    };
    let token = browser.token();
    for forged in [
        browser.request(Method::POST, EDIT).form_of(&FIRST),
        with(""),
        with(&other.token()),
        with(&token[1..]),
        with(&token).header("Origin", "https://attacker.example"),
        with(&token).header("Origin", "null"),
        with(&token).header("Origin", "http://localhost:1"),
        with(&token).header("Origin", browser.service.socket_address()),
        with(&token).header("Sec-Fetch-Site", ""),
        with(&token).header("Sec-Fetch-Site", "cross-site"),
        with(&token).header("Sec-Fetch-Site", "same-site"),
    ] {
        let answer = Answer::to(forged).await.is(403);
        holds(answer.text(), &["was not sent by a page of this service"]);
    }
    let as_json = browser
        .request(Method::POST, EDIT)
        .json(&serde_json::json!({"form_token": token}));
    Answer::to(as_json).await.is(415);
    assert_eq!(service.count("memories").await, 0);
    Answer::to(with(&token).header("Sec-Fetch-Site", "same-origin"))
        .await
        .is(303);
    assert_eq!(service.count("memories").await, 1);
}

#[tokio::test]
async fn forms_have_tokens_also_without_keys() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service);
    Answer::to(browser.request(Method::POST, EDIT).form_of(&FIRST))
        .await
        .is(403);
    browser.visit("/ui/").await;
    browser.send(EDIT, &FIRST).await.is(303);
    assert_eq!(service.memory("agent").text().await, "mine\n");
}

#[tokio::test]
async fn a_consolidation_is_proposed_and_marks_are_shown() {
    let (service, memory) = Service::start().await.agent();
    let text = "# Key Learnings\n- KL-1 [pinned, until 2030-01-01] tests are slow\n- KL-2 tests are slow\n";
    memory.write(text).await;
    let mut browser = Browser::new(&service);
    for page in ["", "/records", "/records/KL-1"] {
        let shown = browser
            .visit(&format!("/ui/vaults/acme/memories/agent{page}"))
            .await;
        holds(shown.text(), &[">pinned<", "until 2030-01-01"]);
    }
    // The record that holds for ever is no duplicate of one that ends.
    let consolidate = "/ui/vaults/acme/memories/agent/consolidate";
    let answer = browser
        .send(consolidate, &[("form", "consolidate"), ("once", "a")])
        .await
        .is(303);
    assert_eq!(
        place(&answer),
        "/ui/vaults/acme/memories/agent/updates?done=consolidated"
    );

    memory.write(text.replace(", until 2030-01-01", "")).await;
    let answer = browser
        .send(consolidate, &[("form", "consolidate"), ("once", "b")])
        .await
        .is(303);
    let run = place(&answer).trim_end_matches("?done=proposed").to_owned();
    let shown = browser.visit(&run).await;
    assert!(shown.text().contains("duplicate of KL-1"), "{}", shown.text());
}

#[tokio::test]
async fn a_form_that_is_sent_twice_is_executed_once() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    for _ in 0..2 {
        let answer = browser.send(EDIT, &FIRST).await.is(303);
        assert_eq!(place(&answer), "/ui/vaults/acme/memories/agent?done=put");
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_stale_form_shows_the_changes_and_preserves_the_entered_text() {
    let (service, memory) = Service::start().await.agent();
    let seen = head_of(&memory, "# Plan\none\n").await;
    memory.put("# Plan\n<theirs>\n").await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    let fields = [
        ("form", "edit"),
        ("text", "# Plan\r\n<mine>\r\n"),
        ("once", "x"),
        ("if_match", &seen),
    ];
    let answer = browser.send(EDIT, &fields).await.is(412);
    for part in [
        "Another change was saved first",
        "<theirs>",
        "<mine>",
        "Save mine over version 2",
    ] {
        assert!(shows(&answer, part), "{part}: {}", answer.text());
    }
    assert_eq!(memory.text().await, "# Plan\n<theirs>\n");
    for (below, form) in [
        ("versions/1/restore", "restore"),
        ("versions/1/redact", "redact"),
        ("delete", "delete"),
    ] {
        let path = format!("/ui/vaults/acme/memories/agent/{below}");
        let fields = [
            ("form", form),
            ("if_match", seen.as_str()),
            ("once", below),
            ("reason", "<kept>"),
            ("sure", "yes"),
            ("name", "agent"),
        ];
        let answer = browser.send(&path, &fields).await.is(412);
        assert!(
            answer.text().contains("Another change was saved first") && shows(&answer, "<theirs>"),
            "{below}: {}",
            answer.text()
        );
        assert!(below == "delete" || shows(&answer, "<kept>"), "{below}");
    }
    assert_eq!(service.count("memory_contexts").await, 2);
    // The first document of a memory that somebody else created concurrently.
    browser.send(EDIT, &FIRST).await.is(412);
}

#[tokio::test]
async fn a_stale_decision_leaves_the_proposal_pending() {
    let service = Service::start().await;
    let [run, _] = furnish(&service, None, "acme").await;
    let mut browser = Browser::new(&service);
    let here = format!("/ui/vaults/acme/memories/agent/updates/{run}");
    let page = browser.visit(&here).await.is(200);
    let (_, behind) = page.text().split_once(r#"name="if_match" value=""#).unwrap();
    let seen = behind.split('"').next().unwrap().to_owned();
    service.memory("agent").write("meanwhile\n").await;
    let fields = [
        ("if_match", seen.as_str()),
        ("once", "a"),
        ("operation", "0"),
        ("reason", "x"),
    ];
    browser.send(&format!("{here}/approve"), &fields).await.is(412);
    browser
        .send(
            &format!("{here}/reject"),
            &[&fields[..1], &[("once", "b")], &fields[2..]].concat(),
        )
        .await
        .is(412);
    let status = service
        .get(&format!("/v1{}", here.strip_prefix("/ui").unwrap()))
        .await
        .json()["status"]
        .clone();
    assert_eq!(status, "proposed");
}

#[tokio::test]
async fn only_selected_operations_are_approved() {
    let service = Service::start().await;
    let [first, second] = furnish(&service, None, "acme").await;
    let mut browser = Browser::new(&service);
    let here = format!("/ui/vaults/acme/memories/agent/updates/{first}");
    let head = async || service.memory("agent").get_json("context").await.json();
    browser.visit("/ui/").await;
    let id = head().await["context_id"].as_str().unwrap().to_owned();
    let fields = [
        ("if_match", id.as_str()),
        ("once", "a"),
        ("operation", "1"),
        ("comment", "fine"),
    ];
    let answer = browser.send(&format!("{here}/approve"), &fields).await.is(303);
    assert_eq!(place(&answer), format!("{here}?done=approved"));
    let text = head().await["context"].as_str().unwrap().to_owned();
    holds(&text, &["two is proposed"]);
    lacks(&text, &["one is proposed"]);
    let there = format!("/ui/vaults/acme/memories/agent/updates/{second}");
    let id = head().await["context_id"].as_str().unwrap().to_owned();
    let fields = [("if_match", id.as_str()), ("once", "b"), ("reason", "<no>")];
    browser.send(&format!("{there}/reject"), &fields).await.is(303);
    let page = browser.get(&there).await.is(200);
    assert!(shows(&page, "<no>") && !page.text().contains("/approve"));
}

#[tokio::test]
async fn irreversible_actions_ask_for_confirmation() {
    let (service, memory) = Service::start().await.agent();
    memory.put("one\n").await;
    let head = head_of(&memory, "two\n").await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    let redact = "/ui/vaults/acme/memories/agent/versions/1/redact";
    let fields = [("if_match", head.as_str()), ("once", "a"), ("reason", "x")];
    browser.send(redact, &fields).await.is(422);
    let delete = "/ui/vaults/acme/memories/agent/delete";
    browser
        .send(delete, &[("if_match", &head), ("name", "another")])
        .await
        .is(422);
    assert_eq!(memory.get("contexts/1").await.text(), "one\n");
    browser
        .send(delete, &[("if_match", &head), ("name", "agent")])
        .await
        .is(303);
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_form_preserves_a_document_byte_for_byte() {
    let (service, memory) = Service::start().await.agent();
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    for text in [
        "\nbegins empty\n",
        "ends\r\nin\r\nCRLF\r\n",
        " \ttabs & <marks> \"ü\"\n\n",
        "no end",
    ] {
        let put = memory.put(text).await.json();
        let page = browser.get(EDIT).await.is(200);
        let ends = if text.contains('\r') { "crlf" } else { "lf" };
        holds(page.text(), &[&format!(r#"name="line_ends" value="{ends}""#)]);
        // As a browser does: every line ends with CRLF.
        let sent = text.replace("\r\n", "\n").replace('\n', "\r\n");
        let id = put["context_id"].as_str().unwrap();
        let fields = [
            ("text", sent.as_str()),
            ("once", id),
            ("if_match", id),
            ("line_ends", ends),
        ];
        let answer = browser.send(EDIT, &fields).await.is(303);
        assert_eq!(
            place(&answer),
            "/ui/vaults/acme/memories/agent?done=unchanged",
            "{text:?}"
        );
    }
}

#[tokio::test]
async fn a_form_says_that_it_will_change_line_ends() {
    let (service, memory) = Service::start().await.agent();
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    for (text, is_told) in [
        ("a\r\nb\n", true),
        ("a\rb\n", true),
        ("a\rb", true),
        ("a\r\nb\r\n", false),
        ("a\nb", false),
    ] {
        memory.put(text).await.is(201);
        let page = browser.get(EDIT).await.is(200);
        let told = page.text().contains("ends all of them in LF");
        assert_eq!(told, is_told, "{text:?}");
    }
}

#[tokio::test]
async fn a_key_is_shown_once_and_invalid_keys_are_reported() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/keys").await;
    let answer = browser
        .send(
            "/ui/keys",
            &entries("form=make&name=<b>&role=writer&reach=list&vaults=one, two&expires=2999-01-02&speaks_for_others=yes"),
        )
        .await
        .is(422);
    for part in [
        "name",
        "<b>",
        "value=\"one, two\"",
        "value=\"2999-01-02\"",
        "value=\"yes\" checked",
    ] {
        assert!(shows(&answer, part), "{part}: {}", answer.text());
    }
    assert!(answer.text().contains(r#"value="writer" selected"#));
    assert!(answer.text().contains(r#"value="list" checked"#));
    let token = make_root(&browser).await;
    browser.get("/ui/keys").await.is(303);
    let signed_in = Browser::signed_in(&service, &token).await;
    let list = signed_in.get("/ui/keys").await.is(200);
    assert!(list.text().contains("root") && !list.text().contains(&token));
}

#[tokio::test]
async fn a_refused_form_tells_the_fault_in_place_and_keeps_what_was_entered() {
    let service = Service::start().await;
    let [run, _] = furnish(&service, None, "acme").await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    let head = service.memory("agent").get_json("context").await.json();
    let head = head["context_id"].as_str().unwrap();
    let token = make_root(&browser).await;
    let key_id = token.split('_').nth(1).unwrap().to_owned();
    let browser = Browser::signed_in(&service, &token).await;
    let memory = "/ui/vaults/acme/memories/agent";
    let long = "x".repeat(3_000);
    let table = "
        {memory}/versions/1/redact | redact | reason | it had <a> name | tick the box
        {memory}/versions/1/restore | restore | reason | {long} | reason
        {memory}/delete | delete | name | <another> | is not the memory
        {memory}/updates/{run}/approve | approve | comment | {long} | comment
        {memory}/updates/{run}/reject | reject | reason | {long} | reason
        {memory}/edit | edit | text | \0 and <b> | NUL
        /ui/keys/{key}/rotate | rotate | grace_seconds | soon | grace_seconds
        /ui/keys/{key}/revoke | revoke | x |  | tick the box";
    let filled: [(&str, &str); 4] = [
        ("{memory}", memory),
        ("{run}", &run),
        ("{key}", &key_id),
        ("{long}", &long),
    ];
    for row in table.trim().lines() {
        let fill = |row: String, (name, value): &(&str, &str)| row.replace(name, value);
        let row = filled.iter().fold(row.trim().to_owned(), fill);
        let row: Vec<_> = row.split(" | ").collect();
        let [path, form, field, entered, fault] = row[..] else {
            panic!("{row:?}");
        };
        let fields = [
            ("form", form),
            ("once", form),
            ("if_match", head),
            (field, entered),
        ];
        let answer = browser.send(path, &fields).await;
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
        let (_, behind) = answer
            .text()
            .split_once(r#"id="fault""#)
            .unwrap_or_else(|| panic!("{path}: {}", answer.text()));
        let told = behind.split("</div>").next().unwrap();
        assert!(told.contains(fault), "{path}: {told}");
        let shown = entered.trim_start_matches('\0');
        assert!(shows(&answer, shown), "{path}: {}", answer.text());
        assert!(answer.text().contains(r#"role="alert""#), "{path}");
        assert!(answer.text().contains(r##"<a href="#fault">"##), "{path}");
    }
    assert_eq!(
        service
            .memory("agent")
            .request(Method::GET, "context")
            .bearer_auth(&token)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
}

#[tokio::test]
async fn an_edited_text_is_kept_until_its_collapse_is_confirmed() {
    let reject = |config: &mut Config| config.guard.collapse = Guard::Reject;
    let (service, memory) = Service::configured(reject).await.agent();
    let long: String = (0..400)
        .map(|line| format!("- line {line} of a long document\n"))
        .collect();
    let head = head_of(&memory, &long).await;
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    let fields = [
        ("form", "edit"),
        ("text", "<short>\n"),
        ("if_match", head.as_str()),
    ];
    let answer = browser
        .send(EDIT, &[&fields[..], &[("once", "a")]].concat())
        .await
        .is(409);
    assert!(
        shows(&answer, "<short>") && answer.text().contains(r#"name="confirm""#),
        "{}",
        answer.text()
    );
    assert!(
        answer.text().contains("data-unsaved"),
        "leaving this page loses the text"
    );
    let sent = [&fields[..], &[("once", "b"), ("confirm", "collapse")]].concat();
    browser.send(EDIT, &sent).await.is(303);
}

#[tokio::test]
async fn the_edit_page_knows_that_another_version_was_saved_meanwhile() {
    let (service, memory) = Service::start().await.agent();
    memory.write("one\n").await;
    let browser = Browser::new(&service);
    let page = browser.get(&format!("{EDIT}?since=1")).await.is(200);
    assert!(!page.text().contains("saved meanwhile"));
    memory.write("two\n").await;
    let page = browser.get(&format!("{EDIT}?since=1")).await.is(200);
    assert!(page.text().contains("Version 2 by <bdi>"), "{}", page.text());
    assert!(page.text().contains("diff?base=1&amp;to=2"));
    assert!(page.text().contains("data-live="));
}
