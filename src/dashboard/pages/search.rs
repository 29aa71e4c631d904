//! `GET /ui/vaults/{vault_id}/search`: searches the newest documents of a vault.

use super::super::failure::{Failure, Refusal};
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Markup, Pager, When};
use super::super::visit::Visit;
use super::data::{Found, List};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/search.html")]
struct View {
    page: Page,
    path: String,
    vault: String,
    q: String,
    rows: Vec<Row>,
    pager: Option<Pager>,
    refusal: Option<Refusal>,
}

struct Row {
    memory: String,
    href: String,
    version: i64,
    made: When,
    /// Escaped by the service, with the search words marked.
    extract: Markup,
}

/// Shows the results.
pub(in crate::dashboard) async fn show(visit: Visit, Path(vault): Path<String>) -> Result<Response, Failure> {
    let path = link::vault(&vault, &["search"]);
    let (q, cursor) = (visit.param("q"), visit.param("cursor"));
    let (mut rows, mut pager, mut refusal) = (Vec::new(), None, None);
    let ask = visit
        .api
        .get(&["vaults", &vault, "search"])
        .query("limit", 20)
        .maybe("cursor", cursor);
    if let Some(q) = q {
        match ask.query("q", q).read::<List<Found>>().await {
            Ok(list) => {
                pager = Some(Pager::new(
                    &path,
                    &[("q", Some(q))],
                    cursor,
                    list.next_cursor.as_deref(),
                ));
                rows = list
                    .items
                    .into_iter()
                    .map(|found| row(&vault, found, &visit))
                    .collect();
            }
            Err(Failure::Refused(status, refused)) if status.as_u16() == 422 => refusal = Some(*refused),
            Err(failure) => return Err(failure),
        }
    } else {
        // A vault that the key does not reach has no search page.
        let list = visit.api.get(&["vaults", &vault, "memories"]).query("limit", 1);
        list.done().await?;
    }
    layout::render(&View {
        page: Page::of(&visit, format!("Search {vault}")).in_vault(&vault, "Search"),
        q: q.unwrap_or_default().to_owned(),
        path,
        vault,
        rows,
        pager,
        refusal,
    })
}

fn row(vault: &str, found: Found, visit: &Visit) -> Row {
    Row {
        href: link::memory(vault, &found.memory_id, &[]),
        memory: found.memory_id,
        version: found.version,
        made: When::new(found.creation_time, visit.now),
        extract: Markup(found.extract),
    }
}
