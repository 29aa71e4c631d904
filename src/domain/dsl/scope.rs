//! The section and list that contain the current line, and whether its items are dropped.

use super::headers::List;
use crate::domain::operation::Role;
use std::ops::Range;

/// The headers above the current line.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The section and the column of its header.
    section: Option<(Role, usize)>,
    /// The list and the column of its header.
    list: Option<(List, usize)>,
    dropped: Option<Dropped>,
}

/// State while the items below an unknown header are dropped.
#[derive(Debug)]
struct Dropped {
    /// Whether items are dropped until the next section header; otherwise until the next list header.
    is_section: bool,
    /// The unknown header, until it is reported: it counts as a header only if an item follows.
    unreported: Option<Range<usize>>,
}

impl Scope {
    pub(super) fn section(&self) -> Option<Role> {
        self.section.map(|(role, _)| role)
    }

    pub(super) fn list(&self) -> Option<List> {
        self.list.map(|(list, _)| list)
    }

    pub(super) fn open_section(&mut self, role: Role, indent: usize) {
        *self = Self {
            section: Some((role, indent)),
            list: None,
            dropped: None,
        };
    }

    pub(super) fn open_list(&mut self, list: List, indent: usize) {
        self.list = Some((list, indent));
        self.dropped = None;
    }

    /// Whether items are dropped.
    pub(super) fn drops(&self) -> bool {
        self.dropped.is_some()
    }

    /// Whether items are dropped until the next section.
    pub(super) fn drops_section(&self) -> bool {
        self.dropped.as_ref().is_some_and(|dropped| dropped.is_section)
    }

    /// Whether a line is not indented deeper than the section's header, or than column 0 without a section.
    pub(super) fn is_beside_section(&self, indent: usize) -> bool {
        indent <= self.section.map_or(0, |(_, column)| column)
    }

    /// Drops the items below an unknown header. It counts as a section if none is open, or if it is at the
    /// level of the open section and is not one of its lists.
    pub(super) fn drop_items(&mut self, header: Range<usize>, content: &str, indent: usize) {
        let is_list_deeper = self.list.is_some_and(|(_, column)| column > indent);
        let is_section = self.section.is_none()
            || (self.is_beside_section(indent) && (is_list_deeper || content.contains('_')));
        self.dropped = Some(Dropped {
            is_section,
            unreported: Some(header),
        });
    }

    /// Returns, once, the unknown header whose items are dropped, and the section that contains it.
    pub(super) fn unreported(&mut self) -> Option<(Range<usize>, Option<Role>)> {
        let dropped = self.dropped.as_mut()?;
        let header = dropped.unreported.take()?;
        let section = self.section.filter(|_| !dropped.is_section);
        Some((header, section.map(|(role, _)| role)))
    }
}
