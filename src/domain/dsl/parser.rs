//! `answer = { section | prose }`: dispatches each line of a text, and collects its operations and faults.

use super::headers::{self, Header, List, Opens, Resemblance};
use super::items::{self, after_because, begins_with_id};
use super::lines::{self, Closings, Line, bullet, is_no_change};
use super::progress::Block;
use crate::domain::document::{Fence, Marks, leading_marks, reason_end};
use crate::domain::faults::{MAX_TEXT_LINES, Parsed};
use crate::domain::operation::{AddedRecord, Fault, FaultKind, Item, Operation, Role};
use crate::domain::text::lines::{offset_in, start_of};
use std::borrow::Cow;
use std::ops::Range;

/// Parses a text. Total: every input has a result.
#[must_use]
pub fn parse(text: &str) -> Parsed {
    parse_answer(None, text, false)
}

/// Parses the text of a model. Below the header of its role it takes out no records of other roles, whatever their ground.
/// If the model stopped at its token limit, the last item is not trusted.
#[must_use]
pub fn parse_answer(author: Option<Role>, text: &str, is_cut_off: bool) -> Parsed {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    if count > MAX_TEXT_LINES {
        let mut parsed = Parsed::default();
        let detail = format!("the text has {count} lines; at most {MAX_TEXT_LINES} are read");
        parsed.fault(Fault::new(FaultKind::TooLarge, detail));
        return parsed;
    }
    let lines = lines::split(text);
    let mut parser = Parser {
        text,
        author,
        until: lines.len(),
        lines,
        ..Parser::default()
    };
    while let Some(line) = parser.next_line() {
        if !line.is_blank() {
            parser.line(&line);
        }
    }
    parser.finish(is_cut_off)
}

/// The state between two lines.
#[derive(Default)]
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    /// The role whose model wrote it.
    author: Option<Role>,
    pub(super) lines: Vec<Line>,
    /// Index of the next line.
    pub(super) at: usize,
    /// Index of the line that closes the fence around the answer, or the number of lines. No snippet extends
    /// past it.
    pub(super) until: usize,
    in_outer_fence: bool,
    pub(super) closings: Closings,
    /// The section that contains the next line, and the column of its header.
    section: Option<(Role, usize)>,
    /// The list and the column of its header.
    list: Option<(List, usize)>,
    /// Whether the list has items with bullets: what has none beside it is prose.
    is_marked: bool,
    /// Set while the items below an unknown header are dropped.
    dropped: Option<Dropped>,
    parsed: Parsed,
    block: Option<Block>,
    /// Where the last item begins that was read, whatever became of it.
    last_item: Option<usize>,
    /// The last progress that counts: valid, or its fault.
    progress: Option<Result<Item, Fault>>,
}

struct Dropped {
    /// Whether items are dropped until the next section header; otherwise until the next list header.
    is_section: bool,
    /// The unknown header, until it is reported: it counts as a header only if an item follows.
    unreported: Option<Range<usize>>,
}

