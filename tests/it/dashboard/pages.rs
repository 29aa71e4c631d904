//! Every page on malicious text, and the content of some of them.

use super::{Browser, furnish, pages};
use crate::harness::{Service, holds};

const HOSTILE: &str = "# <script>alert(1)</script>\n<img src=x onerror=alert(1)>\n</main><!-- \u{202e}desrever\n\n\
                       [a](javascript:alert(1))\n\n# Key Learnings\n- KL-1 because <b>x</b>: \"><script>alert(1)</script>\n\n\
                       # Verbatim Context\n- VC-1 because y: </code></pre><script> => <script>alert(1)</script>\n";

#[tokio::test]
async fn the_text_of_a_memory_is_escaped_on_every_page() {
    let service = Service::start().await;
    let [run, _] = furnish(&service, None, "acme").await;
    let memory = service.memory("agent");
    memory.write(HOSTILE).await;
    let browser = Browser::new(&service);
    let mut looked = pages("acme", &run);
    for below in ["/edit", "/diff", "/versions/5", "/records/VC-1", "/raw?ref=3"] {
        looked.push(format!("/ui/vaults/acme/memories/agent{below}"));
    }
    for path in looked {
        let page = browser.get(&path).await.is(200);
        let (_, main) = page.text().split_once("<main").unwrap();
        for tag in [
            "<script",
            "<img",
            "<b>",
            "<!--",
            "onerror=alert(1)>\n",
            "href=\"javascript",
        ] {
            let escaped = main.replace("&lt;", "");
            assert!(!escaped.contains(tag), "{path}: {tag}");
        }
        assert_eq!(page.text().matches("</main>").count(), 1, "{path}");
    }
}

