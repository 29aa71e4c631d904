//! The line machine: which section and list a line stands in, and what it is there.

use super::bullets;
use super::fences::{self, Closings};
use super::headers::{self, Header, List, Opens, Resemblance};
use super::items::{self, Wrong, begins_with_id, behind_because, excerpt};
use super::lines::{self, Line};
use super::progress::Block;
use super::snippets::{self, Place};
use super::{Options, Parsed};
use crate::domain::operation::{Fault, FaultKind, Item, Operation, Role};
use std::borrow::Cow;
use std::ops::Range;

/// Whether items are dropped because they stand under an unknown header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dropping {
    No,
    /// Until the next list or section header.
    List,
    /// Until the next section header.
    Section,
}

struct Machine<'t> {
    text: &'t str,
    options: &'t Options,
    lines: Vec<Line>,
    /// The next line to look at.
    at: usize,
    /// The line that closes the fence around the answer, or the number of lines.
    until: usize,
    in_outer_fence: bool,
    closings: Closings,
    section: Option<Role>,
    section_indent: usize,
    list: Option<List>,
    list_indent: Option<usize>,
    block: Option<Block>,
    dropping: Dropping,
    /// An unknown header that counts as one if an item follows.
    pending: Option<Range<usize>>,
    last_progress_bullet: Option<usize>,
    /// The last valid progress, and what a later, invalid one lacks.
    progress: Option<Item>,
    invalid_progress: Option<Fault>,
    parsed: Parsed,
}

pub(super) fn run(text: &str, options: &Options) -> Parsed {
    let lines = lines::split(text);
    let until = lines.len();
    let mut machine = Machine {
        text,
        options,
        lines,
        at: 0,
        until,
        in_outer_fence: false,
        closings: Closings::default(),
        section: None,
        section_indent: 0,
        list: None,
        list_indent: None,
        block: None,
        dropping: Dropping::No,
        pending: None,
        last_progress_bullet: None,
        progress: None,
        invalid_progress: None,
        parsed: Parsed::default(),
    };
    while machine.at < machine.lines.len() {
        machine.step();
    }
    machine.finish()
}

