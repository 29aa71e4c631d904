//! The source of a line in a handoff: `[KL-3@12]` cites a record and a version that contains it, `[Current
//! Progress@12]` a section without records and the version it was read from.

use crate::domain::document::ManagedSection;
use crate::domain::ids::RecordId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A record or a section in a specific version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Citation {
    /// What is cited.
    pub subject: Subject,
    /// A version that contains it.
    pub version: i64,
}

/// What a citation refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A record.
    Record(RecordId),
    /// `Current Progress` or `Active Context`: sections without records.
    Section(ManagedSection),
}

impl Citation {
    /// Cites a record in a version.
    #[must_use]
    pub fn record(id: RecordId, version: i64) -> Self {
        Self {
            subject: Subject::Record(id),
            version,
        }
    }

    /// Cites a section in a version.
    #[must_use]
    pub fn section(section: ManagedSection, version: i64) -> Self {
        Self {
            subject: Subject::Section(section),
            version,
        }
    }

    /// The id of the cited record; `None` for a section.
    #[must_use]
    pub fn record_id(&self) -> Option<RecordId> {
        match self.subject {
            Subject::Record(id) => Some(id),
            Subject::Section(_) => None,
        }
    }
}

impl fmt::Display for Citation {
    /// Formats without brackets: `KL-3@12`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subject {
            Subject::Record(id) => write!(f, "{id}@{}", self.version),
            Subject::Section(section) => write!(f, "{}@{}", section.title(), self.version),
        }
    }
}

impl From<Citation> for String {
    fn from(citation: Citation) -> Self {
        citation.to_string()
    }
}

/// The text is not a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a record or section with a version, as in KL-3@12")]
pub struct NoCitation;

impl TryFrom<String> for Citation {
    type Error = NoCitation;

    fn try_from(text: String) -> Result<Self, NoCitation> {
        text.parse()
    }
}

impl FromStr for Citation {
    type Err = NoCitation;

    fn from_str(text: &str) -> Result<Self, NoCitation> {
        let (subject, version) = text.rsplit_once('@').ok_or(NoCitation)?;
        let plain = version.bytes().all(|b| b.is_ascii_digit()) && !version.starts_with('0');
        let version = version.parse().ok().filter(|_| plain).ok_or(NoCitation)?;
        let subject = match subject.parse() {
            Ok(id) => Subject::Record(id),
            Err(_) => ManagedSection::ALL
                .into_iter()
                .find(|section| section.title() == subject && section.record_kind().is_none())
                .map(Subject::Section)
                .ok_or(NoCitation)?,
        };
        Ok(Self { subject, version })
    }
}

/// Splits a line into its text without citations, and the citations in order of first occurrence, without
/// duplicates. One pair of brackets may contain several (`[KL-1@2, KL-2@3]`). Linear.
#[must_use]
pub fn citations_in(line: &str) -> (String, Vec<Citation>) {
    let mut text = String::with_capacity(line.len());
    let mut citations = Vec::new();
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        text.push_str(before);
        // Only the innermost brackets can contain citations.
        let inside = from[1..]
            .find(['[', ']'])
            .map(|end| (&from[1..=end], &from[end + 1..]));
        match inside {
            Some((inside, after)) if after.starts_with(']') && cite(inside).is_some() => {
                for citation in cite(inside).unwrap_or_default() {
                    if !citations.contains(&citation) {
                        citations.push(citation);
                    }
                }
                rest = &after[1..];
            }
            _ => {
                text.push('[');
                rest = &from[1..];
            }
        }
    }
    text.push_str(rest);
    (text, citations)
}

fn cite(inside: &str) -> Option<Vec<Citation>> {
    inside.split(',').map(|one| one.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::handoff::CitedLine;
    use serde_json::{Value, json};

    #[test]
    fn citations_read_back_as_written() {
        for text in ["KL-3@12", "T-1@1", "Current Progress@7", "Active Context@9"] {
            assert_eq!(text.parse().map(|c: Citation| c.to_string()), Ok(text.to_owned()));
        }
        for bad in [
            "KL-3",
            "KL-3@",
            "KL-3@0",
            "KL-3@012",
            "KL-3@-1",
            "kl-3@1",
            "CurrentFacts@1",
            "Key Learnings@1",
            "@1",
        ] {
            assert_eq!(bad.parse::<Citation>(), Err(NoCitation), "{bad}");
        }
    }

    #[test]
    fn a_line_is_parted_from_its_citations() {
        let (text, citations) = citations_in("a [x] b [KL-1@2, D-2@3] c [KL-1@2] [[T-1@4] [oops");
        assert_eq!(text, "a [x] b  c  [ [oops");
        let shown: Vec<String> = citations.iter().map(Citation::to_string).collect();
        assert_eq!(shown, ["KL-1@2", "D-2@3", "T-1@4"]);
    }

    fn read(stored: &Value) -> Result<Vec<CitedLine>, serde_json::Error> {
        Vec::deserialize(stored)
    }

    fn literal() -> Value {
        json!([
            {"line": 7, "cited": [
                {"citation": "KL-3@12", "active": true, "sha256": null},
                {"citation": "Current Progress@12", "active": false, "sha256": "ab"},
            ]},
            {"line": 9, "cited": []},
        ])
    }

    #[test]
    fn citations_have_one_stored_form() {
        let lines = read(&literal()).unwrap();
        assert_eq!(json!(lines), literal());
        let cited = &lines[0].cited[1];
        assert_eq!(
            (
                cited.citation.to_string().as_str(),
                cited.is_active,
                cited.sha256.as_deref()
            ),
            ("Current Progress@12", false, Some("ab"))
        );
    }

    #[test]
    fn citations_of_another_form_are_an_error() {
        for (place, other) in [
            ("/0/line", json!(-1)),
            ("/0/cited", json!(null)),
            ("/0/cited/0", json!("KL-3@12")),
            ("/0/cited/0/citation", json!("KL-3")),
            ("/0/cited/0/active", json!(null)),
            ("/0/cited/1/sha256", json!(7)),
        ] {
            let mut stored = literal();
            *stored.pointer_mut(place).unwrap() = other;
            assert!(read(&stored).is_err(), "{stored}");
        }
        assert!(read(&json!(null)).is_err());
    }
}
