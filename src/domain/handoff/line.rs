//! The sections of a handoff and their lines: quoted text and its sources.
//!
//! `[KL-3@12]` cites a record and a version that contains it, `[Current Progress@12]` a section without records and the
//! version it was read from.

use crate::domain::document::ManagedSection;
use crate::domain::ids::RecordId;
use crate::domain::text::lines::clipped;
use crate::domain::text::visible_line;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use strum::IntoStaticStr;

/// Maximum number of lines per section. All of them together are what a person reads before they continue: about a page.
pub(super) const SECTION_LINES: usize = 20;

/// Maximum number of characters quoted per line.
pub(super) const LINE_CHARS: usize = 240;

/// The sections of a handoff, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Part {
    /// A short overview.
    Summary,
    /// Goal, blocker, work in progress and remaining work, from the document.
    StartHere,
    /// Each record that changed, latest change first.
    RecentChanges,
    /// The active records among them, and active replacements.
    CurrentContext,
    /// The archived records among them, and their replacements.
    #[strum(serialize = "recently_replaced_archived")]
    Replaced,
    /// Open questions in the document.
    OpenQuestions,
    /// The caller's working directory.
    #[strum(serialize = "workspace_snapshot")]
    Workspace,
    /// All cited subjects.
    Sources,
}

impl Part {
    /// All sections.
    pub const ALL: [Self; 8] = [
        Self::Summary,
        Self::StartHere,
        Self::RecentChanges,
        Self::CurrentContext,
        Self::Replaced,
        Self::OpenQuestions,
        Self::Workspace,
        Self::Sources,
    ];

    /// The sections whose lines a model may write.
    pub const PROSE: [Self; 5] = [
        Self::Summary,
        Self::StartHere,
        Self::RecentChanges,
        Self::CurrentContext,
        Self::OpenQuestions,
    ];

    /// The heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::StartHere => "Start Here",
            Self::RecentChanges => "Recent Changes",
            Self::CurrentContext => "Current Context",
            Self::Replaced => "Recently Replaced / Archived",
            Self::OpenQuestions => "Open Questions",
            Self::Workspace => "Workspace Snapshot",
            Self::Sources => "Sources",
        }
    }

    /// The name in manifests and in model answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One line of a section: safe Markdown without a line break, and its citations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// Its citations; at least one.
    pub citations: Vec<Citation>,
}

impl Line {
    /// A line with one citation.
    pub(super) fn of(text: String, citation: Citation) -> Self {
        Self {
            text,
            citations: vec![citation],
        }
    }
}

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

/// The text is not a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a record or section with a version, as in KL-3@12")]
pub struct NoCitation;

string_in_json!(Citation);

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
    let (mut citations, mut seen) = (Vec::new(), HashSet::new());
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        text.push_str(before);
        // Only the innermost brackets can contain citations.
        let inside = from[1..]
            .find(['[', ']'])
            .map(|end| (&from[1..=end], &from[end + 1..]));
        match inside.and_then(|(inside, after)| cite(inside).zip(after.strip_prefix(']'))) {
            Some((cited, after)) => {
                citations.extend(cited.into_iter().filter(|citation| seen.insert(*citation)));
                rest = after;
            }
            None => {
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

/// Returns the text on one line, at most `max_chars` characters before escaping, with whitespace folded.
///
/// Brackets, backticks, asterisks, tildes and backslashes are escaped with a backslash, as are `_` where it
/// could mean emphasis and `>` at the start; `<` and `&` become entities. Control characters, line and
/// paragraph separators, and invisible characters (including bidirectional controls) count as whitespace.
#[must_use]
pub fn quote(text: &str, max_chars: usize) -> String {
    let line = clipped(&visible_line(text), max_chars);
    let mut safe = String::with_capacity(line.len() + 16);
    let mut before = ' ';
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '<' => safe.push_str("&lt;"),
            // Only at the start of a line `>` opens a quotation; elsewhere it has no meaning without a `<`.
            '>' if safe.is_empty() => safe.push_str("\\>"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '[' | ']' | '~' => {
                safe.push('\\');
                safe.push(character);
            }
            '_' => {
                let inside =
                    before.is_alphanumeric() && characters.peek().is_some_and(|c| c.is_alphanumeric());
                if !inside {
                    safe.push('\\');
                }
                safe.push('_');
            }
            other => safe.push(other),
        }
        before = character;
    }
    safe
}

/// Text of a line, in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", quote(text, LINE_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::handoff::CitedLine;
    use crate::domain::text::lines::is_hidden;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn citations_read_back_as_written() {
        for text in ["KL-3@12", "T-1@1", "Current Progress@7", "Active Context@9"] {
            assert_eq!(text.parse().map(|c: Citation| c.to_string()), Ok(text.to_owned()));
        }
        for bad in "KL-3|KL-3@|KL-3@0|KL-3@012|KL-3@-1|kl-3@1|CurrentFacts@1|Key Learnings@1|@1".split('|') {
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
        assert_eq!(cited.citation.to_string(), "Current Progress@12");
        assert_eq!((cited.is_active, cited.sha256.as_deref()), (false, Some("ab")));
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

    #[test]
    fn ordinary_text_stays_readable_and_signs_lose_their_meaning() {
        for (text, quoted) in [
            ("main.rs: my_name, not _this_", "main.rs: my_name, not \\_this\\_"),
            ("a\n# b\r\n\n  - c", "a # b - c"),
            ("[KL-1@2] <b>&", "\\[KL-1@2\\] &lt;b>&amp;"),
            ("a => b -> c", "a => b -> c"),
            ("> quoted", "\\> quoted"),
            ("x\u{202e}y\u{200b}z\u{2028}w", "x y z w"),
        ] {
            assert_eq!(quote(text, 100), quoted);
        }
        assert_eq!(quote("abcdef", 3), "abc…");
    }

    proptest! {
        #[test]
        fn nothing_quoted_ends_its_line_or_is_read_as_a_citation(text in any::<String>(), max in 0..40_usize) {
            let quoted = quote(&text, max);
            let is_harmless = |c: char| !c.is_control() && !is_hidden(c) && c != '<';
            prop_assert!(quoted.chars().all(is_harmless));
            prop_assert!(citations_in(&quoted).1.is_empty());
        }

        #[test]
        fn brackets_never_make_a_citation(text in r"[\[\]\\KLVCTD@0-9 -]{0,40}") {
            prop_assert!(citations_in(&quote(&text, 100)).1.is_empty());
        }
    }
}
