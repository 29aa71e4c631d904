//! Parses the lines that a model wrote and checks them against the entries it was given.
//!
//! The answer has a header per section (`SUMMARY:`, `START_HERE:`, `RECENT_CHANGES:`, `CURRENT_CONTEXT:`,
//! `OPEN_QUESTIONS:`, in any case, with blanks or Markdown decoration), and below it one bullet per line with
//! citations. An invalid line is rejected with a [`DropReason`], never repaired, and does not affect valid
//! lines.

use super::line::{Citation, LINE_CHARS, Line, Part, SECTION_LINES, Subject, citations_in, quote};
use super::material::Material;
use crate::domain::dsl::bullet;
use crate::domain::faults::MAX_KEPT_FAULTS;
use crate::domain::text::content_words::{Key, content_words, keys, shared};
use crate::domain::text::{has_secret, is_nothing, masked, shares_a_word, visible_line};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashSet};
use strum::{EnumMessage, IntoStaticStr};

/// Number of characters of a dropped line that are kept for inspection.
const DROPPED_CHARS: usize = 200;

/// Why a line of a model is rejected, and the advice to the model in a repair request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum DropReason {
    /// It has no citation.
    #[strum(message = "it has no citation such as [KL-3@12]; every line needs one of the given ones")]
    NoCitation,
    /// It cites an entry that the model was not given.
    #[strum(message = "it cites what was not given; copy citations exactly, or leave the line out")]
    NotSupplied,
    /// It presents an archived or replaced record as current.
    #[strum(message = "it shows an archived entry as the present; only active entries belong here")]
    NotActive,
    /// It has no text.
    #[strum(message = "it says nothing besides its citation")]
    Empty,
    /// It is longer than allowed.
    #[strum(message = "it is too long; say it in one short sentence")]
    TooLong,
    /// The section already has the maximum number of lines.
    #[strum(message = "the section has too many lines; keep the most important ones")]
    TooMany,
    /// The answer stopped at its token limit, perhaps within it.
    #[strum(message = "the answer was cut off here; write this line whole, or leave it out")]
    CutOff,
    /// It is in no section that the model may write.
    #[strum(message = "it is under none of the five headers")]
    UnknownSection,
    /// It names a step that the cited entries do not mention.
    #[strum(message = "what it cites says nothing of that step; use only steps that are given")]
    Invented,
    /// It contains a credential.
    #[strum(message = "it contains a credential, which a handoff never shows; leave it out")]
    Secret,
    /// It shares no word with the cited entries.
    #[strum(message = "it shares no word with what it cites; say what the cited entries say, in their words")]
    Unsupported,
}

impl DropReason {
    /// The name used in manifests.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The advice to the model in a repair request.
    #[must_use]
    pub fn advice(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }
}

/// A rejected line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedLine {
    /// The section it was in, if any.
    pub part: Option<Part>,
    /// Why it was rejected.
    pub reason: DropReason,
    /// Its beginning, on one line.
    pub text: String,
}

/// The parsed answer of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HandoffAnswer {
    /// The accepted lines by section.
    pub lines: BTreeMap<Part, Vec<Line>>,
    /// The rejected lines: the first [`MAX_KEPT_FAULTS`].
    pub dropped: Vec<DroppedLine>,
    /// How many more there are.
    pub more_dropped: usize,
    /// Whether it has a section that the model may write.
    pub has_section: bool,
}

impl HandoffAnswer {
    /// Adds the accepted lines of a second answer, which was requested because of the rejected lines of this
    /// one. The rejected lines of the second answer replace those of the first, which stay if it has no section.
    pub fn amend(&mut self, second: Self) {
        if second.has_section {
            (self.dropped, self.more_dropped) = (second.dropped, second.more_dropped);
        }
        for (part, lines) in second.lines {
            for line in lines {
                let written = line.text.clone();
                self.take(part, line, &written);
            }
        }
    }

    /// Adds a line that its section does not have, if there is room for it.
    fn take(&mut self, part: Part, line: Line, written: &str) {
        let lines = self.lines.entry(part).or_default();
        if lines.iter().any(|known| known.text == line.text) {
            return;
        }
        match lines.len() < SECTION_LINES {
            true => lines.push(line),
            false => self.drop_line(Some(part), DropReason::TooMany, written),
        }
    }

    fn drop_line(&mut self, part: Option<Part>, reason: DropReason, text: &str) {
        if self.dropped.len() >= MAX_KEPT_FAULTS {
            self.more_dropped += 1;
            return;
        }
        let text = masked(text);
        let text = text.chars().filter(|c| *c != '\0').take(DROPPED_CHARS).collect();
        self.dropped.push(DroppedLine { part, reason, text });
    }
}

