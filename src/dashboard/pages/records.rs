//! `GET …/records`: the records of a memory, active and archived.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Pager, When};
use super::super::visit::Visit;
use super::data::{List, Record, short};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

/// The kinds of records, and their names.
pub(super) const KINDS: [(&str, &str); 4] = [
    ("KL", "Key learnings"),
    ("VC", "Verbatim context"),
    ("T", "Tasks"),
    ("D", "Decisions"),
];

const STATUSES: [&str; 3] = ["active", "archived", "all"];

#[derive(Template)]
#[template(path = "pages/records.html")]
struct View {
    page: Page,
    path: String,
    base: String,
    kinds: Vec<Choice>,
    statuses: Vec<Choice>,
    rows: Vec<Row>,
    pager: Pager,
    can_propose: bool,
}

struct Choice {
    value: &'static str,
    label: &'static str,
    is_chosen: bool,
}

struct Row {
    id: String,
    text: String,
    reason: String,
    made: When,
    by: String,
    version: i64,
    ended: Option<Ended>,
    evidence: usize,
    failed: bool,
}

struct Ended {
    when: Option<When>,
    by: String,
    reason: Option<String>,
    superseded_by: Option<String>,
}

/// Shows the records, of one kind or all.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let (kind, status, cursor) = (visit.param("kind"), visit.param("status"), visit.param("cursor"));
    let list: List<Record> = visit
        .api
        .get(&["vaults", &vault, "memories", &memory, "records"])
        .maybe("kind", kind)
        .maybe("status", status)
        .maybe("cursor", cursor)
        .read()
        .await?;
    let path = link::memory(&vault, &memory, &["records"]);
    let kinds = std::iter::once(("", "All kinds")).chain(KINDS);
    let choice = |chosen: Option<&str>, (value, label): (&'static str, &'static str)| Choice {
        value,
        label,
        is_chosen: chosen.unwrap_or_default() == value,
    };
    let row = |record: Record| Row {
        text: match &record.label {
            Some(label) => format!("{label} => {}", short(&record.content)),
            None => short(&record.content),
        },
        reason: record.reason.as_deref().map(short).unwrap_or_default(),
        made: When::new(record.created_at, visit.now),
        by: record.created_by,
        version: record.created_version,
        ended: (record.status == "archived").then(|| Ended {
            when: record.ended_at.map(|time| When::new(time, visit.now)),
            by: record.ended_by.unwrap_or_default(),
            reason: record.archive_reason,
            superseded_by: record.superseded_by,
        }),
        evidence: record.evidence.len(),
        failed: record.failed,
        id: record.record_id,
    };
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, records"))
            .in_memory(&vault, &memory, "Records")
            .live(&vault, Some(&memory)),
        kinds: kinds.map(|one| choice(kind, one)).collect(),
        statuses: STATUSES
            .map(|name| choice(Some(status.unwrap_or("active")), (name, name)))
            .into(),
        rows: list.items.into_iter().map(row).collect(),
        pager: Pager::new(
            &path,
            &[("kind", kind), ("status", status)],
            cursor,
            list.next_cursor.as_deref(),
        ),
        can_propose: visit.may_propose(),
        base: link::memory(&vault, &memory, &[]),
        path,
    })
}
