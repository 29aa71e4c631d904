//! Every page on malicious text, and the content of some of them.

use super::{Browser, furnish, pages};
use crate::harness::{Service, lacks};
use serde_json::json;

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
        let tags = [
            "<script",
            "<img",
            "<b>",
            "<!--",
            "onerror=alert(1)>\n",
            "href=\"javascript",
        ];
        for tag in tags {
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
    let table = "GET /ui/service → 200 ready | PostgreSQL | schema | 0 waiting";
    Browser::new(&service).session(table).await;
}

#[tokio::test]
async fn a_memory_without_a_document_says_so_on_every_page_of_one() {
    let (service, memory) = Service::start().await.agent();
    let item = json!({"content": "Use ripgrep.", "category": "tool_guidance"});
    memory.post("items", &item).await.is(201);
    let mut browser = Browser::new(&service);
    for below in "|/raw|/timeline|/diff|/blame|/records|/updates|/window|/handoff".split('|') {
        let page = format!("GET .{below} → 200 This memory has no document yet. | =<h1>");
        browser.session(&page).await;
    }
    let table = r#"
        GET /ui/vaults/acme?sort=changed_at → 200 =aria-sort="descending"
        GET /ui/vaults/acme → 200 prompt items, no document yet
        GET ./prompt → 200 Use ripgrep.
        GET ./versions/1 → 404
        GET /ui/vaults/acme/memories/none → 404
        GET ./delete → 200 it has no document"#;
    browser.session(table).await;

    // A document that was written concurrently is not deleted by a user who saw none.
    memory.write("text").await;
    browser
        .session("SEND ./delete < if_match=&name=agent → 412")
        .await;
    memory.delete().await.is(204);
    memory.post("items", &item).await.is(201);
    browser
        .session("SEND ./delete < if_match=&name=agent → 303")
        .await;
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
    lacks(page.text(), &["proposal"]);
    let add = json!({"operations": [{"op": "add", "section": "learnings", "reason": "a", "content": "b"}]});
    let proposed = memory.asked("?mode=propose", add.clone()).await;
    let page = browser.get(path).await.is(200);
    let mut rest = page.text();
    let run = proposed["update_id"].as_str().unwrap();
    let run = format!(r#"href="{path}/updates/{run}">1 proposal waits"#);
    let parts =
        "/edit\"|Goal|&#60;it&#62;|Blocker|no quota|Next step|wire it|RUN|<article".replace("RUN", &run);
    for part in parts.split('|') {
        let (_, behind) = rest.split_once(part).unwrap_or_else(|| panic!("{part}: {rest}"));
        rest = behind;
    }
    // Each line of it is a line of the page.
    assert!(rest.contains("<p>Blocker: no quota</p>"), "{rest}");
    memory.asked("?mode=propose", add).await;
    service.memory("other").write("x").await;
    let mut browser = browser;
    let table = "
        GET . → 200 2 proposals wait
        GET /ui/vaults/acme/memories/other → 200 !proposals wait";
    browser.session(table).await;
    for below in ["", "/search", "/inbox", "/usage", "/events"] {
        let page = format!(r#"GET /ui/vaults/acme{below} → 200 =Inbox <span class="tag warn">2</span>"#);
        browser.session(&page).await;
    }
}

#[tokio::test]
async fn no_page_leaves_out_a_level_of_headings_or_speaks_in_codes() {
    let service = Service::start().await;
    let [run, _] = furnish(&service, None, "acme").await;
    let text = "### Deep\n# Top\n##### Deeper\n";
    service.memory("agent").write(text).await;
    let browser = Browser::new(&service);
    let mut looked = pages("acme", &run);
    let more = "/ui/ /ui/search /ui/keys /ui/service /ui/sign-in /ui/nothing";
    looked.extend(more.split(' ').map(str::to_owned));
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
    let mut browser = browser;
    browser.session("GET ./handoff → 200 the last 2 hours").await;
}