/// Parses the answer of a model that was shown these entries, by citation. If it was cut off, its last line is not trusted.
/// Linear; never fails.
#[must_use]
pub fn read_answer(
    (text, is_cut_off): (&str, bool),
    material: &Material<'_>,
    shown: &BTreeMap<Citation, String>,
) -> HandoffAnswer {
    let mut answer = HandoffAnswer::default();
    let mut part: Option<Part> = None;
    let last = is_cut_off.then(|| text.trim_end().lines().count());
    for (line, number) in text.lines().zip(1..) {
        let line = visible_line(line);
        if line.is_empty() || line.starts_with("```") || line.starts_with("~~~") {
            continue;
        }
        if let Some(found) = header(&line) {
            part = found;
            answer.has_section |= part.is_some();
            continue;
        }
        // Prose before the first header and between bullets is ignored.
        let Some(bullet) = bullet(&line).filter(|bullet| !is_nothing(bullet)) else {
            continue;
        };
        match part.map(|part| (part, check(bullet, part, (material, shown)))) {
            _ if last == Some(number) => answer.drop_line(part, DropReason::CutOff, bullet),
            Some((part, Ok(line))) => answer.take(part, line, bullet),
            Some((part, Err(reason))) => answer.drop_line(Some(part), reason, bullet),
            None => answer.drop_line(None, DropReason::UnknownSection, bullet),
        }
    }
    answer
}

fn check(
    bullet: &str,
    part: Part,
    (material, shown): (&Material<'_>, &BTreeMap<Citation, String>),
) -> Result<Line, DropReason> {
    let (text, citations) = citations_in(bullet);
    let text = visible_line(&text);
    if citations.is_empty() {
        return Err(DropReason::NoCitation);
    }
    if has_secret(&text) {
        return Err(DropReason::Secret);
    }
    if !text.chars().any(char::is_alphanumeric) {
        return Err(DropReason::Empty);
    }
    if text.chars().count() > LINE_CHARS {
        return Err(DropReason::TooLong);
    }
    if !citations.iter().all(|citation| shown.contains_key(citation)) {
        return Err(DropReason::NotSupplied);
    }
    let is_present = matches!(part, Part::CurrentContext | Part::StartHere | Part::OpenQuestions);
    if is_present && !citations.iter().all(|citation| material.is_active(citation)) {
        return Err(DropReason::NotActive);
    }
    if part == Part::StartHere && !is_supported(&text, &citations, shown) {
        return Err(DropReason::Invented);
    }
    if !shares_a_word(&text, cited(&citations, shown)) {
        return Err(DropReason::Unsupported);
    }
    let mut text = quote(&text, LINE_CHARS);
    // At the start of a line they make a heading or a list.
    if text.starts_with(['#', '+', '-']) {
        text.insert(0, '\\');
    }
    Ok(Line { text, citations })
}

/// Whether at least half of a line's words that mean something occur in the cited entries. An invented step has other
/// words.
fn is_supported(text: &str, citations: &[Citation], shown: &BTreeMap<Citation, String>) -> bool {
    let known: HashSet<Key, RandomState> = cited(citations, shown).flat_map(keys).collect();
    let words = content_words(text);
    let found = shared(&words, &known);
    found > 0 && found * 2 >= words.len()
}

/// The text of what a line cites: section names and entry texts.
fn cited<'m>(
    citations: &'m [Citation],
    shown: &'m BTreeMap<Citation, String>,
) -> impl Iterator<Item = &'m str> {
    let cited = citations.iter().filter_map(|citation| {
        let name = match citation.subject {
            Subject::Section(section) => section.title(),
            Subject::Record(_) => "",
        };
        Some([name, shown.get(citation)?.as_str()])
    });
    cited.flatten()
}

/// The section that a header line opens: `None` if the line is no header, `Some(None)` for an unknown header.
fn header(line: &str) -> Option<Option<Part>> {
    let is_marked = line.starts_with('#') || line.starts_with("**");
    let bare = line.trim_matches(['#', '*', '_', '`', ' ', ':']);
    let name = bare.to_ascii_lowercase().replace([' ', '-'], "_");
    if let Some(part) = Part::PROSE.into_iter().find(|part| part.name() == name) {
        return Some(Some(part));
    }
    let is_upper = |c: char| c.is_ascii_uppercase() || c == '_' || c == ' ';
    let shouts = line.ends_with(':') && bare.contains(char::is_alphabetic) && bare.chars().all(is_upper);
    (is_marked || shouts).then_some(None)
}