#[tokio::test]
async fn changes_since_a_version_are_marked() {
    let (service, memory) = Service::start().await.agent();
    memory.write("# Key Learnings\n- KL-1 because a: old\n").await;
    let later = "# Key Learnings\n- KL-1 because a: old\n- KL-2 because b: fresh\n";
    memory.write(later).await;
    let mut browser = Browser::new(&service);
    let since = "GET .?since=1 → 200 Changed since version 1";
    let page = browser.session(since).await;
    assert_eq!(page.text().matches(r#"class="record new""#).count(), 1);
    browser.session("GET . → 200 !record new").await;
}

#[tokio::test]
async fn the_state_of_the_service_is_shown() {
    let service = Service::start().await;
    service.memory("agent").write("one\n").await;
    let table = "GET /ui/service → 200 ready | PostgreSQL | schema | 0 waiting | Recent errors";
    Browser::new(&service).session(table).await;
}

#[tokio::test]
async fn a_memory_without_a_document_says_so_on_every_page_of_one() {
    let (service, memory) = Service::start().await.agent();
    let item = serde_json::json!({"content": "Use ripgrep.", "category": "tool_guidance"});
    let add = memory.request(reqwest::Method::POST, "items").json(&item);
    crate::harness::Answer::to(add).await.is(201);
    let mut browser = Browser::new(&service);
    let sorted = browser.get("/ui/vaults/acme?sort=changed_at").await.is(200);
    assert!(sorted.text().contains(r#"aria-sort="descending""#));
    let vault = browser.get("/ui/vaults/acme").await.is(200);
    holds(vault.text(), &["prompt items, no document yet"]);
    let path = "/ui/vaults/acme/memories/agent";
    for below in "|/raw|/timeline|/diff|/blame|/records|/updates|/window|/handoff".split('|') {
        let page = browser.get(&format!("{path}{below}")).await.is(200);
        holds(page.text(), &["This memory has no document yet."]);
        assert!(page.text().contains("<h1>"), "{below}");
    }
    let prompt = browser.get(&format!("{path}/prompt")).await.is(200);
    assert!(prompt.text().contains("Use ripgrep."));
    browser.get(&format!("{path}/versions/1")).await.is(404);
    browser.get("/ui/vaults/acme/memories/none").await.is(404);

    // A document that was written concurrently is not deleted by a user who saw none.
    let delete = format!("{path}/delete");
    let page = browser.visit(&delete).await.is(200);
    assert!(page.text().contains("it has no document"), "{}", page.text());
    memory.write("text").await;
    let fields = [("if_match", ""), ("name", "agent")];
    browser.send(&delete, &fields).await.is(412);
    memory.delete().await.is(204);
    let add = memory.request(reqwest::Method::POST, "items").json(&item);
    crate::harness::Answer::to(add).await.is(201);
    browser.send(&delete, &fields).await.is(303);
    assert_eq!(service.count("prompt_items").await, 0);
}

#[tokio::test]
async fn a_memory_begins_with_what_is_to_be_done_and_what_waits() {
    let (service, memory) = Service::start().await.agent();
    let text = "# Notes\nlong\n\n# Active Context\nGoal: ship <it>\nBlocker: no quota\n\n# Current Progress\n## Completed\n- a\n## In Progress\n- wire it\n## Remaining\n- measure it\n";
    memory.write(text).await;
    let browser = Browser::new(&service);
    let path = "/ui/vaults/acme/memories/agent";
    let page = browser.get(path).await.is(200);
    assert!(!page.text().contains("proposal"), "{}", page.text());
    let add = serde_json::json!({"operations": [{"op": "add", "section": "learnings", "reason": "a", "content": "b"}]});
    let proposed = memory.asked("?mode=propose", add.clone()).await;
    let page = browser.get(path).await.is(200);
    let mut rest = page.text();
    let run = format!(
        r#"href="{path}/updates/{}">1 proposal waits"#,
        proposed["update_id"].as_str().unwrap()
    );
    for part in [
        "/edit\"",
        "Goal",
        "&#60;it&#62;",
        "Blocker",
        "no quota",
        "Next step",
        "wire it",
        &run,
        "<article",
    ] {
        let (_, behind) = rest.split_once(part).unwrap_or_else(|| panic!("{part}: {rest}"));
        rest = behind;
    }
    // Each line of it is a line of the page.
    assert!(rest.contains("<p>Blocker: no quota</p>"), "{rest}");
    memory.asked("?mode=propose", add).await;
    service.memory("other").write("x").await;
    assert!(browser.get(path).await.text().contains("2 proposals wait"));
    assert!(
        !browser
            .get("/ui/vaults/acme/memories/other")
            .await
            .text()
            .contains("proposals wait")
    );
    for below in ["", "/search", "/inbox", "/usage", "/events"] {
        let page = browser.get(&format!("/ui/vaults/acme{below}")).await.is(200);
        assert!(
            page.text().contains(r#"Inbox <span class="tag warn">2</span>"#),
            "{below}"
        );
    }
}

#[tokio::test]
async fn no_page_leaves_out_a_level_of_headings_or_speaks_in_codes() {
    let service = Service::start().await;
    let [run, _] = furnish(&service, None, "acme").await;
    service
        .memory("agent")
        .write("### Deep\n# Top\n##### Deeper\n")
        .await;
    let browser = Browser::new(&service);
    let mut looked = pages("acme", &run);
    looked.extend(
        [
            "/ui/",
            "/ui/search",
            "/ui/keys",
            "/ui/service",
            "/ui/sign-in",
            "/ui/nothing",
        ]
        .map(str::to_owned),
    );
    for path in looked {
        let page = browser.get(&path).await;
        let mut above = 0;
        for heading in page.text().split("<h").skip(1) {
            let Some(level) = heading.chars().next().and_then(|level| level.to_digit(10)) else {
                continue;
            };
            assert!(level <= above + 1, "{path}: h{level} below h{above}");
            above = level;
        }
        assert!(!page.text().contains("PT2H"), "{path}");
    }
    let handoff = browser
        .get("/ui/vaults/acme/memories/agent/handoff")
        .await
        .is(200);
    assert!(handoff.text().contains("the last 2 hours"), "{}", handoff.text());
}
