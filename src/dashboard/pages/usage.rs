//! `GET /ui/vaults/{vault_id}/usage`: what models cost in the last thirty days or in the selected ones, day by day.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::UsageBody;
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use chrono::NaiveDate;
use std::collections::BTreeMap;

/// The maximum number of rows: a year of days with one model.
const ROWS: usize = 500;

/// The size of the plot, and of the part of it that has bars, in its own units.
const HEIGHT: f64 = 148.0;
const WIDTH: f64 = 740.0;

#[derive(Template)]
#[template(path = "pages/usage.html")]
struct View {
    page: Page,
    usage: UsageBody,
    /// Tokens read and written by day.
    days: BTreeMap<NaiveDate, (u64, u64)>,
}

/// Shows the usage.
pub(in crate::dashboard) async fn show(visit: Visit, Path(vault): Path<String>) -> Result<Response, Failure> {
    let usage: UsageBody = visit
        .api
        .get(&["vaults", &vault, "usage"])
        .maybe("from", visit.param("from"))
        .maybe("to", visit.param("to"))
        .query("limit", ROWS)
        .read()
        .await?;
    let mut days: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for day in &usage.page.items {
        let (input, output) = days.entry(day.day).or_default();
        *input += day.spent.input_tokens;
        *output += day.spent.output_tokens;
    }
    layout::render(&View {
        page: Page::of_vault(&visit, format!("{vault}, usage"), &vault, "Usage").await,
        usage,
        days,
    })
}

impl View {
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
