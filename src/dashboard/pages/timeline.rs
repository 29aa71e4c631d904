//! `GET …/timeline`: the versions of a memory, newest first, with what each changed in words; and the slider over them.

use crate::dashboard::failure::Failure;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::link;
use crate::dashboard::pages::data::{Context, List, LogEntry, MemoryEntry, Source};
use crate::dashboard::parts::{Escaped, Markup, Pager, When, grouped, size};
use crate::dashboard::visit::Visit;
use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::Path;
use axum::response::Response;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;

#[derive(Template)]
#[template(path = "pages/timeline.html")]
struct View {
    page: Page,
    base: String,
    newest: i64,
    rows: Vec<Row>,
    plot: Markup,
    pager: Pager,
    slider: Slider,
}

struct Row {
    version: i64,
    shown: String,
    made: When,
    actor: String,
    source: Source,
    run: Option<String>,
    size: String,
    log: Option<String>,
    redacted: Option<Redacted>,
    is_new: bool,
    is_first_choice: bool,
    is_second_choice: bool,
}

/// Who redacted a text, when and why.
struct Redacted {
    when: Option<When>,
    by: String,
    reason: String,
}

/// Shows the versions.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    let below = |last| [&place[..], &[last]].concat();
    let (cursor, log_cursor) = (visit.param("cursor"), visit.param("log"));
    let (head, versions, log) = futures::join!(
        visit.api.get(&place).read::<MemoryEntry>(),
        visit
            .api
            .get(&below("contexts"))
            .maybe("cursor", cursor)
            .read::<List<Context>>(),
        visit
            .api
            .get(&below("log"))
            .maybe("cursor", log_cursor)
            .read::<List<LogEntry>>(),
    );
    let (head, versions, log) = (head?, versions?, log?);
    let path = link::memory(&vault, &memory, &["timeline"]);
    let query = [("log", log.next_cursor.as_deref())];
    let pager = Pager::new(&path, &query, cursor, versions.next_cursor.as_deref()).first(path.clone());
    let mut logs: HashMap<i64, String> = log
        .items
        .into_iter()
        .map(|entry| (entry.version, entry.log))
        .collect();
    let since: Option<i64> = visit.param("since").and_then(|text| text.parse().ok());
    let plot = plot(&versions.items);
    let row = |(place, context): (usize, Context)| Row {
        version: context.version,
        shown: grouped(context.version),
        made: When::new(context.creation_time, visit.now),
        actor: context.actor_id,
        source: context.source,
        run: context.update_id,
        size: size(context.bytes),
        log: logs.remove(&context.version).filter(|log| !log.trim().is_empty()),
        redacted: context.redacted.then(|| Redacted {
            when: context.redacted_at.map(|time| When::new(time, visit.now)),
            by: context.redacted_by.unwrap_or_default(),
            reason: context.redaction_reason.unwrap_or_default(),
        }),
        is_new: since.is_some_and(|since| context.version > since),
        is_first_choice: place == 1,
        is_second_choice: place == 0,
    };
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, timeline"))
            .in_memory(&vault, &memory, "Timeline")
            .live(&vault, Some(&memory)),
        base: link::memory(&vault, &memory, &[]),
        newest: head.version,
        plot,
        rows: versions.items.into_iter().enumerate().map(row).collect(),
        pager,
        slider: Slider::new(&vault, &memory, head.version, head.version),
    })
}

/// The sizes of the versions of this page, oldest on the left.
fn plot(versions: &[Context]) -> Markup {
    const WIDTH: usize = 800;
    const HEIGHT: usize = 70;
    let most = versions
        .iter()
        .map(|context| context.bytes)
        .max()
        .unwrap_or(0)
        .max(1);
    let step = WIDTH as f64 / versions.len().max(1) as f64;
    let label = format!("Sizes of {} versions, at most {}", versions.len(), size(most));
    let mut svg = format!(
        r#"<svg class="plot small" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{}">"#,
        Escaped(&label)
    );
    for (place, context) in versions.iter().rev().enumerate() {
        let height = (context.bytes as f64 / most as f64 * (HEIGHT - 4) as f64).max(1.0);
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            r#"<rect class="f0" x="{:.1}" y="{:.1}" width="{:.1}" height="{height:.1}"><title>version {}: {}</title></rect>"#,
            place as f64 * step,
            HEIGHT as f64 - height,
            (step * 0.85).max(0.5),
            context.version,
            size(context.bytes),
        );
    }
    svg.push_str("</svg>");
    Markup(svg)
}

/// Selects a version by its number; without scripts it is an ordinary form.
pub(super) struct Slider {
    action: String,
    version: i64,
    newest: i64,
}

impl Slider {
    pub(super) fn new(vault: &str, memory: &str, version: i64, newest: i64) -> Self {
        Self {
            action: link::memory(vault, memory, &["versions"]),
            version,
            newest,
        }
    }
}

impl fmt::Display for Slider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            action,
            version,
            newest,
        } = self;
        let action = Escaped(action);
        write!(
            f,
            r#"<form class="panel travel" method="get" action="{action}"><label for="slider">Travel to version <output id="slider-value" for="slider">{version}</output> of {newest}</label><input type="range" id="slider" name="version" min="1" max="{newest}" value="{version}" data-follows="slider-value"><button>Show</button></form>"#
        )
    }
}

impl HtmlSafe for Slider {}
