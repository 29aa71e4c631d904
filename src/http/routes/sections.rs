//! `GET M/sections`

use super::contexts::read::X_CONTEXT_VERSION;
use super::lookup::{self, VersionParams};
use crate::domain::document::{self, Headings, Section};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::{MemoryPath, Path};
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::ContextRef;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A heading and what stands under it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Section)]
pub(crate) struct SectionBody {
    /// The heading's text.
    title: String,
    /// How many `#` it has.
    #[schema(minimum = 1, maximum = 6)]
    level: u8,
    /// The titles that lead to it, with `/` between them, as `section` of GetLatestContext takes it.
    #[schema(example = "Facts/Network")]
    path: String,
    /// Where its line begins, in bytes of the document.
    #[schema(minimum = 0)]
    start: usize,
    /// Where the next heading of its level or above begins, or the document ends.
    #[schema(minimum = 0)]
    end: usize,
    /// Whether it is, or stands in, a section that the service maintains; every other one is free.
    managed: bool,
    /// The short name of that managed section; null for a free one.
    #[schema(required)]
    section: Option<&'static str>,
}

impl SectionBody {
    fn of(headings: &Headings, heading: &Section) -> Self {
        Self {
            title: heading.title.clone(),
            level: heading.level,
            path: headings.path(heading),
            start: heading.range.start,
            end: heading.range.end,
            managed: heading.managed.is_some(),
            section: heading.managed.map(document::ManagedSection::name),
        }
    }
}

/// List the sections
///
/// The headings of all levels, in the order of the document, of the newest version or of another one. All pages
/// are about the version of the first one.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/sections",
    operation_id = "ListSections",
    tag = "contexts",
    params(VersionParams, Page),
    responses(
        (status = 200, description = "One page.", body = List<SectionBody>, headers(("X-Context-Version" = i64))),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn sections(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(params): Query<(VersionParams, Page)>,
) -> Result<Response, Problem> {
    let (VersionParams { reference }, page) = params;
    let of = reference.as_ref().map(ContextRef::to_string).unwrap_or_default();
    let name = format!("sections/{vault_id}/{memory_id}/{of}");
    // The version too: all pages show the same one even if the document changes meanwhile.
    let after = page.after::<(i64, usize)>(&name)?;
    let reference = after
        .as_ref()
        .map(|(version, _)| ContextRef::Version(*version))
        .or(reference);
    let context = lookup::version(&state, &vault_id, &memory_id, reference.as_ref()).await?;
    let version = context.metadata.version;
    let headings = document::headings(&context.text);
    let is_after = |heading: &&Section| {
        after
            .as_ref()
            .is_none_or(|(_, start)| heading.range.start > *start)
    };
    let shown = usize::try_from(page.fetch()).unwrap_or(usize::MAX);
    let entries: Vec<_> = headings.all().iter().filter(is_after).take(shown).collect();
    let key = |heading: &&Section| (version, heading.range.start);
    let list = page.of(&name, entries, key, |heading| SectionBody::of(&headings, heading));
    Ok(([(X_CONTEXT_VERSION, version)], Json(list)).into_response())
}
