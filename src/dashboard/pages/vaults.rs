//! `GET /ui/`: the vaults.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Pager, When, grouped};
use super::super::visit::Visit;
use super::data::{List, Vault};
use askama::Template;
use axum::response::{Redirect, Response};

#[derive(Template)]
#[template(path = "pages/vaults.html")]
struct View {
    page: Page,
    vaults: Vec<Row>,
    pager: Pager,
}

struct Row {
    id: String,
    href: String,
    memories: String,
    changed: When,
}

/// Shows the vaults by id.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let cursor = visit.param("cursor");
    let list: List<Vault> = visit.api.get(&["vaults"]).maybe("cursor", cursor).read().await?;
    let row = |vault: Vault| Row {
        href: link::vault(&vault.vault_id, &[]),
        id: vault.vault_id,
        memories: grouped(vault.memories),
        changed: When::new(vault.changed_at, visit.now),
    };
    layout::render(&View {
        page: Page::of(&visit, "Vaults"),
        pager: Pager::new("/ui/", &[], cursor, list.next_cursor.as_deref()),
        vaults: list.items.into_iter().map(row).collect(),
    })
}

/// `GET /ui/open`: the vault whose name was entered.
pub(in crate::dashboard) async fn open(visit: Visit) -> Redirect {
    match visit.param("vault") {
        Some(vault) => Redirect::to(&link::vault(vault.trim(), &[])),
        None => Redirect::to("/ui/"),
    }
}
