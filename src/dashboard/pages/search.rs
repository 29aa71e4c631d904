//! `GET /ui/vaults/{vault_id}/search`: searches the newest documents of a vault; `GET /ui/search`: of all vaults of the visitor.

use super::super::failure::{Failure, Refusal};
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Markup, Pager, When};
use super::super::visit::Visit;
use super::data::{Found, List, Vault};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use futures::StreamExt;

/// Results of one vault, where only one is searched, and where all of them are.
const ROWS: usize = 20;
const ROWS_PER_VAULT: usize = 5;

/// Vaults that are searched for one page, and how many of them at the same time.
const VAULTS: usize = 50;
const AT_ONCE: usize = 4;

#[derive(Template)]
#[template(path = "pages/search.html")]
struct View {
    page: Page,
    path: String,
    /// `None`: all vaults.
    vault: Option<String>,
    q: String,
    groups: Vec<Group>,
    pager: Option<Pager>,
    refusal: Option<Refusal>,
}

/// What was found in one vault.
struct Group {
    vault: String,
    rows: Vec<Row>,
    /// The search of this vault, if it has more.
    more: Option<String>,
}

struct Row {
    memory: String,
    href: String,
    version: i64,
    made: When,
    /// Escaped by the service, with the search words marked.
    extract: Markup,
}

/// Searches one vault.
pub(in crate::dashboard) async fn show(visit: Visit, Path(vault): Path<String>) -> Result<Response, Failure> {
    let path = link::vault(&vault, &["search"]);
    let (q, cursor) = (visit.param("q"), visit.param("cursor"));
    let (mut groups, mut pager, mut refusal) = (Vec::new(), None, None);
    if let Some(q) = q {
        match found(&visit, &vault, q, ROWS, cursor).await? {
            Ok((group, next)) => {
                pager = Some(Pager::new(&path, &[("q", Some(q))], cursor, next.as_deref()));
                groups.push(group);
            }
            Err(refused) => refusal = Some(refused),
        }
    } else {
        // A vault that the key does not reach has no search page.
        let list = visit.api.get(&["vaults", &vault, "memories"]).query("limit", 1);
        list.done().await?;
    }
    layout::render(&View {
        page: Page::of_vault(&visit, format!("Search {vault}"), &vault, "Search").await,
        q: q.unwrap_or_default().to_owned(),
        path,
        vault: Some(vault),
        groups,
        pager,
        refusal,
    })
}

/// Searches every vault that the visitor may read, some of them per page.
pub(in crate::dashboard) async fn everywhere(visit: Visit) -> Result<Response, Failure> {
    const PATH: &str = "/ui/search";
    let (q, cursor) = (visit.param("q"), visit.param("cursor"));
    let (mut groups, mut pager, mut refusal) = (Vec::new(), None, None);
    if let Some(q) = q {
        let vaults = visit
            .api
            .get(&["vaults"])
            .query("limit", VAULTS)
            .maybe("cursor", cursor);
        let vaults: List<Vault> = vaults.read().await?;
        let search = |vault| found(&visit, vault, q, ROWS_PER_VAULT, None);
        let searches: Vec<_> = vaults.items.iter().map(|vault| search(&vault.vault_id)).collect();
        let mut searches = futures::stream::iter(searches).buffered(AT_ONCE);
        while let Some(answer) = searches.next().await {
            match answer? {
                Ok((group, _)) => groups.push(group),
                Err(refused) => refusal = Some(refused),
            }
        }
        pager = Some(Pager::new(
            PATH,
            &[("q", Some(q))],
            cursor,
            vaults.next_cursor.as_deref(),
        ));
    }
    layout::render(&View {
        page: Page::of(&visit, "Search").crumb(Crumb::here("Search")),
        q: q.unwrap_or_default().to_owned(),
        path: PATH.to_owned(),
        vault: None,
        groups,
        pager,
        refusal,
    })
}

/// Searches a vault. Words that no search can have are not a failure of the page.
async fn found(
    visit: &Visit,
    vault: &str,
    q: &str,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Result<(Group, Option<String>), Refusal>, Failure> {
    let ask = visit.api.get(&["vaults", vault, "search"]).query("limit", limit);
    let list: List<Found> = match ask.maybe("cursor", cursor).query("q", q).read().await {
        Ok(list) => list,
        Err(Failure::Refused(status, refused)) if status.as_u16() == 422 => return Ok(Err(*refused)),
        Err(failure) => return Err(failure),
    };
    let row = |found: Found| Row {
        href: link::memory(vault, &found.memory_id, &[]),
        memory: found.memory_id,
        version: found.version,
        made: When::new(found.creation_time, visit.now),
        extract: Markup(found.extract),
    };
    let here = link::vault(vault, &["search"]);
    let group = Group {
        vault: vault.to_owned(),
        rows: list.items.into_iter().map(row).collect(),
        more: list
            .next_cursor
            .as_ref()
            .map(|_| link::with_query(&here, &[("q", Some(q))])),
    };
    Ok(Ok((group, list.next_cursor)))
}

impl View {
    fn everywhere(&self) -> String {
        link::with_query("/ui/search", &[("q", Some(&self.q))])
    }

    fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.rows.is_empty())
    }
}
