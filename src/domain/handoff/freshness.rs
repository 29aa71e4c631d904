//! Determines on reading whether a handoff is still valid, and the preface that says so. Reading never changes it.

use super::Window;
use super::line::Subject;
use super::render::{Cited, CitedLine, section_hashes};
use crate::domain::document::written_time;
use crate::domain::history::RecordEvent;
use crate::domain::ids::RecordId;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use strum::IntoStaticStr;
use utoipa::ToSchema;

/// Maximum number of reasons of one kind that are listed individually.
const MAX_REASONS: usize = 50;

/// Maximum number of changed records that are named.
const MAX_NAMED_RECORDS: usize = 20;

/// The current state of the memory in the database.
#[derive(Debug, Clone)]
pub struct CurrentFacts {
    /// The current time.
    pub now: DateTime<Utc>,
    /// The cited records that exist, and whether they are active.
    pub records: BTreeMap<RecordId, bool>,
    /// For each cited record that changed since the handoff's version, the last change.
    pub cited_changes: BTreeMap<RecordId, RecordEvent>,
    /// The first changes of any records since that version.
    pub changes: Vec<RecordEvent>,
    /// Whether there were more changes.
    pub has_more_changes: bool,
    /// The newest version and its text, if it is not the version of the handoff.
    pub newer: Option<(i64, String)>,
}

/// Whether a handoff is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// There is no handoff.
    #[default]
    Missing,
    /// The handoff is outdated in at least one respect.
    Stale,
    /// Nothing has changed since.
    Fresh,
}