impl Machine<'_> {
    fn step(&mut self) {
        let line = self.lines[self.at];
        self.at += 1;
        if self.at > self.until {
            // Behind the fence around the answer there is nothing left to keep snippets from.
            self.until = self.lines.len();
        }
        if line.is_blank() {
            return;
        }
        let text = self.text;
        let content = line.content(text);
        let bullet = self.bullet(&line, content);
        if !content.starts_with('-') && bullet.is_some_and(|item| self.is_header_as_item(item)) {
            self.header(&line, bullet.unwrap_or(content));
            return;
        }
        if bullet.is_none() {
            if self.header(&line, content)
                || self.continues(&line, content)
                || self.outer_fence(&line, content)
            {
                return;
            }
            if bullets::is_no_change(content) {
                return;
            }
            return self.prose(&line, content);
        }
        if let Some(item) = bullet.filter(|item| !bullets::is_no_change(item)) {
            self.item(&line, item);
        }
    }

    fn bullet<'t>(&self, line: &Line, content: &'t str) -> Option<&'t str> {
        let item = bullets::text(content, self.options)?;
        (self.options.any_indentation || line.indent == 4).then_some(item)
    }

    /// Models number their headers.
    fn is_header_as_item(&self, item: &str) -> bool {
        self.options.other_bullets
            && headers::known(item, self.options).is_some_and(|header| match header.opens {
                Opens::Section(_) => header.is_set_apart,
                Opens::List(_) => header.is_canonical,
            } && header.behind.is_empty())
    }

    /// Takes a line that is a header.
    fn header(&mut self, line: &Line, content: &str) -> bool {
        let Some(header) = headers::known(content, self.options) else {
            return false;
        };
        let fits = match header.opens {
            Opens::Section(_) => line.indent == 0,
            Opens::List(_) => line.indent == 2,
        };
        if !(fits || self.options.any_indentation) || self.is_within_bullet(line, &header) {
            return false;
        }
        match header.opens {
            Opens::Section(role) => self.open_section(role, line),
            Opens::List(list) if !self.open_list(list, line, &header) => return false,
            Opens::List(_) => {}
        }
        if !header.behind.is_empty() && self.options.missing_list_headers {
            self.item_behind(line, &header);
        }
        true
    }

    /// A bare word such as `Remaining` may end a bullet's text; a header with colon or decoration may not.
    fn is_within_bullet(&self, line: &Line, header: &Header<'_>) -> bool {
        !header.is_set_apart
            && self
                .block
                .as_ref()
                .is_some_and(|block| block.is_open_above(line.indent))
    }

    fn open_section(&mut self, role: Role, line: &Line) {
        self.close_block();
        self.section = Some(role);
        self.section_indent = line.indent;
        self.list = None;
        self.list_indent = None;
        self.dropping = Dropping::No;
        self.pending = None;
        if !self.parsed.sections.contains(&role) {
            self.parsed.sections.push(role);
        }
        if role == Role::Progress {
            self.block = Some(Block::new(line.first..line.last));
        }
    }

    /// Opens a list, unless it cannot stand here.
    fn open_list(&mut self, list: List, line: &Line, header: &Header<'_>) -> bool {
        let is_of_progress = matches!(list, List::Completed | List::InProgress | List::Remaining);
        if self.dropping == Dropping::Section {
            return true;
        }
        match self.section {
            Some(Role::Progress) if is_of_progress => {}
            Some(Role::Learnings | Role::Verbatim) if !is_of_progress => {}
            // Lists of progress can belong nowhere else, so the section's own header may be missing.
            None if is_of_progress && self.options.missing_list_headers && header.is_set_apart => {
                self.open_section(Role::Progress, line);
            }
            Some(_) if header.is_set_apart => {
                self.unknown_header(line, line.first..line.last, Resemblance::Strong);
                return true;
            }
            _ => return false,
        }
        if let Some(block) = &mut self.block {
            block.finish_bullet();
        }
        self.list = Some(list);
        self.list_indent = Some(line.indent);
        self.dropping = Dropping::No;
        self.pending = None;
        true
    }

    fn item_behind(&mut self, line: &Line, header: &Header<'_>) {
        let item = header.behind;
        let text = bullets::text(item, self.options).unwrap_or(item);
        let tells = behind_because(text).is_some() || begins_with_id(text);
        let is_list = matches!(header.opens, Opens::List(_));
        if (tells || is_list) && !bullets::is_no_change(text) {
            self.item(line, text);
        }
    }

    /// Folds a line into the progress bullet above it. Insights and snippets take their own lines.
    fn continues(&mut self, line: &Line, content: &str) -> bool {
        if self.dropping != Dropping::No {
            return false;
        }
        let content = self.normalised(line, content);
        let block = self.block.as_mut();
        block.is_some_and(|block| block.continues(line.indent, &content, line.last))
    }

    /// A fence outside of snippets is one around the answer or around a section.
    fn outer_fence(&mut self, line: &Line, content: &str) -> bool {
        if !self.options.fence_around_answer {
            return false;
        }
        let Some(fence) = fences::opening(content) else {
            return false;
        };
        if self.section.is_none() && !self.in_outer_fence {
            self.in_outer_fence = true;
            let opened = self.at - 1;
            debug_assert_eq!(self.lines[opened].start, line.start);
            self.until =
                fences::last_closing(self.text, &self.lines, opened, fence).unwrap_or(self.lines.len());
        }
        true
    }

    fn prose(&mut self, line: &Line, content: &str) {
        if let Some(block) = &mut self.block {
            block.finish_bullet();
        }
        let range = line.first..line.last;
        match headers::unknown(content) {
            Some(resemblance) if self.may_be_told(line, resemblance) => {
                self.unknown_header(line, range, resemblance);
            }
            _ if !self.options.text_around => {
                self.fault(FaultKind::UnknownHeader, None, range, unknown(content))
            }
            _ => {}
        }
    }

    /// Lists below an unknown section are part of it; another section beside it is not.
    fn may_be_told(&self, line: &Line, resemblance: Resemblance) -> bool {
        self.dropping != Dropping::Section
            || (resemblance == Resemblance::Strong && line.indent <= self.section_indent)
    }

    fn unknown_header(&mut self, line: &Line, range: Range<usize>, resemblance: Resemblance) {
        if let Some(block) = &mut self.block {
            block.finish_bullet();
        }
        let content = &self.text[range.clone()];
        if self.section.is_none() && resemblance == Resemblance::Weak && self.options.text_around {
            return;
        }
        let is_section = self.section.is_none()
            || (line.indent <= self.section_indent
                && (self.list_indent.is_some_and(|indent| indent > line.indent) || content.contains('_')));
        self.dropping = if is_section {
            Dropping::Section
        } else {
            Dropping::List
        };
        let is_certain = resemblance == Resemblance::Strong && self.section.is_some();
        self.pending = Some(range);
        if is_certain || !self.options.text_around {
            self.tell_unknown_header();
        }
    }

    /// Tells of the unknown header that items are dropped for, once.
    fn tell_unknown_header(&mut self) {
        let Some(range) = self.pending.take() else { return };
        let section = self.section.filter(|_| self.dropping == Dropping::List);
        let detail = unknown(&self.text[range.clone()]);
        self.fault(FaultKind::UnknownHeader, section, range, detail);
    }

    /// Takes an item whose text begins where `item` does.
    fn item(&mut self, line: &Line, item: &str) {
        if self.dropping != Dropping::No {
            return self.tell_unknown_header();
        }
        let range = line.first..line.last;
        let Some(section) = self.section else {
            if !self.options.text_around {
                self.fault(FaultKind::UnknownHeader, None, range, unknown(item));
            }
            return;
        };
        if section == Role::Progress {
            let item = self.normalised(line, item);
            if let Some(block) = &mut self.block {
                block.bullet(self.list, line.indent, &item, range);
                self.last_progress_bullet = block.last_bullet;
            }
            return;
        }
        let list = match self.list {
            Some(list) => list,
            // A record of the memory given back looks like an archiving too: nothing is archived unasked.
            None if !self.options.missing_list_headers || begins_with_id(item) => {
                let detail = "an item stands below `ADD:` or `ARCHIVE:`".to_owned();
                return self.fault(FaultKind::UnknownHeader, Some(section), range, detail);
            }
            None => List::Add,
        };
        match (list, section.record_kind()) {
            (List::Archive, Some(kind)) => {
                let (text, end, _) = self.fold(line, item);
                let range = line.first..end;
                for archived in items::archive(&text, kind, self.options) {
                    match archived.outcome {
                        Ok(operation) => self.accept(operation, range.clone()),
                        Err((kind, detail)) => self.parsed.faults.push(Fault {
                            kind,
                            section: Some(section),
                            id: archived.id,
                            range: range.clone(),
                            detail,
                        }),
                    }
                }
            }
            _ if section == Role::Verbatim => self.verbatim(line, item),
            _ => self.learning(line, item),
        }
    }

    fn learning(&mut self, line: &Line, item: &str) {
        let (text, end, folded) = self.fold(line, item);
        let range = line.first..end;
        match items::learning(&text) {
            Ok(operation) => {
                if folded {
                    let detail = "an insight is one line; its lines were joined with blanks".to_owned();
                    self.fault(
                        FaultKind::MultiLineInsight,
                        Some(Role::Learnings),
                        range.clone(),
                        detail,
                    );
                }
                self.accept(operation, range);
            }
            Err(wrong) => self.reject(Role::Learnings, range, wrong),
        }
    }

    fn verbatim(&mut self, line: &Line, item: &str) {
        let start = self.offset(item);
        let head = &self.text[start..line.last];
        // Where the content begins: behind the reason's colon.
        let content = behind_because(head)
            .and_then(|behind| Some(head.len() - behind.len() + items::reason_end(behind)? + 1))
            .unwrap_or(head.len());
        let Some(arrow) = head[content..].find("=>").map(|at| content + at) else {
            return self.labelless(line, item);
        };
        let place = Place {
            text: self.text,
            lines: &self.lines,
            at: self.at - 1,
            from: start + arrow + 2,
            until: self.until.max(self.at),
        };
        let snippet = snippets::read(&place, &mut self.closings, self.options);
        self.at = snippet.next.max(self.at);
        let range = line.first..snippet.end.max(line.last);
        let before = self.normalised(line, &head[..arrow]);
        match verbatim(&before, snippet.text) {
            Ok(operation) => {
                if let Some(fence) = snippet.unclosed {
                    let detail = "the code fence is never closed, so it was read as plain text".to_owned();
                    self.fault(FaultKind::UnclosedFence, Some(Role::Verbatim), fence, detail);
                }
                self.accept(operation, range);
            }
            Err(wrong) => self.reject(Role::Verbatim, range, wrong),
        }
    }

    /// A verbatim item without `=>`: its deeper lines go with it.
    fn labelless(&mut self, line: &Line, item: &str) {
        let (text, end, _) = self.fold(line, item);
        let wrong = match items::addition(&text) {
            Err(wrong) => wrong,
            Ok(_) => missing_label(),
        };
        self.reject(Role::Verbatim, line.first..end, wrong);
    }

    /// Joins the deeper-indented lines below an item with single blanks: the text, its end in the input, and
    /// whether there were any. A deeper bullet that is an item by its own beginning is none of them, nor
    /// is a header in full form.
    fn fold(&mut self, line: &Line, item: &str) -> (String, usize, bool) {
        let mut text = self.normalised(line, item).into_owned();
        let (mut end, mut folded) = (line.last, false);
        let mut index = self.at;
        while let Some(next) = self.lines.get(index) {
            index += 1;
            if next.is_blank() {
                continue;
            }
            let content = next.content(self.text);
            if next.indent <= line.indent || index > self.until.max(self.at) || self.stands_alone(content) {
                break;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.normalised(next, content));
            (end, folded, self.at) = (next.last, true, index);
        }
        (text, end, folded)
    }

    fn stands_alone(&self, content: &str) -> bool {
        match bullets::text(content, self.options) {
            Some(item) => behind_because(item).is_some() || begins_with_id(item),
            None => headers::known(content, self.options).is_some_and(|header| header.is_set_apart),
        }
    }

    /// Where a part of the input begins.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// A part of a line in the normalised view.
    fn normalised<'p>(&self, line: &Line, part: &'p str) -> Cow<'p, str> {
        if part.contains('\t') {
            let start = self.offset(part);
            Cow::Owned(lines::expanded(self.text, line, start..start + part.len()))
        } else {
            Cow::Borrowed(part)
        }
    }

    fn close_block(&mut self) {
        let Some(block) = self.block.take() else { return };
        let finished = block.finish();
        // Of two blocks the last counts; one without a bullet says that nothing changed.
        if finished.item.is_some() || finished.missing.is_some() {
            self.progress = finished.item;
            self.invalid_progress = finished.missing;
        }
        self.parsed.faults.extend(finished.faults);
    }

    fn accept(&mut self, operation: Operation, range: Range<usize>) {
        self.parsed.items.push(Item { operation, range });
    }

    fn reject(&mut self, section: Role, range: Range<usize>, (kind, detail): Wrong) {
        self.fault(kind, Some(section), range, detail);
    }

    fn fault(&mut self, kind: FaultKind, section: Option<Role>, range: Range<usize>, detail: String) {
        self.parsed.faults.push(Fault {
            kind,
            section,
            id: None,
            range,
            detail,
        });
    }

    fn finish(mut self) -> Parsed {
        self.close_block();
        self.parsed.items.extend(self.progress.take());
        self.parsed.faults.extend(self.invalid_progress.take());
        if self.parsed.sections.is_empty() {
            let detail = "no section header was found: CURRENT_PROGRESS, KEY_LEARNINGS or VERBATIM_CONTEXT";
            self.fault(FaultKind::NoSection, None, 0..self.text.len(), detail.to_owned());
        }
        if self.options.stopped_at_limit {
            self.distrust_last_item();
        }
        let mut parsed = self.parsed;
        parsed.items.sort_by_key(|item| item.range.start);
        parsed.faults.sort_by_key(|fault| fault.range.start);
        parsed
    }

    /// The model stopped at its token limit: what it wrote last may be half an item.
    fn distrust_last_item(&mut self) {
        let is_progress = |item: &Item| matches!(item.operation, Operation::RewriteProgress(_));
        let starts = |item: &Item| {
            if is_progress(item) {
                None
            } else {
                Some(item.range.start)
            }
        };
        let of_items = self.parsed.items.iter().filter_map(starts).max();
        let rejected = self.parsed.faults.iter().filter(|fault| !fault.kind.is_warning());
        let of_faults = rejected.map(|fault| fault.range.start).max();
        let last = of_items.max(of_faults).max(self.last_progress_bullet);
        let mut truncated = (None, self.text.len()..self.text.len());
        self.parsed.items.retain(|item| {
            let start = if is_progress(item) {
                self.last_progress_bullet
            } else {
                Some(item.range.start)
            };
            let is_last = start == last;
            if is_last {
                truncated = (item.operation.role(), item.range.clone());
            }
            !is_last
        });
        let detail = "the model stopped at its token limit, so its last item was not taken".to_owned();
        self.fault(FaultKind::Truncated, truncated.0, truncated.1, detail);
    }
}

/// The operation of a verbatim item; `head` is its text before the arrow.
fn verbatim(head: &str, snippet: String) -> Result<Operation, Wrong> {
    let behind = behind_because(head).unwrap_or_default();
    let (reason, label) = match items::reason_end(behind) {
        Some(at) => (behind[..at].trim(), behind[at + 1..].trim()),
        None => ("", ""),
    };
    if reason.is_empty() {
        return Err(items::addition("").map_or_else(|wrong| wrong, |_| missing_label()));
    }
    if snippet.trim().is_empty() {
        let detail = "nothing stands behind `=>`: write the snippet on the lines below, indented".to_owned();
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
    })
}

fn missing_label() -> Wrong {
    (
        FaultKind::MissingLabel,
        "a verbatim item needs a label and `=>` before its snippet: `- because <reason>: <label> => <snippet>`"
            .to_owned(),
    )
}

fn unknown(content: &str) -> String {
    format!(
        "`{}` is not a header of this form, and what stands below it was not taken; sections are \
         CURRENT_PROGRESS, KEY_LEARNINGS and VERBATIM_CONTEXT, lists are Completed, In Progress, Remaining, \
         ADD and ARCHIVE",
        excerpt(content)
    )
}
