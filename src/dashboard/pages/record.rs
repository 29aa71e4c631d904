//! `GET …/records/{record_id}`: one record with its reasons and its evidence.

use super::super::failure::Failure;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Id, When};
use super::super::visit::Visit;
use super::data::Record;
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/record.html")]
struct View {
    page: Page,
    base: String,
    kind: &'static str,
    record: Record,
    made: When,
    ended: Option<When>,
    outcome: Option<String>,
}

/// Shows the record.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory, id)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let record: Record = visit
        .api
        .get(&["vaults", &vault, "memories", &memory, "records", &id])
        .read()
        .await?;
    let kind = super::records::KINDS
        .iter()
        .find(|(kind, _)| *kind == record.kind);
    layout::render(&View {
        page: Page::of(&visit, format!("{id} of {memory}"))
            .in_memory(&vault, &memory, "Records")
            .crumb(Crumb::here(id)),
        base: link::memory(&vault, &memory, &[]),
        kind: kind.map_or("Record", |(_, name)| name),
        made: When::new(record.created_at, visit.now),
        ended: record.ended_at.map(|time| When::new(time, visit.now)),
        outcome: record
            .outcome
            .as_ref()
            .filter(|outcome| !outcome.is_null())
            .and_then(|outcome| serde_json::to_string_pretty(outcome).ok()),
        record,
    })
}

impl View {
    fn id(&self) -> Id<'_> {
        Id(&self.record.record_id)
    }
}
