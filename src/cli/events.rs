//! `working-memory events`: the events of a vault.

use super::client::{
    Failure, Feed, FeedEvent, List, Look, Method, Output, PageArgs, Service, ServiceArgs, note, when,
};
use clap::Args;
use serde_json::Value;

/// Arguments of `events`. Without `--memory` all events of the vault are printed, whatever memory the environment names.
#[derive(Debug, Args)]
pub struct Events {
    /// Print new events until interrupted, and reconnect after lost connections.
    #[arg(short, long)]
    follow: bool,
    /// Only these kinds, such as version,update,redacted.
    #[arg(long, value_name = "KINDS")]
    kinds: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Events {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let memory = self.service.memory_option().map(ToString::to_string);
        if self.follow {
            return self.follow(&service, memory).await;
        }
        let call = service
            .of_vault(Method::GET, &["events"])?
            .query("order", "newest")
            .maybe("memory_id", memory.as_ref())
            .maybe("kinds", self.kinds.as_ref());
        let answer = self.page.of(call).send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Value> = answer.json()?;
        let mut out = Output::new();
        for event in &list.items {
            print(&mut out, event);
        }
        out.write()?;
        list.print_rest();
        Ok(())
    }

    /// One line per event, with `--json` its JSON.
    async fn follow(&self, service: &Service, memory: Option<String>) -> Result<(), Failure> {
        let mut feed = Feed::of_vault(service, memory, self.kinds.clone());
        let mut was_open = false;
        loop {
            match feed.next().await {
                FeedEvent::Opened => {
                    if was_open {
                        note("the stream is open again and resumes after the last event");
                    }
                    was_open = true;
                }
                FeedEvent::Happened => {
                    for event in feed.take() {
                        let mut out = Output::new();
                        match serde_json::from_str::<Value>(&event) {
                            Ok(value) if !self.service.is_raw() => print(&mut out, &value),
                            _ => drop(out.text(&event).end()),
                        }
                        out.write()?;
                    }
                }
                FeedEvent::Broken(failure) if !was_open => return Err(failure),
                FeedEvent::Broken(failure) => note(&format!("{}; trying again", failure.sentence)),
            }
        }
    }
}

fn print(out: &mut Output, event: &Value) {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    if text("kind").is_empty() {
        // For example, that events may be missing.
        out.text(&event.to_string()).end();
        return;
    }
    out.styled(Look::Dim, &when(text("time")))
        .text(" ")
        .styled(Look::Strong, text("kind"))
        .text(" ")
        .styled(Look::Id, text("memory_id"));
    if let Some(version) = event["version"].as_i64() {
        out.text(&format!(" version {version}"));
    }
    for (word, name) in [("by", "actor"), ("through", "source"), ("run", "update_id")] {
        if !text(name).is_empty() {
            out.text(&format!(" {word} {}", text(name)));
        }
    }
    for name in ["step", "role", "status"] {
        if let Some(detail) = event["details"][name].as_str() {
            out.text(&format!(" {name} {detail}"));
        }
    }
    out.end();
}
