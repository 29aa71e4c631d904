//! `item = progress-bullet | learning | snippet-item | archiving`: parses a bullet according to its section
//! and list.

use super::answer_parser::AnswerParser;
use super::bullets;
use super::headers::List;
use super::items::{self, ItemFault, ParsedArchiving, after_because, begins_with_id};
use super::lines::Line;
use crate::domain::document::{Marks, leading_marks};
use crate::domain::ids::RecordKind;
use crate::domain::operation::{Fault, FaultKind, Operation, Role};

impl AnswerParser<'_> {
    /// Parses an item; its text begins at `item`.
    pub(super) fn item(&mut self, line: &Line, item: &str) {
        if self.scope.drops() {
            return self.report_unknown_header();
        }
        let range = line.first..line.last;
        let Some(section) = self.scope.section() else {
            return;
        };
        let Some(kind) = section.record_kind() else {
            let text = self.cursor.normalised(line, item);
            return self.found.progress_bullet(self.scope.list(), line, &text);
        };
        let list = match self.scope.list() {
            Some(list) => list,
            // A record of the memory that the model repeated looks like an archiving too; nothing is archived
            // without `ARCHIVE`.
            None if begins_with_id(item) => {
                let detail = "an item must be below `ADD:` or `ARCHIVE:`".to_owned();
                return self
                    .found
                    .fault(FaultKind::UnknownHeader, Some(section), range, detail);
            }
            None => List::Add,
        };
        match (list, section) {
            (List::Archive, _) => self.archiving(line, item, section, items::archive, kind),
            (List::Mark, _) => self.archiving(line, item, section, items::mark, kind),
            (List::Merge, _) => self.added(line, item, Marks::default(), items::merge),
            (_, Role::Verbatim) => self.verbatim(line, item),
            _ => self.learning(line, item),
        }
    }

    /// `archiving = id { "," id } "because" reason`, and `mark = id marks "because" reason`
    fn archiving(
        &mut self,
        line: &Line,
        item: &str,
        section: Role,
        read: fn(&str, RecordKind) -> Vec<ParsedArchiving>,
        kind: RecordKind,
    ) {
        let folded = self.cursor.fold(line, item);
        let range = line.first..folded.end;
        for archived in read(&folded.text, kind) {
            match archived.outcome {
                Ok(operation) => self.found.accept(operation, range.clone()),
                Err((kind, detail)) => self.found.parsed.fault(Fault {
                    kind,
                    section: Some(section),
                    id: archived.id,
                    range: range.clone(),
                    detail,
                }),
            }
        }
    }

    /// `learning = [ "[" marks "]" ] "because" reason ":" insight`
    fn learning(&mut self, line: &Line, item: &str) {
        let (marks, item) = leading_marks(item);
        self.added(line, item, marks, items::learning);
    }

    /// A learning or a merge of learnings: `merge = id "," id { "," id } because reason ":" insight`
    fn added(
        &mut self,
        line: &Line,
        item: &str,
        marks: Marks,
        read: fn(&str) -> Result<Operation, ItemFault>,
    ) {
        let folded = self.cursor.fold(line, item);
        let range = line.first..folded.end;
        match read(&folded.text) {
            Ok(mut operation) => {
                operation.set_marks(marks);
                if folded.is_multi_line {
                    let detail = "an insight is one line; its lines were joined with blanks".to_owned();
                    let lines = range.clone();
                    self.found
                        .fault(FaultKind::MultiLineInsight, Some(Role::Learnings), lines, detail);
                }
                self.found.accept(operation, range);
            }
            Err(wrong) => self.found.reject(Role::Learnings, range, wrong),
        }
    }

    /// `snippet-item = [ "[" marks "]" ] "because" reason ":" label "=>" snippet`
    fn verbatim(&mut self, line: &Line, item: &str) {
        let (marks, item) = leading_marks(item);
        let start = self.cursor.offset(item);
        let head = &self.cursor.text[start..line.last];
        // Byte offset of the content: after the colon that ends the reason.
        let content = after_because(head)
            .and_then(|after| Some(head.len() - after.len() + items::reason_end(after)? + 1))
            .unwrap_or(head.len());
        let Some(arrow) = head[content..].find("=>").map(|at| content + at) else {
            return self.labelless(line, item);
        };
        let snippet = self.cursor.snippet(start + arrow + "=>".len());
        let range = line.first..snippet.end.max(line.last);
        let before = self.cursor.normalised(line, &head[..arrow]);
        match verbatim(&before, snippet.text) {
            Ok(mut operation) => {
                operation.set_marks(marks);
                if let Some(fence) = snippet.unclosed {
                    let detail = "the code fence is never closed, so it was read as plain text".to_owned();
                    self.found
                        .fault(FaultKind::UnclosedFence, Some(Role::Verbatim), fence, detail);
                }
                self.found.accept(operation, range);
            }
            Err(wrong) => self.found.reject(Role::Verbatim, range, wrong),
        }
    }

    /// A verbatim item without `=>`: consumes its deeper lines too.
    fn labelless(&mut self, line: &Line, item: &str) {
        let folded = self.cursor.fold(line, item);
        let wrong = match items::addition(&folded.text) {
            Err(wrong) => wrong,
            Ok(_) => missing_label(),
        };
        self.found.reject(Role::Verbatim, line.first..folded.end, wrong);
    }
}

/// Builds the operation of a verbatim item; `head` is its text before the arrow.
fn verbatim(head: &str, snippet: String) -> Result<Operation, ItemFault> {
    let after = after_because(head).unwrap_or_default();
    let (reason, label) = match items::reason_end(after) {
        Some(at) => (after[..at].trim(), after[at + 1..].trim()),
        None => ("", ""),
    };
    if reason.is_empty() {
        return Err(items::addition("").map_or_else(|wrong| wrong, |_| missing_label()));
    }
    if snippet.trim().is_empty() {
        let detail = "nothing follows `=>`: write the snippet on the lines below, indented".to_owned();
        return Err((FaultKind::EmptyContent, detail));
    }
    if label.is_empty() {
        return Err(missing_label());
    }
    let is_template = bullets::is_placeholder(reason) || bullets::is_placeholder(label);
    if is_template || bullets::is_template_snippet(&snippet) {
        return Err(items::placeholder());
    }
    Ok(Operation::AddVerbatim {
        reason: reason.to_owned(),
        label: label.to_owned(),
        snippet,
        replaces: None,
        marks: Marks::default(),
    })
}

fn missing_label() -> ItemFault {
    (
        FaultKind::MissingLabel,
        "a verbatim item needs a label and `=>` before its snippet: `- because <reason>: <label> => <snippet>`"
            .to_owned(),
    )
}
