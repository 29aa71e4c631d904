//! `section = section-header { list | item }` and `list = list-header { item }`: handles headers.

use super::answer_parser::AnswerParser;
use super::bullets;
use super::headers::{self, Header, List, Opens, Resemblance};
use super::items::{after_because, begins_with_id};
use super::lines::Line;
use crate::domain::operation::Role;

impl AnswerParser<'_> {
    /// Handles a line if it is a header.
    pub(super) fn header(&mut self, line: &Line, content: &str) -> bool {
        let Some(header) = headers::known(content) else {
            return false;
        };
        // A bare word such as `Remaining` may be the end of a bullet's text; a header with colon or
        // decoration may not.
        let is_bullets_word = !header.is_set_apart && self.found.is_within_progress_bullet(line);
        if is_bullets_word {
            return false;
        }
        match header.opens {
            Opens::Section(role) => self.open_section(role, line),
            Opens::List(list) if !self.open_list(list, line, &header) => return false,
            Opens::List(_) => {}
        }
        if !header.after.is_empty() {
            self.item_after(line, &header);
        }
        true
    }

    fn open_section(&mut self, role: Role, line: &Line) {
        self.found.open_section(role, line);
        self.scope.open_section(role, line.indent);
    }

    /// Opens a list, unless it is not allowed here.
    fn open_list(&mut self, list: List, line: &Line, header: &Header<'_>) -> bool {
        let is_of_progress = matches!(list, List::Completed | List::InProgress | List::Remaining);
        if self.scope.drops_section() {
            return true;
        }
        match self.scope.section() {
            Some(Role::Progress) if is_of_progress => {}
            Some(Role::Learnings | Role::Verbatim) if !is_of_progress => {}
            // Lists of progress belong to one section only, so its header may be missing.
            None if is_of_progress && header.is_set_apart => {
                self.open_section(Role::Progress, line);
            }
            Some(_) if header.is_set_apart => {
                self.unknown_header(line, line.first..line.last, Resemblance::Strong);
                return true;
            }
            _ => return false,
        }
        self.found.finish_progress_bullet();
        self.scope.open_list(list, line.indent);
        true
    }

    /// Parses the item that follows a header on its line.
    fn item_after(&mut self, line: &Line, header: &Header<'_>) {
        let item = header.after;
        let text = bullets::text(item).unwrap_or(item);
        let tells = after_because(text).is_some() || begins_with_id(text);
        let is_list = matches!(header.opens, Opens::List(_));
        if (tells || is_list) && !bullets::is_no_change(text) {
            self.item(line, text);
        }
    }
}