impl Parser<'_> {
    /// Returns the next line and advances past it.
    fn next_line(&mut self) -> Option<Line> {
        let line = *self.lines.get(self.at)?;
        self.at += 1;
        if self.at > self.until {
            // After the fence around the answer snippets need no bound.
            self.until = self.lines.len();
        }
        Some(line)
    }

    /// Handles one line: a header, an item, a fence around the answer, "no change", or prose. Items consume the lines
    /// that belong to them.
    fn line(&mut self, line: &Line) {
        let content = line.content(self.text);
        // In a list, also a bullet without its blank.
        let tight = || {
            let item = self.list.and(content.strip_prefix('-'))?;
            item.starts_with(char::is_alphanumeric).then_some(item)
        };
        if let Some(item) = bullet(content).or_else(tight) {
            if is_header_as_item(item) {
                self.header(line, item);
            } else if self.is_other_list_of_archive(item) {
                self.unknown_header(line, Resemblance::Strong);
            } else if !is_no_change(item) {
                self.is_marked = true;
                self.item(line, item);
            }
            return;
        }
        if self.header(line, content) || self.outer_fence(content) || is_no_change(content) {
            return;
        }
        if self.is_unmarked_item(line, content) {
            return self.item(line, content.trim_start_matches('-'));
        }
        if let Some(resemblance) = headers::unknown(content)
            && self.may_be_reported(line, resemblance)
        {
            self.unknown_header(line, resemblance);
        } else if self.introduces_others(content) {
            self.dropped.get_or_insert(Dropped {
                is_section: false,
                unreported: Some(line.first..line.last),
            });
        }
    }

    /// Whether a line without a bullet begins as an item of records does.
    fn is_unmarked_item(&self, line: &Line, content: &str) -> bool {
        if self.section.is_none_or(|(role, _)| role == Role::Progress) {
            return false;
        }
        let is_below = self.list.is_some_and(|(_, column)| line.indent > column);
        let is_flat = || !self.is_marked && self.list.is_some_and(|(list, _)| list == List::Archive);
        items::is_unmarked_addition(content, is_below)
            || begins_with_id(content) && (is_below || is_flat() && items::is_unmarked_archiving(content))
    }

    /// Whether the items below a line may be of no list of the form: `Still to do:` after what is completed, `These stay:`
    /// or `**Gültig**` after what is archived. Other prose may end with a colon, too, but what it says of additions is no
    /// other list.
    fn introduces_others(&self, content: &str) -> bool {
        self.list
            .is_some_and(|(list, _)| list.is_of_progress() || list == List::Archive)
            && (headers::ends_with_colon(content) || headers::is_heading(content))
    }

    /// The same of a bullet: `- Keep:` or `- **Keep**`.
    fn is_other_list_of_archive(&self, item: &str) -> bool {
        self.list.is_some_and(|(list, _)| list == List::Archive)
            && (headers::ends_with_colon(item) || headers::is_heading(item))
            && !begins_with_id(item)
    }

    /// Consumes the line just read if it is a fence around the answer (only before the first header) or
    /// around a section.
    fn outer_fence(&mut self, content: &str) -> bool {
        let Some(fence) = Fence::opened_by(content) else {
            return false;
        };
        if self.section.is_none() && !self.in_outer_fence {
            self.in_outer_fence = true;
            // The last line that closes the fence and is not indented deeper than it.
            let indent = self.lines[self.at - 1].indent;
            let closes = |line: &Line| line.indent <= indent && fence.is_closed_by(line.content(self.text));
            let closing = self.lines[self.at..].iter().rposition(closes);
            self.until = closing.map_or(self.lines.len(), |closing| self.at + closing);
        }
        true
    }

    /// Handles a line if it is a header.
    fn header(&mut self, line: &Line, content: &str) -> bool {
        let Some(header) = headers::known(content) else {
            return false;
        };
        match header.opens {
            Opens::Section(role) => self.open_section(role, line),
            Opens::List(list) if !self.open_list(list, line, &header) => return false,
            Opens::List(_) => {}
        }
        // A section may have its first list on its own line, but no further section: a line may have thousands of them.
        let opens_list = matches!(header.opens, Opens::Section(_))
            && header.list_behind().is_some()
            && self.header(line, header.after);
        if !header.after.is_empty() && !opens_list {
            self.item_after(line, &header);
        }
        true
    }

    fn open_section(&mut self, role: Role, line: &Line) {
        self.close_block();
        if role == Role::Progress {
            self.block = Some(Block::new(line.first..line.last));
        }
        self.section = Some((role, line.indent));
        (self.list, self.dropped) = (None, None);
    }

    /// Opens a list, unless it is not allowed here.
    fn open_list(&mut self, list: List, line: &Line, header: &Header<'_>) -> bool {
        let is_of_progress = list.is_of_progress();
        if self.drops_section() {
            return true;
        }
        match self.section {
            Some((Role::Progress, _)) if is_of_progress => {}
            Some((Role::Learnings | Role::Verbatim, _)) if !is_of_progress => {}
            // Lists of progress belong to one section only, so its header may be missing.
            None if is_of_progress && header.is_set_apart => self.open_section(Role::Progress, line),
            Some(_) if header.is_set_apart => {
                self.unknown_header(line, Resemblance::Strong);
                return true;
            }
            _ => return false,
        }
        (self.list, self.dropped) = (Some((list, line.indent)), None);
        self.is_marked = false;
        true
    }

    /// Parses the item that follows a header on its line.
    fn item_after(&mut self, line: &Line, header: &Header<'_>) {
        let text = bullet(header.after).unwrap_or(header.after);
        let is_list = matches!(header.opens, Opens::List(_));
        if (is_list || items::begins_as_item(text)) && !is_no_change(text) {
            self.item(line, text);
        }
    }

    /// Whether items are dropped until the next section.
    fn drops_section(&self) -> bool {
        self.dropped.as_ref().is_some_and(|dropped| dropped.is_section)
    }

    /// Whether a line is not indented deeper than the section's header, or than column 0 without a section.
    fn is_beside_section(&self, indent: usize) -> bool {
        indent <= self.section.map_or(0, |(_, column)| column)
    }

    /// Whether an unknown header may be reported. Lists below an unknown section are part of it; another
    /// section beside it is not.
    fn may_be_reported(&self, line: &Line, resemblance: Resemblance) -> bool {
        !self.drops_section() || (resemblance == Resemblance::Strong && self.is_beside_section(line.indent))
    }

    /// Drops the items below an unknown header. It counts as a section if none is open, or if it is at the
    /// level of the open section and is not one of its lists.
    fn unknown_header(&mut self, line: &Line, resemblance: Resemblance) {
        let is_outside = self.section.is_none();
        if is_outside && resemblance == Resemblance::Weak {
            return;
        }
        let range = line.first..line.last;
        let is_list_deeper = self.list.is_some_and(|(_, column)| column > line.indent);
        let has_underscore = self.text[range.clone()].contains('_');
        self.dropped = Some(Dropped {
            is_section: is_outside
                || (self.is_beside_section(line.indent) && (is_list_deeper || has_underscore)),
            unreported: Some(range),
        });
        if resemblance == Resemblance::Strong && !is_outside {
            self.report_unknown_header();
        }
    }

    /// Reports, once, the unknown header whose items are dropped.
    fn report_unknown_header(&mut self) {
        let Some(dropped) = &mut self.dropped else { return };
        let Some(header) = dropped.unreported.take() else {
            return;
        };
        self.last_item = Some(header.start);
        let section = self.section.filter(|_| !dropped.is_section).map(|(role, _)| role);
        let detail = format!(
            "`{}` is not a header of this form, and what is below it was ignored; sections are \
             CURRENT_PROGRESS, KEY_LEARNINGS and VERBATIM_CONTEXT, lists are Completed, In Progress, Remaining, \
             ADD and ARCHIVE",
            start_of(&self.text[header.clone()], items::EXCERPT_CHARS)
        );
        let wrong = Fault::new(FaultKind::UnknownHeader, detail);
        self.parsed.fault(wrong.at(section, header));
    }

    /// `item = progress-bullet | learning | snippet-item | archiving | merge | mark`: parses an item according to its
    /// section and list; its text begins at `item`.
    fn item(&mut self, line: &Line, item: &str) {
        self.last_item = Some(line.first);
        if self.dropped.is_some() {
            self.report_unknown_header();
            // What is dropped is quoted with its header.
            let header = self.parsed.faults.last_mut();
            if let Some(fault) = header.filter(|fault| fault.kind == FaultKind::UnknownHeader) {
                fault.range.end = line.last;
            }
            return;
        }
        let range = line.first..line.last;
        let Some((section, _)) = self.section else {
            return;
        };
        let list = self.list.map(|(list, _)| list);
        let Some(kind) = section.record_kind() else {
            let (text, end) = self.fold(line, item);
            if let Some(block) = &mut self.block {
                block.bullet(list, text, line.first..end, &mut self.parsed);
            }
            return;
        };
        // A record of the memory that the model repeated looks like an archiving too; nothing is archived
        // without `ARCHIVE`.
        if list.is_none() && begins_with_id(item) {
            let detail = "an item must be below `ADD:` or `ARCHIVE:`";
            let wrong = Fault::new(FaultKind::UnknownHeader, detail);
            return self.parsed.fault(wrong.at(Some(section), range));
        }
        let of_records = match list {
            Some(List::Archive) => items::archive,
            Some(List::Mark) => items::mark,
            Some(List::Merge) => return self.added(line, item, Marks::default(), items::merge),
            _ => {
                let (marks, item) = leading_marks(item);
                return match section {
                    Role::Verbatim => self.verbatim(line, item, marks),
                    _ => self.added(line, item, marks, items::learning),
                };
            }
        };
        // `archiving = id { "," id } "because" reason`, and `mark = id marks "because" reason`
        let (text, end) = self.fold(line, item);
        self.take(section, of_records(&text, kind), line.first..end, None);
    }

    /// A learning (`because reason ":" insight`) or a merge of learnings (`id "," id { "," id } because reason ":" insight`).
    fn added(&mut self, line: &Line, item: &str, marks: Marks, read: fn(&str) -> Result<AddedRecord, Fault>) {
        let (text, end) = self.fold(line, item);
        let range = line.first..end;
        let is_joined = end > line.last;
        let warning = is_joined.then(|| items::joined().at(Some(Role::Learnings), range.clone()));
        let read = read(&text).map(|added| Operation::Add(AddedRecord { marks, ..added }));
        self.take(Role::Learnings, [read], range, warning);
    }

    /// Takes what was read of an item, and the warning about its form if it is valid.
    fn take(
        &mut self,
        section: Role,
        read: impl IntoIterator<Item = Result<Operation, Fault>>,
        range: Range<usize>,
        mut warning: Option<Fault>,
    ) {
        // What an author writes below its own header is about its own records.
        let own = self.section.map(|(own, _)| own);
        let own = own.filter(|own| self.author == Some(*own));
        let section = own.unwrap_or(section);
        for read in read {
            let operation = read.as_ref().ok();
            let foreign = operation.and_then(|operation| items::foreign(own?, operation));
            match foreign.map_or(read, Err) {
                Ok(operation) => {
                    if let Some(warning) = warning.take() {
                        self.parsed.fault(warning);
                    }
                    self.parsed.accept(operation, range.clone());
                }
                Err(wrong) => self.parsed.fault(wrong.at(Some(section), range.clone())),
            }
        }
    }

    /// `snippet-item = [ "[" marks "]" ] "because" reason ":" label "=>" snippet`
    fn verbatim(&mut self, line: &Line, item: &str, marks: Marks) {
        let start = offset_in(self.text, item);
        let head = &self.text[start..line.last];
        // Byte offset of the content: after the colon that ends the reason.
        let content = after_because(head)
            .and_then(|after| Some(head.len() - after.len() + reason_end(after, char::is_whitespace)? + 1))
            .unwrap_or(head.len());
        let (read, end, unclosed) = match head[content..].find("=>").map(|at| content + at) {
            Some(arrow) => {
                let snippet = self.snippet(start + arrow + "=>".len());
                let before = self.normalised(line, &head[..arrow]);
                let (reason, label) = items::split(&before);
                let read = items::addition(reason, Some(label), snippet.text);
                (read, snippet.end.max(line.last), snippet.unclosed)
            }
            // It consumes its deeper lines too.
            None => {
                let (text, end) = self.fold(line, item);
                let (reason, content) = items::split(&text);
                let read = items::addition(reason, Some(""), content.to_owned());
                (read, end, None)
            }
        };
        let warning = unclosed.map(|fence| {
            let detail = "the code fence is never closed, so it was read as plain text";
            Fault::new(FaultKind::UnclosedFence, detail).at(Some(Role::Verbatim), fence)
        });
        let read = read.map(|added| Operation::Add(AddedRecord { marks, ..added }));
        self.take(Role::Verbatim, [read], line.first..end, warning);
    }

    /// Joins an item and the deeper-indented lines below it with single blanks; returns also where the last of them ends.
    /// Stops at a deeper bullet that starts an item of its own, as any bullet of progress does, and at a header in full form:
    /// a bare word such as `Remaining` may be the end of the item's text.
    fn fold(&mut self, line: &Line, item: &str) -> (String, usize) {
        let mut folded = self.normalised(line, item).into_owned();
        let mut end = line.last;
        let is_progress = matches!(self.section, Some((Role::Progress, _)));
        let starts_item = |content: &str| match bullet(content) {
            Some(item) => is_progress || items::begins_as_item(item),
            None => headers::known(content).is_some_and(|header| header.is_set_apart),
        };
        let mut index = self.at;
        while let Some(next) = self.lines.get(index) {
            index += 1;
            if next.is_blank() {
                continue;
            }
            let content = next.content(self.text);
            if next.indent <= line.indent || index > self.until.max(self.at) || starts_item(content) {
                break;
            }
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(&self.normalised(next, content));
            (end, self.at) = (next.last, index);
        }
        (folded, end)
    }

    /// A slice of a line in the normalised view.
    fn normalised<'p>(&self, line: &Line, part: &'p str) -> Cow<'p, str> {
        if part.contains('\t') {
            let start = offset_in(self.text, part);
            Cow::Owned(lines::expanded(self.text, line, start..start + part.len()))
        } else {
            Cow::Borrowed(part)
        }
    }

    /// The last block counts; one without a bullet means that nothing changed.
    fn close_block(&mut self) {
        let block = self.block.take().filter(|block| !block.is_empty());
        let finished = block.and_then(|block| block.finish(&mut self.parsed));
        self.progress = finished.or(self.progress.take());
    }

    /// Returns all items and faults, in input order.
    fn finish(mut self, is_cut_off: bool) -> Parsed {
        self.close_block();
        match self.progress.take() {
            Some(Ok(item)) => self.parsed.items.push(item),
            Some(Err(fault)) => self.parsed.fault(fault),
            None => {}
        }
        if self.section.is_none() {
            let detail = "no section header was found: CURRENT_PROGRESS, KEY_LEARNINGS or VERBATIM_CONTEXT";
            let wrong = Fault::new(FaultKind::NoSection, detail);
            self.parsed.fault(wrong.at(None, 0..self.text.len()));
        }
        if is_cut_off {
            self.distrust_last_item();
        }
        let mut parsed = self.parsed;
        parsed.items.sort_by_key(|item| item.range.start);
        parsed.faults.sort_by_key(|fault| fault.range.start);
        parsed
    }

    /// The model stopped at its token limit: its last item may be incomplete.
    fn distrust_last_item(&mut self) {
        let end = self.text.len();
        let mut truncated = (None, end..end);
        self.parsed.items.retain(|item| {
            // A progress holds the last bullet; of other items this is the beginning.
            let is_last = self.last_item.is_some_and(|last| item.range.contains(&last));
            if is_last {
                truncated = (item.operation.role(), item.range.clone());
            }
            !is_last
        });
        // Kept even beyond the limit: it concerns the whole text.
        let detail = "a token limit or a filter ended the answer, so its last item was not taken";
        let fault = Fault::new(FaultKind::Truncated, detail);
        self.parsed.faults.push(fault.at(truncated.0, truncated.1));
    }
}

/// Models sometimes number their headers.
fn is_header_as_item(item: &str) -> bool {
    headers::known(item).is_some_and(|header| {
        let is_certain = match header.opens {
            Opens::Section(_) => header.is_set_apart,
            Opens::List(_) => header.is_canonical,
        };
        is_certain && header.after.is_empty()
    })
}
