//! The service and its vaults: `GET /ui/`, the vaults by id; `GET /ui/vaults/{vault_id}`, the memories of a vault, sorted and filtered;
//! `…/usage`, what models cost in the last thirty days or in the selected ones, day by day; `GET /ui/service`, the state of the
//! service, for operators: visitors who may see all vaults.

use crate::dashboard::failure::{Failure, Refusal};
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::dashboard::{filters, link};
use crate::http::responses::{List, UsageBody};
use crate::storage::database::server::ServerState;
use crate::storage::memories::{MemorySummary, VaultSummary};
use crate::storage::updates::queue::QueueState;
use askama::Template;
use axum::http::{Method, StatusCode};
use axum::response::{Redirect, Response};
use chrono::NaiveDate;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "pages/vaults.html")]
struct VaultsView {
    page: Page,
    list: List<VaultSummary>,
}

/// Shows the vaults.
pub(in crate::dashboard) async fn vaults(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.api.get(&["vaults"]).maybe("cursor", visit.param("cursor"));
    layout::render(&VaultsView {
        page: Page::of(&visit, "Vaults"),
        list: ask.read().await?,
    })
}

/// `GET /ui/open`: the vault whose name was entered.
pub(in crate::dashboard) async fn open_vault(visit: Visit) -> Redirect {
    match visit.param("vault") {
        Some(vault) => Redirect::to(&link::vault(vault.trim(), &[])),
        None => Redirect::to("/ui/"),
    }
}

/// The sort orders: the route's name, the column's heading, its `aria-sort`.
const SORTS: [(&str, &str, &str); 3] = [
    ("memory_id", "Memory", "ascending"),
    ("bytes", "Size", "descending"),
    ("changed_at", "Last change", "descending"),
];

#[derive(Template)]
#[template(path = "pages/memories.html")]
struct MemoriesView {
    page: Page,
    sort: String,
    columns: Vec<Column>,
    list: List<MemorySummary>,
    /// The largest document, in bytes.
    cap: usize,
}

struct Column {
    label: &'static str,
    href: String,
    sorted: Option<&'static str>,
    is_number: bool,
}

/// Shows them.
pub(in crate::dashboard) async fn memories(visit: Visit) -> Result<Response, Failure> {
    let sort = visit.param("sort").unwrap_or("memory_id");
    let ask = visit.pass(visit.of_vault(&["memories"]), &["prefix", "cursor"]);
    let column = |(name, label, order): (&'static str, &'static str, &'static str)| Column {
        label,
        href: visit.with(&[("sort", Some(name)), ("cursor", None)]),
        sorted: (name == sort).then_some(order),
        is_number: name == "bytes",
    };
    layout::render(&MemoriesView {
        page: Page::of_vault(&visit, visit.vault(), "Memories").await,
        columns: SORTS.map(column).into(),
        list: ask.query("sort", sort).read().await?,
        sort: sort.to_owned(),
        cap: visit.services.context_bytes,
    })
}

/// `GET /ui/vaults/{vault_id}/open`: the memory whose name was entered, or the form for its first document.
pub(in crate::dashboard) async fn open_memory(visit: Visit) -> Redirect {
    Redirect::to(&match visit.param("memory") {
        Some(memory) => link::memory(visit.vault(), memory.trim(), &["edit"]),
        None => link::vault(visit.vault(), &[]),
    })
}

/// The maximum number of rows: a year of days with one model.
const ROWS: usize = 500;

/// The size of the plot, and of the part of it that has bars, in its own units.
const HEIGHT: f64 = 148.0;
const WIDTH: f64 = 740.0;

#[derive(Template)]
#[template(path = "pages/usage.html")]
struct UsageView {
    page: Page,
    usage: UsageBody,
    /// Tokens read and written by day.
    days: BTreeMap<NaiveDate, (u64, u64)>,
}

/// Shows the usage.
pub(in crate::dashboard) async fn usage(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.pass(visit.of_vault(&["usage"]), &["from", "to"]);
    let usage: UsageBody = ask.query("limit", ROWS).read().await?;
    let mut days: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for day in &usage.page.items {
        let (input, output) = days.entry(day.day).or_default();
        *input += day.spent.input_tokens;
        *output += day.spent.output_tokens;
    }
    layout::render(&UsageView {
        page: Page::of_vault(&visit, format!("{}, usage", visit.vault()), "Usage").await,
        usage,
        days,
    })
}

impl UsageView {
    /// The tokens of the day with most of them. If no model reports its tokens, there is nothing to plot.
    fn most(&self) -> u64 {
        let sums = self.days.values().map(|(input, output)| input + output);
        sums.max().unwrap_or(0)
    }

    /// The distance of two bars.
    fn step(&self) -> f64 {
        WIDTH / self.days.len().max(1) as f64
    }

    /// The height of a bar.
    fn tall(&self, tokens: &u64) -> f64 {
        *tokens as f64 / self.most().max(1) as f64 * HEIGHT
    }
}

#[derive(Template)]
#[template(path = "pages/service.html")]
struct ServiceView {
    page: Page,
    /// Why it is not ready.
    not_ready: Option<Refusal>,
    database: Option<ServerState>,
    queue: Option<QueueState>,
}

/// Shows the state.
pub(in crate::dashboard) async fn service(visit: Visit) -> Result<Response, Failure> {
    if !layout::runs_the_service(&visit.caller) {
        return Err(Failure::with_status(
            StatusCode::FORBIDDEN,
            "The state of the service is shown to the role admin of every vault.",
        ));
    }
    let storage = &visit.services.storage;
    let (ready, database, queue) = futures::join!(
        visit.api.ask_root(Method::GET, &["readyz"]).answer(),
        storage.server_state(),
        storage.queue_state(),
    );
    let ready = ready?;
    layout::render(&ServiceView {
        page: Page::of(&visit, "Service").here("Service"),
        not_ready: (!ready.status.is_success()).then(|| Refusal::read(&ready.body)),
        database: database.ok(),
        queue: queue.ok(),
    })
}
