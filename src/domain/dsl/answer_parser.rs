//! `answer = { section | prose }`: dispatches each line.

use super::bullets;
use super::collected::Collected;
use super::cursor::Cursor;
use super::headers::{self, Opens, Resemblance};
use super::items::excerpt;
use super::lines::Line;
use super::parsed::Parsed;
use super::scope::Scope;
use crate::domain::faults::MAX_TEXT_LINES;
use crate::domain::operation::{Fault, FaultKind};
use std::ops::Range;

/// The parser state of an answer.
pub(super) struct AnswerParser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) scope: Scope,
    pub(super) found: Collected,
}

/// Parses a text. Total: every input has a result.
#[must_use]
pub fn parse(text: &str) -> Parsed {
    read(text, false)
}

/// Parses the text of a model that stopped at its token limit: its last item is not trusted.
#[must_use]
pub fn parse_cut_off(text: &str) -> Parsed {
    read(text, true)
}

fn read(text: &str, is_cut_off: bool) -> Parsed {
    let lines = text.bytes().filter(|byte| *byte == b'\n').count();
    if lines > MAX_TEXT_LINES {
        let mut parsed = Parsed::default();
        parsed.fault(Fault {
            kind: FaultKind::TooLarge,
            section: None,
            id: None,
            range: 0..0,
            detail: format!("the text has {lines} lines; at most {MAX_TEXT_LINES} are read"),
        });
        return parsed;
    }
    let mut answer = AnswerParser {
        cursor: Cursor::new(text),
        scope: Scope::default(),
        found: Collected::default(),
    };
    while let Some(line) = answer.cursor.next_line() {
        if !line.is_blank() {
            answer.line(&line);
        }
    }
    answer.found.finish(text, is_cut_off)
}

impl AnswerParser<'_> {
    /// Handles one line: a header, an item, a continuation of a progress bullet, a fence around the answer,
    /// "no change", or prose.
    fn line(&mut self, line: &Line) {
        let content = line.content(self.cursor.text);
        let bullet = bullets::text(content);
        if !content.starts_with('-') && bullet.is_some_and(|item| self.is_header_as_item(item)) {
            self.header(line, bullet.unwrap_or(content));
            return;
        }
        if let Some(item) = bullet {
            if !bullets::is_no_change(item) {
                self.item(line, item);
            }
            return;
        }
        let is_before_sections = self.scope.section().is_none();
        if self.header(line, content)
            || self.continues(line, content)
            || self.cursor.outer_fence(content, is_before_sections)
            || bullets::is_no_change(content)
        {
            return;
        }
        self.prose(line, content);
    }

    /// Models sometimes number their headers.
    fn is_header_as_item(&self, item: &str) -> bool {
        headers::known(item).is_some_and(|header| match header.opens {
                Opens::Section(_) => header.is_set_apart,
                Opens::List(_) => header.is_canonical,
            } && header.after.is_empty())
    }

    /// Folds a line into the progress bullet above it. Insights and snippets consume their own lines.
    fn continues(&mut self, line: &Line, content: &str) -> bool {
        if self.scope.drops() {
            return false;
        }
        let content = self.cursor.normalised(line, content);
        self.found.continues_progress(line, &content)
    }

    fn prose(&mut self, line: &Line, content: &str) {
        self.found.finish_progress_bullet();
        let range = line.first..line.last;
        match headers::unknown(content) {
            Some(resemblance) if self.may_be_reported(line, resemblance) => {
                self.unknown_header(line, range, resemblance);
            }
            _ => {}
        }
    }

    /// Whether an unknown header may be reported. Lists below an unknown section are part of it; another
    /// section beside it is not.
    fn may_be_reported(&self, line: &Line, resemblance: Resemblance) -> bool {
        !self.scope.drops_section()
            || (resemblance == Resemblance::Strong && self.scope.is_beside_section(line.indent))
    }

    pub(super) fn unknown_header(&mut self, line: &Line, range: Range<usize>, resemblance: Resemblance) {
        self.found.finish_progress_bullet();
        let is_outside = self.scope.section().is_none();
        if is_outside && resemblance == Resemblance::Weak {
            return;
        }
        let content = &self.cursor.text[range.clone()];
        self.scope.drop_items(range, content, line.indent);
        if resemblance == Resemblance::Strong && !is_outside {
            self.report_unknown_header();
        }
    }

    /// Reports, once, the unknown header whose items are dropped.
    pub(super) fn report_unknown_header(&mut self) {
        let Some((header, section)) = self.scope.unreported() else {
            return;
        };
        let detail = unknown(&self.cursor.text[header.clone()]);
        self.found
            .fault(FaultKind::UnknownHeader, section, header, detail);
    }
}

/// The message about a line that is not a known header.
pub(super) fn unknown(content: &str) -> String {
    format!(
        "`{}` is not a header of this form, and what is below it was ignored; sections are \
         CURRENT_PROGRESS, KEY_LEARNINGS and VERBATIM_CONTEXT, lists are Completed, In Progress, Remaining, \
         ADD and ARCHIVE",
        excerpt(content)
    )
}
