//! Every page on malicious text, and the content of some of them.

use super::{Browser, furnish, pages};
use crate::harness::Service;

const HOSTILE: &str = "# <script>alert(1)</script>\n<img src=x onerror=alert(1)>\n</main><!-- \u{202e}desrever\n\n\
                       [a](javascript:alert(1))\n\n# Key Learnings\n- KL-1 because <b>x</b>: \"><script>alert(1)</script>\n\n\
                       # Verbatim Context\n- VC-1 because y: </code></pre><script> => <script>alert(1)</script>\n";

#[tokio::test]
async fn the_text_of_a_memory_is_escaped_on_every_page() {
    let service = Service::start().await;
    let [run, _] = furnish(&service, None, "acme").await;
    let memory = service.memory("agent");
    memory.put(HOSTILE).await.is(201);
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
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory
        .put("# Key Learnings\n- KL-1 because a: old\n")
        .await
        .is(201);
    memory
        .put("# Key Learnings\n- KL-1 because a: old\n- KL-2 because b: fresh\n")
        .await
        .is(201);
    let browser = Browser::new(&service);
    let path = "/ui/vaults/acme/memories/agent";
    let page = browser.get(&format!("{path}?since=1")).await.is(200);
    assert_eq!(page.text().matches(r#"class="record new""#).count(), 1);
    assert!(page.text().contains("Changed since version 1"));
    let page = browser.get(path).await.is(200);
    assert_eq!(page.text().matches("record new").count(), 0);
}

#[tokio::test]
async fn memories_are_sorted_by_size_and_by_change_page_by_page() {
    let service = Service::start().await;
    for number in 0..120 {
        let text = "x".repeat(1 + (number * 7) % 120);
        service.memory(&format!("m{number:03}")).put(text).await.is(201);
        service.clock.advance(std::time::Duration::from_secs(1));
    }
    let read = async |sort: &str, member: &str| {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = service
                .get(&format!("/v1/vaults/acme/memories?sort={sort}&limit=50{cursor}"))
                .await
                .is(200)
                .json();
            for item in page["items"].as_array().unwrap() {
                all.push((
                    item[member].to_string(),
                    item["memory_id"].as_str().unwrap().to_owned(),
                    item["bytes"].as_i64().unwrap(),
                ));
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    };
    let by_size = read("bytes", "bytes").await;
    assert_eq!(by_size.len(), 120);
    assert!(
        by_size
            .windows(2)
            .all(|pair| (pair[0].2, &pair[0].1) > (pair[1].2, &pair[1].1))
    );
    let by_change = read("changed_at", "changed_at").await;
    let ids: Vec<_> = by_change.iter().map(|(_, id, _)| id.clone()).collect();
    let expected: Vec<_> = (0..120).rev().map(|number| format!("m{number:03}")).collect();
    assert_eq!(ids, expected);
    service
        .get("/v1/vaults/acme/memories?sort=colour")
        .await
        .problem(422, "invalid", Some("sort"));
    let browser = Browser::new(&service);
    let page = browser.get("/ui/vaults/acme?sort=changed_at").await.is(200);
    assert!(page.text().contains(r#"aria-sort="descending""#));
}

#[tokio::test]
async fn events_are_listed_newest_first_page_by_page() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for number in 0..7 {
        memory.put(format!("{number}\n")).await.is(201);
    }
    let versions = |page: &serde_json::Value| -> Vec<i64> {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["version"].as_i64().unwrap())
            .collect()
    };
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let request = service
            .request(
                reqwest::Method::GET,
                &format!("/v1/vaults/acme/events?order=newest&limit=3{cursor}"),
            )
            .header("Accept", "application/json");
        let page = crate::harness::Answer::to(request).await.is(200).json();
        seen.extend(versions(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn the_state_of_the_service_is_shown() {
    let service = Service::start().await;
    service.memory("agent").put("one\n").await.is(201);
    let browser = Browser::new(&service);
    let page = browser.get("/ui/service").await.is(200);
    for part in ["ready", "PostgreSQL", "schema", "0 waiting", "Recent errors"] {
        assert!(page.text().contains(part), "{part}");
    }
}

#[tokio::test]
async fn a_memory_without_a_document_says_so_on_every_page_of_one() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let item = serde_json::json!({"content": "Use ripgrep.", "category": "tool_guidance"});
    let add = memory.request(reqwest::Method::POST, "items").json(&item);
    crate::harness::Answer::to(add).await.is(201);
    let mut browser = Browser::new(&service);
    let vault = browser.get("/ui/vaults/acme").await.is(200);
    assert!(
        vault.text().contains("prompt items, no document yet"),
        "{}",
        vault.text()
    );
    let path = "/ui/vaults/acme/memories/agent";
    for below in [
        "",
        "/raw",
        "/timeline",
        "/diff",
        "/blame",
        "/records",
        "/updates",
        "/window",
        "/handoff",
    ] {
        let page = browser.get(&format!("{path}{below}")).await.is(200);
        assert!(
            page.text().contains("This memory has no document yet."),
            "{below}"
        );
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
    memory.put("text").await.is(201);
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
    let service = Service::start().await;
    let memory = service.memory("agent");
    let text = "# Notes\nlong\n\n# Active Context\nGoal: ship <it>\nBlocker: no quota\n\n# Current Progress\n## Completed\n- a\n## In Progress\n- wire it\n## Remaining\n- measure it\n";
    memory.put(text).await.is(201);
    let browser = Browser::new(&service);
    let path = "/ui/vaults/acme/memories/agent";
    let page = browser.get(path).await.is(200);
    assert!(!page.text().contains("proposal"), "{}", page.text());
    let add = serde_json::json!({"operations": [{"op": "add", "section": "learnings", "reason": "a", "content": "b"}]});
    let proposed = memory.ask("?mode=propose", add.clone()).await.is(200).json();
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
    memory.ask("?mode=propose", add).await.is(200);
    service.memory("other").put("x").await.is(201);
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
        .put("### Deep\n# Top\n##### Deeper\n")
        .await
        .is(201);
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
