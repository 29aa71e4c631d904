//! `working-memory records`: lists the identified entries of a document, active and archived.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs};
use clap::{Args, ValueEnum};
use serde::Deserialize;

/// Arguments of `records`.
#[derive(Debug, Args)]
pub struct Records {
    /// Only this kind: key learnings, verbatim context, tasks, decisions.
    #[arg(long, value_enum, ignore_case = true)]
    kind: Option<Kind>,
    /// Which ones.
    #[arg(long, value_enum, default_value_t = Status::Active)]
    status: Status,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

/// `--kind`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    #[value(name = "KL")]
    Learning,
    #[value(name = "VC")]
    Verbatim,
    #[value(name = "T")]
    Task,
    #[value(name = "D")]
    Decision,
}

/// `--status`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    Active,
    Archived,
    All,
}

#[derive(Debug, Deserialize)]
struct Record {
    record_id: String,
    label: Option<String>,
    reason: Option<String>,
    content: String,
    created_at: String,
    ended_version: Option<i64>,
    archive_reason: Option<String>,
    superseded_by: Option<String>,
}

fn name(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

impl Records {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_memory(Method::GET, &["records"])?
            .maybe("kind", self.kind.as_ref().and_then(name))
            .maybe("status", name(&self.status));
        let answer = self.page.of(call).send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Record> = answer.json()?;
        let mut out = Output::new();
        for record in &list.items {
            print(&mut out, record);
        }
        out.write()?;
        list.print_rest();
        Ok(())
    }
}

fn print(out: &mut Output, record: &Record) {
    out.styled(Look::Id, &record.record_id)
        .styled(Look::Dim, &format!(" [{}]", record.created_at));
    if let Some(reason) = &record.reason {
        out.text(" because ").text(reason).text(":");
    }
    match &record.label {
        Some(label) => out
            .text(" ")
            .text(label)
            .text(" =>")
            .end()
            .indented("  ", &record.content),
        None => out.text(" ").text(&record.content).end(),
    };
    if let Some(version) = record.ended_version {
        out.styled(Look::Removed, &format!("  archived in version {version}"));
        if let Some(reason) = &record.archive_reason {
            out.text(" because ").text(reason);
        }
        if let Some(id) = &record.superseded_by {
            out.text(", superseded by ").text(id);
        }
        out.end();
    }
}
