//! Forms: CSRF tokens, resubmission, and concurrent changes.

use super::{Browser, Form, furnish, here, place, shows};
use crate::access::with_admin;
use crate::harness::{Answer, Memory, Service, has, holds};
use reqwest::Method;
use serde_json::json;
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
    let as_json = browser.request(Method::POST, EDIT);
    let as_json = as_json.json(&json!({"form_token": token}));
    Answer::to(as_json).await.is(415);
    assert_eq!(service.count("memories").await, 0);
    let own = with(&token).header("Sec-Fetch-Site", "same-origin");
    Answer::to(own).await.is(303);
    assert_eq!(service.count("memories").await, 1);
}

#[tokio::test]
async fn a_consolidation_is_proposed_and_marks_are_shown() {
    let (service, memory) = Service::start().await.agent();
    let text = "# Key Learnings\n- KL-1 [pinned, until 2030-01-01] tests are slow\n- KL-2 tests are slow\n";
    memory.write(text).await;
    let mut browser = Browser::new(&service);
    // The record that holds for ever is no duplicate of one that ends.
    let table = "
        GET . → 200 =>pinned< | until 2030-01-01
        GET ./records → 200 =>pinned< | until 2030-01-01
        GET ./records/KL-1 → 200 =>pinned< | until 2030-01-01
        SEND ./consolidate < form=consolidate&once=a → 303 ./updates?done=consolidated";
    browser.session(table).await;
    memory.write(text.replace(", until 2030-01-01", "")).await;
    let consolidate = "SEND ./consolidate < form=consolidate&once=b → 303";
    let answer = browser.session(consolidate).await;
    let run = place(&answer).strip_suffix("?done=proposed").unwrap();
    let proposed = format!("GET {run} → 200 duplicate of KL-1");
    browser.session(&proposed).await;
}

