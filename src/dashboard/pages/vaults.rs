//! `GET /ui/`: the vaults by id.

use crate::dashboard::failure::Failure;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::{Pager, Visit};
use crate::dashboard::{filters, link};
use crate::http::responses::{List, VaultBody};
use askama::Template;
use axum::response::{Redirect, Response};

#[derive(Template)]
#[template(path = "pages/vaults.html")]
struct View {
    page: Page,
    vaults: Vec<VaultBody>,
    pager: Pager,
}

/// Shows the vaults.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.api.get(&["vaults"]).maybe("cursor", visit.param("cursor"));
    let list: List<VaultBody> = ask.read().await?;
    layout::render(&View {
        page: Page::of(&visit, "Vaults"),
        pager: visit.pager(list.next_cursor.as_deref()),
        vaults: list.items,
    })
}

/// `GET /ui/open`: the vault whose name was entered.
pub(in crate::dashboard) async fn open(visit: Visit) -> Redirect {
    match visit.param("vault") {
        Some(vault) => Redirect::to(&link::vault(vault.trim(), &[])),
        None => Redirect::to("/ui/"),
    }
}
