//! Views of one memory: `GET …/records`, active and archived, of one kind or all; `GET …/blame`, the origin of each line of the newest
//! version, or with `?ref=` of another one; `GET …/window` with the archive, with `?by=week` by week instead of epic; `GET …/raw`, the
//! bytes of any version as text; `GET …/diff?base=&to=`, unified or side by side, without parameters that of the newest version;
//! `GET …/timeline`, the versions with what each changed in words; `GET …/prompt` with the tokens of each part and what a budget drops.

use crate::dashboard::difference::{Difference, Row};
use crate::dashboard::excerpt::{end_of_page, fitting, weight};
use crate::dashboard::failure::{Failure, Refusal};
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::pages::document::start;
use crate::dashboard::pages::with_document;
use crate::dashboard::visit::{Pager, Visit};
use crate::domain::window::{ArchivedTask, Epic};
use crate::http::responses::{
    BlameBody, BlameLine, ContextBody, DiffBody, List, LogEntry, PartBody, Receipt, RecordBody, WindowBody,
};
use crate::storage::memories::MemorySummary;
use askama::Template;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;

#[derive(Template)]
#[template(path = "pages/records.html")]
struct RecordsView {
    page: Page,
    list: List<RecordBody>,
}

/// Shows the records.
pub(in crate::dashboard) async fn records(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.pass(visit.of_memory(&["records"]), &["kind", "status", "cursor"]);
    layout::render(&RecordsView {
        page: Page::of_memory(&visit, format!("{}, records", visit.memory()), "Records"),
        list: ask.read().await?,
    })
}

#[derive(Template)]
#[template(path = "pages/blame.html")]
struct BlameView {
    page: Page,
    version: i64,
    /// Lines of the same version that follow each other.
    blocks: Vec<Vec<BlameLine<'static>>>,
    /// The first line of the next page.
    next: Option<usize>,
}

/// Shows the lines, or with `?line=` those from this one on.
pub(in crate::dashboard) async fn blame(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.of_memory(&["blame"]);
    let BlameBody { version, lines, .. } = ask.maybe("ref", visit.param("ref")).read().await?;
    let first = visit.number("line").unwrap_or(1);
    let lines = lines.into_iter().filter(|line| line.line >= first);
    let (lines, next) = fitting(lines, |line| weight(&line.text));
    let mut blocks: Vec<Vec<BlameLine<'_>>> = Vec::new();
    for line in lines {
        match blocks.last_mut() {
            Some(block) if block[0].version == line.version => block.push(line),
            _ => blocks.push(vec![line]),
        }
    }
    layout::render(&BlameView {
        page: Page::of_memory(&visit, format!("{}, blame", visit.memory()), "Blame")
            .here(format!("version {version}")),
        version,
        blocks,
        next: next.map(|next| next.line),
    })
}

#[derive(Template)]
#[template(path = "pages/window.html")]
struct WindowView {
    page: Page,
    window: WindowBody,
    history: List<ArchivedTask>,
    epics: List<Epic>,
}

/// Shows the window.
pub(in crate::dashboard) async fn window(visit: Visit) -> Result<Response, Failure> {
    let ask = |below: &[&str]| visit.of_memory(below);
    let (window, history, epics) = futures::join!(
        ask(&["window"]).read::<WindowBody>(),
        ask(&["archive", "history"])
            .maybe("cursor", visit.param("cursor"))
            .read::<List<ArchivedTask>>(),
        ask(&["archive", "epics"])
            .maybe("by", visit.param("by"))
            .query("limit", 200)
            .read::<List<Epic>>(),
    );
    layout::render(&WindowView {
        page: Page::of_memory(&visit, format!("{}, window", visit.memory()), "Window"),
        window: window?,
        history: history?,
        epics: epics?,
    })
}

#[derive(Template)]
#[template(path = "pages/raw.html")]
struct RawView {
    page: Page,
    version: i64,
    text: String,
    /// The first byte of the next page.
    next: Option<usize>,
    starts_at: usize,
}

/// Shows the text, or with `?download=1` sends it unchanged.
pub(in crate::dashboard) async fn raw(visit: Visit) -> Result<Response, Failure> {
    let reference = visit.param("ref");
    let ask = match reference {
        Some(reference) => visit.of_memory(&["contexts", reference]),
        None => visit.of_memory(&["context"]),
    };
    let ContextBody { version, context, .. } = ask.read().await?;
    let text = context.unwrap_or_default();
    if visit.param("download").is_some() {
        let headers = [
            (CONTENT_TYPE, "text/plain; charset=utf-8"),
            (CONTENT_DISPOSITION, "attachment; filename=\"document.md\""),
        ];
        return Ok((headers, text).into_response());
    }
    let from = start(&visit, &text)?;
    let end = from + end_of_page(&text[from..]);
    let tab = reference.map_or("Document", |_| "Timeline");
    layout::render(&RawView {
        page: Page::of_memory(&visit, format!("{}, raw", visit.memory()), tab)
            .here(format!("raw version {version}")),
        version,
        next: (end < text.len()).then_some(end),
        text: text[from..end].to_owned(),
        starts_at: from,
    })
}

#[derive(Template)]
#[template(path = "pages/diff.html")]
struct DiffView {
    page: Page,
    from: String,
    to: String,
    diff: DiffBody,
    difference: Difference,
    /// The same in two columns.
    sides: Option<Vec<Row>>,
    /// The path of the other form, and that of the text.
    other: String,
    download: String,
}

