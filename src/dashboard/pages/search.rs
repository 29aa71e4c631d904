//! `GET /ui/vaults/{vault_id}/search`: searches the newest documents of a vault; `GET /ui/search`: of all vaults of the visitor.

use crate::dashboard::failure::{Failure, Refusal};
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::dashboard::{filters, link};
use crate::http::responses::{List, SearchBody};
use crate::storage::memories::VaultSummary;
use askama::Template;
use axum::response::Response;
use futures::{StreamExt, TryStreamExt};

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
    /// What was found, by vault.
    groups: Vec<(String, List<SearchBody>)>,
    /// Where the next page begins.
    next: Option<String>,
    /// Why no search can have these words.
    refusal: Option<Refusal>,
}

/// Searches one vault.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let vault = visit.vault();
    let groups = match visit.param("q") {
        Some(_) => found(&visit, vault, ROWS, visit.param("cursor"))
            .await
            .map(|list| vec![(vault.to_owned(), list)]),
        None => {
            // A vault that the key does not reach has no search page.
            let list = visit.of_vault(&["memories"]).query("limit", 1);
            list.done().await.map(|_| Vec::new())
        }
    };
    let next = groups.as_ref().ok().and_then(|groups| groups.first());
    let next = next.and_then(|(_, list)| list.next_cursor.clone());
    view(
        Page::of_vault(&visit, format!("Search {vault}"), "Search").await,
        groups,
        next,
    )
}

/// Searches every vault that the visitor may read, some of them per page.
pub(in crate::dashboard) async fn everywhere(visit: Visit) -> Result<Response, Failure> {
    let mut vaults = List {
        items: Vec::new(),
        next_cursor: None,
    };
    if visit.param("q").is_some() {
        let ask = visit.api.get(&["vaults"]).query("limit", VAULTS);
        vaults = ask.maybe("cursor", visit.param("cursor")).read().await?;
    }
    let search = async |vault: VaultSummary| {
        let list = found(&visit, vault.vault_id.as_str(), ROWS_PER_VAULT, None).await?;
        Ok((vault.vault_id.to_string(), list))
    };
    let searches: Vec<_> = vaults.items.into_iter().map(search).collect();
    let groups = futures::stream::iter(searches).buffered(AT_ONCE).try_collect();
    let groups = groups.await;
    let page = Page::of(&visit, "Search").here("Search");
    view(page, groups, vaults.next_cursor)
}

/// Searches a vault.
async fn found(
    visit: &Visit,
    vault: &str,
    limit: usize,
    cursor: Option<&str>,
) -> Result<List<SearchBody>, Failure> {
    let ask = visit.api.get(&["vaults", vault, "search"]).query("limit", limit);
    let ask = ask.maybe("q", visit.param("q")).maybe("cursor", cursor);
    ask.read().await
}

/// The page. Words that no search can have are not a failure of it.
fn view(
    page: Page,
    groups: Result<Vec<(String, List<SearchBody>)>, Failure>,
    next: Option<String>,
) -> Result<Response, Failure> {
    let (groups, refusal) = match groups {
        Ok(groups) => (groups, None),
        Err(Failure::Refused(status, refusal)) if status.as_u16() == 422 && !page.param("q").is_empty() => {
            (Vec::new(), Some(*refusal))
        }
        Err(failure) => return Err(failure),
    };
    layout::render(&View {
        page,
        groups,
        next,
        refusal,
    })
}

impl View {
    /// The same search at another path.
    fn at(&self, path: &str) -> String {
        link::with_query(path, &[("q", Some(self.page.param("q")))])
    }

    fn is_empty(&self) -> bool {
        self.groups.iter().all(|(_, list)| list.items.is_empty())
    }
}