impl Status {
    /// The name used in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Why a handoff is stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HandoffReason)]
pub struct Reason {
    /// `cited_record_gone`, `cited_record_archived`, `records_changed`, `section_changed` or `window_passed`.
    pub kind: Cow<'static, str>,
    /// A sentence.
    pub detail: String,
    /// The record it is about.
    #[schema(value_type = Option<String>)]
    pub record_id: Option<RecordId>,
    /// The version that did it.
    pub version: Option<i64>,
}

impl Reason {
    fn of(kind: &'static str, detail: String, version: Option<i64>) -> Self {
        Self {
            kind: kind.into(),
            detail,
            record_id: None,
            version,
        }
    }
}

/// A line that does not hold any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HandoffStaleLine)]
pub struct StaleLine {
    /// Its number in the stored Markdown, from 1.
    #[schema(minimum = 1)]
    pub line: usize,
    /// The line.
    pub text: String,
    /// The citation that does not hold, without its brackets.
    #[schema(example = "KL-3@12")]
    pub citation: String,
    /// As `kind` of a reason; `record_changed` for a record that changed.
    pub reason: Cow<'static, str>,
}

/// Whether a handoff can be relied on, judged when it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = HandoffFreshness)]
pub struct Freshness {
    /// `missing`, `stale` or `fresh`.
    #[schema(value_type = String)]
    pub status: Status,
    /// Why it is stale: cited records that are gone or archived, then changes since, then its age.
    pub reasons: Vec<Reason>,
    /// The lines it is stale in.
    pub stale_lines: Vec<StaleLine>,
}

impl Freshness {
    /// Reports that there is no handoff.
    #[must_use]
    pub fn missing() -> Self {
        Self::default()
    }
}

/// Determines the freshness of a handoff from its Markdown and citations, the version it was made from, its
/// time and its window.
#[must_use]
pub fn freshness(
    markdown: &str,
    citations: &[CitedLine],
    base_version: i64,
    (generated_at, window): (DateTime<Utc>, Window),
    facts: &CurrentFacts,
) -> Freshness {
    let broken = broken_citations(citations, base_version, facts);
    let mut reported = BTreeSet::new();
    let of_records = broken.values().filter(|reason| {
        reason.kind != RECORD_CHANGED && reason.record_id.is_some_and(|id| reported.insert(id))
    });
    let mut reasons: Vec<Reason> = of_records.take(MAX_REASONS).cloned().collect();
    reasons.extend(records_changed(base_version, facts));
    let of_sections = broken.values().filter(|reason| reason.kind == SECTION_CHANGED);
    reasons.extend(of_sections.cloned());
    if facts.now.signed_duration_since(generated_at) > window.length() {
        let detail = format!(
            "it was made at {}, and its window of {} has passed since",
            written_time(generated_at),
            window.in_words()
        );
        reasons.push(Reason::of("window_passed", detail, None));
    }
    Freshness {
        status: if reasons.is_empty() {
            Status::Fresh
        } else {
            Status::Stale
        },
        reasons,
        stale_lines: stale_lines(markdown, citations, &broken),
    }
}

const RECORD_CHANGED: &str = "record_changed";
const SECTION_CHANGED: &str = "section_changed";

/// Citations that are not valid any more, by subject and by whether it was active when cited, and why.
type Broken = BTreeMap<(Subject, bool), Reason>;

fn broken_citations(citations: &[CitedLine], base_version: i64, facts: &CurrentFacts) -> Broken {
    let newer = facts.newer.as_ref();
    let newer = newer.map(|(version, text)| (*version, section_hashes(text)));
    let reason = |cited: &Cited| match cited.citation.subject {
        Subject::Record(id) => record_reason(id, cited.is_active, base_version, facts),
        Subject::Section(section) => {
            let (version, hashes) = newer.as_ref()?;
            (cited.sha256.as_ref() != hashes.get(&section)).then(|| {
                let detail = format!("{} changed since version {base_version}", section.title());
                Reason::of(SECTION_CHANGED, detail, Some(*version))
            })
        }
    };
    let cited = citations.iter().flat_map(|line| &line.cited);
    cited
        .filter_map(|cited| Some(((cited.citation.subject, cited.is_active), reason(cited)?)))
        .collect()
}

fn record_reason(id: RecordId, is_active: bool, base_version: i64, facts: &CurrentFacts) -> Option<Reason> {
    let version = facts.cited_changes.get(&id).map(|event| event.mark.version);
    let (kind, detail) = match (facts.records.get(&id), version) {
        (None, _) => ("cited_record_gone", format!("{id}, which it cites, is gone")),
        (Some(false), _) if is_active => {
            let since = match version {
                Some(version) => format!(", was archived in version {version}"),
                None => format!(" in version {base_version}, is archived"),
            };
            (
                "cited_record_archived",
                format!("{id}, which it cites as active{since}"),
            )
        }
        (Some(_), Some(version)) => (RECORD_CHANGED, format!("{id} changed in version {version}")),
        (Some(_), None) => return None,
    };
    Some(Reason {
        record_id: Some(id),
        ..Reason::of(kind, detail, version)
    })
}

fn records_changed(base_version: i64, facts: &CurrentFacts) -> Option<Reason> {
    let last = facts.changes.last()?;
    let ids: BTreeSet<RecordId> = facts.changes.iter().map(|event| event.id).collect();
    let named: Vec<String> = ids
        .iter()
        .take(MAX_NAMED_RECORDS)
        .map(RecordId::to_string)
        .collect();
    let more = if facts.has_more_changes || ids.len() > MAX_NAMED_RECORDS {
        " and others"
    } else {
        ""
    };
    let detail = format!("since version {base_version} changed: {}{more}", named.join(", "));
    let newest = facts.newer.as_ref().map(|(version, _)| *version);
    Some(Reason::of(
        "records_changed",
        detail,
        newest.or(Some(last.mark.version)),
    ))
}

fn stale_lines(markdown: &str, citations: &[CitedLine], broken: &Broken) -> Vec<StaleLine> {
    if broken.is_empty() {
        return Vec::new();
    }
    let lines: Vec<&str> = markdown.lines().collect();
    let stale = citations.iter().filter_map(|line| {
        let found = line.cited.iter().find_map(|cited| {
            let reason = broken.get(&(cited.citation.subject, cited.is_active))?;
            Some((cited.citation, reason))
        });
        let (citation, reason) = found?;
        Some(StaleLine {
            line: line.line,
            text: (*lines.get(line.line.checked_sub(1)?)?).to_owned(),
            citation: citation.to_string(),
            reason: reason.kind.clone(),
        })
    });
    stale.collect()
}

/// How a preface names the way to refresh; the command line names its own instead.
pub const REFRESH_ROUTE: &str = "`POST …/handoff/refresh`";

/// Maximum number of reasons, and of stale lines, in a preface.
const SHOWN: usize = 20;

/// Renders the freshness as a Markdown quotation followed by an empty line. It contains no current time, so
/// equal states have equal prefaces.
#[must_use]
pub fn preface(freshness: &Freshness, generated_at: DateTime<Utc>, base_version: i64) -> String {
    let mut text = format!(
        "> Freshness: {}. Made at {} from version {base_version}.\n",
        freshness.status.name(),
        written_time(generated_at),
    );
    for reason in freshness.reasons.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "> - {}: {}", reason.kind, reason.detail);
    }
    if freshness.reasons.len() > SHOWN {
        let _ = writeln!(text, "> - and {} more", freshness.reasons.len() - SHOWN);
    }
    if !freshness.stale_lines.is_empty() {
        text.push_str(">\n> Lines that are no longer valid (numbers count from the title below):\n>\n");
        for line in freshness.stale_lines.iter().take(SHOWN) {
            let _ = writeln!(
                text,
                "> - line {}, [{}]: {}",
                line.line, line.citation, line.reason
            );
        }
        if freshness.stale_lines.len() > SHOWN {
            let _ = writeln!(text, "> - and {} more", freshness.stale_lines.len() - SHOWN);
        }
    }
    if freshness.status == Status::Stale {
        text.push_str(&format!(
            ">\n> Refresh it with {REFRESH_ROUTE} before you rely on it.\n"
        ));
    }
    text.push('\n');
    text
}