/// Shows the diff; with `?download=1` as text.
pub(in crate::dashboard) async fn diff(visit: Visit) -> Result<Response, Failure> {
    let head = with_document(&visit).await?;
    let to = visit
        .param("to")
        .map_or_else(|| head.version.to_string(), str::to_owned);
    let from = match visit.param("base") {
        Some(base) => base.to_owned(),
        None => before(&visit, head.version).await?.to_string(),
    };
    let ask = visit.of_memory(&["contexts", &to, "diff"]);
    let diff: DiffBody = ask.query("base", &from).read().await?;
    if visit.param("download").is_some() {
        return Ok(diff.diff.into_response());
    }
    let difference = Difference::of(&diff.diff);
    let is_sides = visit.param("view") == Some("sides");
    let link = |name, value| visit.with(&[("base", Some(&from)), ("to", Some(&to)), (name, Some(value))]);
    layout::render(&DiffView {
        page: Page::of_memory(&visit, format!("{}, diff", visit.memory()), "Diff")
            .here(format!("version {from} to {to}")),
        other: link("view", if is_sides { "unified" } else { "sides" }),
        download: link("download", "1"),
        from,
        to,
        sides: is_sides.then(|| difference.beside()),
        difference,
        diff,
    })
}

/// The newest older version that still has its text, which redaction and retention take; the newest itself if there is none.
async fn before(visit: &Visit, newest: i64) -> Result<i64, Failure> {
    let versions: List<ContextBody> = visit.of_memory(&["contexts"]).read().await?;
    let mut versions = versions.items.into_iter();
    let older = versions.find(|context| context.version < newest && context.redacted.is_none());
    Ok(older.map_or(newest, |context| context.version))
}

#[derive(Template)]
#[template(path = "pages/timeline.html")]
struct TimelineView {
    page: Page,
    newest: i64,
    versions: Vec<ContextBody>,
    logs: HashMap<i64, String>,
    /// Later versions are marked.
    since: i64,
    pager: Pager,
}

/// Shows the versions.
pub(in crate::dashboard) async fn timeline(visit: Visit) -> Result<Response, Failure> {
    let ask = |below: &[&str]| visit.of_memory(below);
    let (head, versions, log) = futures::join!(
        ask(&[]).read::<MemorySummary>(),
        ask(&["contexts"])
            .maybe("cursor", visit.param("cursor"))
            .read::<List<ContextBody>>(),
        ask(&["log"])
            .maybe("cursor", visit.param("log"))
            .read::<List<LogEntry>>(),
    );
    let (head, versions, log) = (head?, versions?, log?);
    // Both lists go on with the next page.
    let link = |cursor: Option<&str>, log| visit.with(&[("cursor", cursor), ("log", log)]);
    let next = versions.next_cursor.as_deref();
    let logs = log.items.into_iter().map(|entry| (entry.version, entry.log));
    layout::render(&TimelineView {
        page: Page::of_memory(&visit, format!("{}, timeline", visit.memory()), "Timeline"),
        newest: head.version,
        pager: Pager {
            first: visit.param("cursor").map(|_| link(None, None)),
            next: next.map(|next| link(Some(next), log.next_cursor.as_deref())),
        },
        versions: versions.items,
        logs: logs.collect(),
        since: visit.number("since").unwrap_or(i64::MAX),
    })
}

impl TimelineView {
    /// The size of the largest version of this page.
    fn largest(&self) -> i32 {
        let sizes = self.versions.iter().map(|version| version.bytes);
        sizes.max().unwrap_or(0).max(1)
    }

    fn log(&self, version: &ContextBody) -> &str {
        self.logs.get(&version.version).map_or("", |log| log.trim())
    }
}

/// The parameters of the page.
const PARAMETERS: [&str; 5] = ["max_tokens", "include", "exclude", "query", "timezone"];

/// Parts at the beginning that rarely change: while they are equal, a provider's cache is valid.
const STABLE: [&str; 3] = ["rules", "user_information", "tool_guidance"];

#[derive(Template)]
#[template(path = "pages/prompt.html")]
struct PromptView {
    page: Page,
    prompt: Result<Receipt, Refusal>,
}

/// Shows the prompt; with `?download=1` as text.
pub(in crate::dashboard) async fn prompt(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.pass(visit.of_memory(&["prompt"]), &PARAMETERS);
    let prompt = match ask.read::<Receipt>().await {
        Ok(prompt) if visit.param("download").is_some() => return Ok(prompt.text.into_response()),
        Ok(prompt) => Ok(prompt),
        // The entered values are shown again, so that they can be corrected.
        Err(Failure::Refused(status, refusal)) if status.as_u16() == 422 => Err(*refusal),
        Err(failure) => return Err(failure),
    };
    layout::render(&PromptView {
        page: Page::of_memory(&visit, format!("{}, prompt", visit.memory()), "Prompt"),
        prompt,
    })
}

fn is_stable(part: &PartBody) -> bool {
    STABLE.contains(&part.name.as_str())
}

/// The tokens of the parts that rarely change.
fn stable_tokens(prompt: &Receipt) -> usize {
    let stable = prompt.parts.iter().filter(|part| is_stable(part));
    stable.map(|part| part.tokens).sum()
}

/// The tokens before a part, and in it, in percent of all.
fn shares(prompt: &Receipt) -> Vec<(f64, f64)> {
    let percent = |tokens: usize| tokens as f64 / prompt.tokens.max(1) as f64 * 100.0;
    let mut before = 0;
    let share = |part: &PartBody| {
        let share = (percent(before), percent(part.tokens));
        before += part.tokens;
        share
    };
    prompt.parts.iter().map(share).collect()
}
