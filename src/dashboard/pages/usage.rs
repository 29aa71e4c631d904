//! `GET /ui/vaults/{vault_id}/usage`: what models cost, day by day.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Bar, Markup, grouped, took};
use super::super::visit::Visit;
use super::data::{Spent, Usage, UsageOfDay};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of rows: a year of days with one model.
const ROWS: usize = 500;

#[derive(Template)]
#[template(path = "pages/usage.html")]
struct View {
    page: Page,
    path: String,
    vault: String,
    from: String,
    to: String,
    totals: Row,
    rows: Vec<Row>,
    plot: Markup,
    today: String,
    limit: Option<(Bar, String)>,
    currency: String,
    without_price: Vec<String>,
    is_cut: bool,
}

struct Row {
    day: String,
    model: String,
    runs: String,
    calls: String,
    failures: String,
    input: String,
    cached: String,
    output: String,
    took: String,
    cost: String,
}

impl Row {
    fn of(day: String, model: String, spent: &Spent) -> Self {
        Self {
            day,
            model,
            runs: grouped(spent.runs),
            calls: grouped(spent.calls),
            failures: grouped(spent.failures),
            input: grouped(spent.input_tokens),
            cached: grouped(spent.cached_tokens),
            output: grouped(spent.output_tokens),
            took: took(spent.millis),
            cost: spent.cost.map(|cost| format!("{cost:.4}")).unwrap_or_default(),
        }
    }
}

/// Shows the usage of the last thirty days or of the selected ones.
pub(in crate::dashboard) async fn show(visit: Visit, Path(vault): Path<String>) -> Result<Response, Failure> {
    let usage: Usage = visit
        .api
        .get(&["vaults", &vault, "usage"])
        .maybe("from", visit.param("from"))
        .maybe("to", visit.param("to"))
        .query("limit", ROWS)
        .read()
        .await?;
    let limit = usage.tokens_per_day.map(|limit| {
        let percent = usage.tokens_today as f64 / limit.max(1) as f64 * 100.0;
        (
            Bar::new(percent, format!("{percent:.0} percent of today's tokens")),
            grouped(limit),
        )
    });
    layout::render(&View {
        page: Page::of_vault(&visit, format!("{vault}, usage"), &vault, "Usage").await,
        path: link::vault(&vault, &["usage"]),
        plot: plot(&usage.items),
        totals: Row::of(String::new(), String::new(), &usage.totals),
        rows: usage
            .items
            .into_iter()
            .map(|day| Row::of(day.day, day.model, &day.spent))
            .collect(),
        from: usage.from,
        to: usage.to,
        today: grouped(usage.tokens_today),
        limit,
        currency: usage.currency,
        without_price: usage.without_price,
        is_cut: usage.next_cursor.is_some(),
        vault,
    })
}

/// Input and output tokens by day, output on top. Writing to a string cannot fail, so the result is ignored.
fn plot(days: &[UsageOfDay]) -> Markup {
    const WIDTH: f64 = 800.0;
    const HEIGHT: f64 = 180.0;
    const LEFT: f64 = 60.0;
    const FOOT: f64 = 22.0;
    // If no model reports its tokens, there is nothing to plot.
    if days
        .iter()
        .all(|day| day.spent.input_tokens + day.spent.output_tokens == 0)
    {
        return Markup(String::new());
    }
    let mut by_day: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for day in days {
        let sum = by_day.entry(&day.day).or_default();
        sum.0 += day.spent.input_tokens;
        sum.1 += day.spent.output_tokens;
    }
    let most = by_day
        .values()
        .map(|(input, output)| input + output)
        .max()
        .unwrap_or(0)
        .max(1);
    let mut svg = format!(
        r#"<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Tokens by day, at most {}; the table below tells them">"#,
        grouped(most)
    );
    let room = HEIGHT - FOOT - 10.0;
    for part in 0..=2 {
        let y = 10.0 + room * f64::from(part) / 2.0;
        let value = most - most * i64::from(part) / 2;
        let _ = write!(
            svg,
            r#"<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1}" y2="{y:.1}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 6.0,
            y + 4.0,
            grouped(value)
        );
    }
    let step = (WIDTH - LEFT) / by_day.len().max(1) as f64;
    let width = (step - 2.0).clamp(1.0, 40.0);
    let every = by_day.len().div_ceil(8).max(1);
    for (place, (day, (input, output))) in by_day.iter().enumerate() {
        let x = LEFT + step * place as f64 + 1.0;
        let tall = |tokens: i64| tokens as f64 / most as f64 * room;
        let (input_height, output_height) = (tall(*input), tall(*output));
        let base = 10.0 + room;
        let _ = write!(
            svg,
            r#"<g><title>{day}: {} in, {} out</title><rect class="f0" x="{x:.1}" y="{:.1}" width="{width:.1}" height="{input_height:.1}"/><rect class="f2" x="{x:.1}" y="{:.1}" width="{width:.1}" height="{output_height:.1}"/></g>"#,
            grouped(*input),
            grouped(*output),
            base - input_height,
            base - input_height - output_height,
        );
        if place % every == 0 {
            let _ = write!(
                svg,
                r#"<text x="{x:.1}" y="{:.1}">{}</text>"#,
                HEIGHT - 6.0,
                &day[5.min(day.len())..]
            );
        }
    }
    svg.push_str("</svg>");
    Markup(svg)
}
