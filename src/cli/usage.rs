//! `working-memory usage`: the vault's storage with its limits, and what its models cost.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs, Table};
use clap::Args;
use serde::Deserialize;

/// Arguments of `usage`.
#[derive(Debug, Args)]
pub struct Usage {
    /// The first day, such as 2026-11-01 (UTC); thirty days without it.
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// The last day, included; today without it.
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Body {
    from: String,
    to: String,
    currency: String,
    totals: Spent,
    without_price: Vec<String>,
    tokens_today: u64,
    tokens_per_day: Option<u64>,
    memories: u64,
    memories_limit: Option<u64>,
    bytes: u64,
    bytes_limit: Option<u64>,
    #[serde(flatten)]
    days: List<Day>,
}

#[derive(Debug, Deserialize)]
struct Spent {
    calls: u64,
    failures: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Day {
    day: String,
    model: String,
    #[serde(flatten)]
    spent: Spent,
}

impl Usage {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_vault(Method::GET, &["usage"])?
            .maybe("from", self.from.as_ref())
            .maybe("to", self.to.as_ref());
        let answer = self.page.of(call).send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let body: Body = answer.json()?;
        let mut out = Output::new();
        let mut line = |name: &str, value: &str| {
            out.styled(Look::Dim, &format!("{name:<14}")).text(value).end();
        };
        line("memories", &of_limit(body.memories, body.memories_limit));
        line("bytes", &of_limit(body.bytes, body.bytes_limit));
        line("tokens today", &of_limit(body.tokens_today, body.tokens_per_day));
        let totals = &body.totals;
        let spent = format!(
            "{} calls ({} failed), {} tokens read, {} written{}",
            totals.calls,
            totals.failures,
            totals.input_tokens,
            totals.output_tokens,
            cost(totals.cost, &body.currency)
        );
        line(&format!("since {}", body.from), "");
        line(&format!("to {}", body.to), &spent);
        if !body.without_price.is_empty() {
            line("no price of", &body.without_price.join(", "));
        }
        out.end();
        let table = Table::new()
            .column("DAY")
            .id("MODEL")
            .number("CALLS")
            .number("FAILED");
        let mut table = table.number("READ").number("WRITTEN").number("COST");
        for Day { day, model, spent } in &body.days.items {
            table.row([
                day.clone(),
                model.clone(),
                spent.calls.to_string(),
                spent.failures.to_string(),
                spent.input_tokens.to_string(),
                spent.output_tokens.to_string(),
                spent
                    .cost
                    .map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4}")),
            ]);
        }
        table.print(&mut out, "no model was called");
        out.write()?;
        body.days.print_rest();
        Ok(())
    }
}

fn of_limit(number: u64, limit: Option<u64>) -> String {
    match limit {
        Some(limit) => format!("{number} of {limit}"),
        None => format!("{number}, no limit"),
    }
}

fn cost(cost: Option<f64>, currency: &str) -> String {
    cost.map(|cost| format!(", {cost:.4} {currency}"))
        .unwrap_or_default()
}
