//! `GET …/memories/{memory_id}`: the newest document of a memory, with its records.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Bar, Id, Markup, When, grouped, size};
use super::super::visit::Visit;
use super::data::{Context, List, Memory, Record, Run, Source};
use super::document::{About, Shown, show as show_document, start};
use super::updates::waiting;
use crate::dashboard::pages::timeline::Slider;
use crate::domain::handoff::Steps;
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

/// Records whose age and evidence are shown; a note is shown if there are more.
const RECORDS: usize = 500;

#[derive(Template)]
#[template(path = "pages/memory.html")]
struct View {
    page: Page,
    memory: String,
    /// What an agent works on, and what it has to wait for.
    steps: Steps,
    waiting: Vec<Run>,
    inbox: String,
    base: String,
    context_id: String,
    version: i64,
    shown_version: String,
    created: When,
    changed: When,
    actor: String,
    source: Source,
    /// The run that made the newest version.
    run: Option<String>,
    size: String,
    tokens: String,
    fill: Bar,
    percent: String,
    counts: [(&'static str, &'static str, i64, i64); 4],
    document: Markup,
    is_empty: bool,
    next: Option<String>,
    starts_at: usize,
    announcement: String,
    since: Option<i64>,
    slider: Slider,
    can_write: bool,
    can_propose: bool,
    can_admin: bool,
}

/// Shows the memory.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    let below = |last| [&place[..], &[last]].concat();
    let (about, context, records, waiting) = futures::join!(
        visit.api.get(&place).read::<Memory>(),
        visit.api.get(&below("context")).read::<Context>(),
        visit
            .api
            .get(&below("records"))
            .query("limit", RECORDS)
            .read::<List<Record>>(),
        waiting(&visit, &vault),
    );
    let (about, context, records) = (about?, context?, records?);
    let mut waiting = waiting?.items;
    waiting.retain(|run| run.memory_id == memory);
    let since: Option<i64> = visit.param("since").and_then(|text| text.parse().ok());
    let from = start(&visit, &context.context)?;
    let Shown { html, next } = show_document(
        &context.context,
        from,
        &About {
            vault: &vault,
            memory: &memory,
            now: visit.now,
            known: records
                .items
                .into_iter()
                .map(|record| (record.record_id.clone(), record))
                .collect(),
            since,
            can_change: visit.may_propose(),
        },
    );
    let base = link::memory(&vault, &memory, &[]);
    let Memory { entry, records } = about;
    let count = |name, kind, of: fn(&super::data::ByKind) -> i64| {
        (name, kind, of(&records.active), of(&records.archived))
    };
    layout::render(&View {
        page: Page::of(&visit, memory.clone())
            .in_memory(&vault, &memory, "Document")
            .live(&vault, Some(&memory)),
        counts: [
            count("Key learnings", "KL", |by| by.kl),
            count("Verbatim context", "VC", |by| by.vc),
            count("Tasks", "T", |by| by.t),
            count("Decisions", "D", |by| by.d),
        ],
        announcement: match since {
            Some(since) if since < context.version => {
                format!(
                    "Version {} by {} was saved; what is new is marked.",
                    context.version, context.actor_id
                )
            }
            _ => String::new(),
        },
        since: since.filter(|since| *since < context.version && *since > 0),
        slider: Slider::new(&vault, &memory, context.version, context.version),
        context_id: context.context_id,
        version: context.version,
        shown_version: grouped(context.version),
        created: When::new(entry.created_at, visit.now),
        changed: When::new(context.creation_time, visit.now),
        actor: context.actor_id,
        source: context.source,
        run: context.update_id,
        size: size(context.bytes),
        tokens: grouped(context.estimated_tokens),
        fill: Bar::new(
            context.percent_of_cap,
            format!("{:.0} percent of the largest size", context.percent_of_cap),
        ),
        percent: format!("{:.1} %", context.percent_of_cap),
        document: html,
        is_empty: context.context.trim().is_empty(),
        next: next.map(|next| link::with_query(&base, &[("from", Some(&next.to_string()))])),
        starts_at: from,
        steps: Steps::of(&context.context),
        waiting,
        inbox: link::vault(&vault, &["inbox"]),
        can_write: visit.may_write(),
        can_propose: visit.may_propose(),
        can_admin: visit.may_admin(),
        base,
        memory,
    })
}

impl View {
    fn id(&self) -> Id<'_> {
        Id(&self.context_id)
    }

    /// What is done now, or else what is left to do.
    fn next_step(&self) -> Option<&String> {
        self.steps.in_progress.first().or(self.steps.remaining.first())
    }

    fn memory_id(&self) -> Id<'_> {
        Id(&self.memory)
    }
}