#[tokio::test]
async fn without_keys_a_form_has_a_token_too_and_one_that_is_sent_twice_is_executed_once() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service);
    let forged = browser.request(Method::POST, EDIT).form_of(&FIRST);
    Answer::to(forged).await.is(403);
    let table = r"
        GET /ui/ → 200
        SEND ./edit < text=mine\n&once=one&if_match= → 303 .?done=put
        SEND ./edit < text=mine\n&once=one&if_match= → 303 .?done=put
        SEND ./records < form=add&content=&because=x&once=two → 422
        SEND ./records < form=add&content=a fact&because=x&once=two → 303 ./records/KL-1?done=added";
    browser.session(table).await;
    let text = service.memory("agent").text().await;
    assert!(text.starts_with("mine\n") && text.ends_with("a fact\n"), "{text}");
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn a_stale_form_shows_the_changes_and_preserves_the_entered_text() {
    let (service, memory) = Service::start().await.agent();
    let seen = head_of(&memory, "# Plan\none\n").await;
    memory.put("# Plan\n<theirs>\n").await;
    let changed = "Another change was saved first | <theirs>";
    // At last, the first document of a memory that somebody else created concurrently.
    let table = r"
        GET /ui/ → 200
        SEND ./edit < form=edit&text=# Plan\r\n<mine>\r\n&once=x&if_match=SEEN → 412 CHANGED | <mine> | Save mine over version 2
        SEND ./versions/1/restore < form=restore&if_match=SEEN&once=a&reason=<kept> → 412 CHANGED | <kept>
        SEND ./versions/1/redact < form=redact&if_match=SEEN&once=b&reason=<kept>&sure=yes → 412 CHANGED | <kept>
        SEND ./delete < form=delete&if_match=SEEN&once=c&name=agent → 412 CHANGED
        SEND ./edit < text=mine\n&once=one&if_match= → 412";
    let table = table.replace("SEEN", &seen).replace("CHANGED", changed);
    Browser::new(&service).session(&table).await;
    assert_eq!(memory.text().await, "# Plan\n<theirs>\n");
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn only_selected_operations_are_approved_and_a_stale_decision_leaves_the_proposal_pending() {
    let service = Service::start().await;
    let [first, second] = furnish(&service, None, "acme").await;
    let memory = service.memory("agent");
    let mut browser = Browser::new(&service);
    let page = browser.session(&format!("GET ./updates/{first} → 200")).await;
    let (_, behind) = page.text().split_once(r#"name="if_match" value=""#).unwrap();
    let seen = behind.split('"').next().unwrap();
    let head = head_of(&memory, "meanwhile\n").await;
    let table = format!(
        "
        SEND ./updates/{first}/approve < if_match={seen}&once=a&operation=0&reason=x → 412
        SEND ./updates/{first}/reject < if_match={seen}&once=b&operation=0&reason=x → 412"
    );
    browser.session(&table).await;
    let run = memory.read(&format!("updates/{first}")).await;
    assert_eq!(run["status"], "proposed");

    let approve = format!("SEND ./updates/{first}/approve < if_match={head}&once=c&operation=1&comment=fine");
    let table = format!("{approve} → 303 ./updates/{first}?done=approved");
    browser.session(&table).await;
    let now = memory.get_json("context").await.json();
    has(
        &now,
        json!({"context~": "two is proposed", "context!": "one is proposed"}),
    );
    let id = now["context_id"].as_str().unwrap();
    let table = format!(
        "
        SEND ./updates/{second}/reject < if_match={id}&once=d&reason=<no> → 303
        GET ./updates/{second} → 200 <no> | !/approve | !, took"
    );
    browser.session(&table).await;
}

#[tokio::test]
async fn a_form_preserves_a_document_byte_for_byte() {
    let (service, memory) = Service::start().await.agent();
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    let texts = [
        "\nbegins empty\n",
        "ends\r\nin\r\nCRLF\r\n",
        " \ttabs & <marks> \"ü\"\n\n",
        "no end",
    ];
    for text in texts {
        let id = &head_of(&memory, text).await;
        let page = browser.get(EDIT).await.is(200);
        let ends = if text.contains('\r') { "crlf" } else { "lf" };
        holds(page.text(), &[&format!(r#"name="line_ends" value="{ends}""#)]);
        // As a browser does: every line ends with CRLF.
        let sent = text.replace("\r\n", "\n").replace('\n', "\r\n");
        let fields = [
            ("text", &*sent),
            ("once", id),
            ("if_match", id),
            ("line_ends", ends),
        ];
        let answer = browser.send(EDIT, &fields).await.is(303);
        assert_eq!(place(&answer), here(".?done=unchanged"), "{text:?}");
    }
}

#[tokio::test]
async fn a_form_says_that_it_will_change_line_ends() {
    let (service, memory) = Service::start().await.agent();
    let mut browser = Browser::new(&service);
    browser.visit("/ui/").await;
    let told = ["a\r\nb\n", "a\rb\n", "a\rb"].map(|text| (text, true));
    let not_told = ["a\r\nb\r\n", "a\nb"].map(|text| (text, false));
    for (text, is_told) in told.into_iter().chain(not_told) {
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
    let fields =
        "form=make&name=<b>&role=writer&reach=list&vaults=one, two&expires=2999-01-02&speaks_for_others=yes";
    let kept = r#"name | <b> | value="one, two" | value="2999-01-02" | value="yes" checked | value="writer" selected | value="list" checked"#;
    let table = format!("GET /ui/keys → 200\nSEND /ui/keys < {fields} → 422 {kept}");
    browser.session(&table).await;
    // A key for every vault is not made by a field that is overlooked.
    let fields = "form=make&name=carol&role=writer&reach=all&vaults=acme";
    let table = format!("SEND /ui/keys < {fields} → 422 carol | acme");
    browser.session(&table).await;
    let token = make_root(&browser).await;
    browser.session("GET /ui/keys → 303").await;
    let mut signed_in = Browser::signed_in(&service, &token).await;
    let list = format!("GET /ui/keys → 200 root | !{token}");
    signed_in.session(&list).await;
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
    let table = table.replace("{memory}", memory).replace("{run}", &run);
    let table = table.replace("{key}", &key_id).replace("{long}", &long);
    for row in table.trim().lines() {
        let row: Vec<_> = row.trim_start().split(" | ").collect();
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
        let behind = answer.text().split_once(r#"id="fault""#);
        let (_, behind) = behind.unwrap_or_else(|| panic!("{path}: {}", answer.text()));
        let told = behind.split("</div>").next().unwrap();
        assert!(told.contains(fault), "{path}: {told}");
        let shown = entered.trim_start_matches('\0');
        assert!(shows(&answer, shown), "{path}: {}", answer.text());
        holds(answer.text(), &[r#"role="alert""#, r##"<a href="#fault">"##]);
    }
    // Nothing of it was done.
    for below in ["context", "contexts/1"] {
        let there = service.memory("agent").request(Method::GET, below);
        Answer::to(there.bearer_auth(&token)).await.is(200);
    }
}

#[tokio::test]
async fn an_edited_text_is_kept_until_its_collapse_is_confirmed() {
    let reject = |config: &mut Config| config.guard.collapse = Guard::Reject;
    let (service, memory) = Service::configured(reject).await.agent();
    let long = "- a line of a long document\n".repeat(400);
    let head = head_of(&memory, &long).await;
    // Leaving the page would lose the text.
    let table = r#"
        GET /ui/ → 200
        SEND ./edit < form=edit&text=<short>\n&if_match=HEAD&once=a → 409 <short> | name="confirm" | data-unsaved
        SEND ./edit < form=edit&text=<short>\n&if_match=HEAD&once=b&confirm=collapse → 303"#;
    let table = table.replace("HEAD", &head);
    Browser::new(&service).session(&table).await;
}

#[tokio::test]
async fn the_edit_page_knows_that_another_version_was_saved_meanwhile() {
    let (service, memory) = Service::start().await.agent();
    memory.write("one\n").await;
    let mut browser = Browser::new(&service);
    browser.session("GET ./edit?since=1 → 200 !saved meanwhile").await;
    memory.write("two\n").await;
    let told = "=Version 2 by <bdi> | diff?base=1&amp;to=2 | data-live=";
    let table = format!("GET ./edit?since=1 → 200 {told}");
    browser.session(&table).await;
}
