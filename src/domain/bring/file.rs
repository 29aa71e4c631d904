//! A file of another system: its text, places in it, and the credentials that it must not contain.

use crate::domain::text::secrets_with_kind;
use std::fmt;

/// Why a file is refused: its place, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(String);

/// A file that was read.
#[derive(Debug, Clone)]
pub struct SourceFile {
    pub(super) name: String,
    pub(super) text: String,
    /// Where each line begins.
    pub(super) lines: Vec<usize>,
}

impl SourceFile {
    /// The text of a file, without a byte order mark and with LF line ends. Places name the file as `name`.
    ///
    /// # Errors
    ///
    /// It is empty, is not UTF-8, or contains a NUL character.
    pub fn of(name: &str, bytes: Vec<u8>) -> Result<Self, BadInput> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let valid = String::from_utf8_lossy(&error.as_bytes()[..at]);
            Self::new(name, valid.into_owned()).bad(at, "the file is not UTF-8 here")
        })?;
        let file = Self::new(name, text);
        if let Some(at) = file.text.find('\0') {
            return Err(file.bad(at, "the file contains a NUL character; is it text?"));
        }
        let text = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        if text.trim().is_empty() {
            return Err(file.bad(0, "the file is empty"));
        }
        Ok(Self::new(name, text))
    }

    fn new(name: &str, text: String) -> Self {
        let after_lf = memchr::memchr_iter(b'\n', text.as_bytes()).map(|lf| lf + 1);
        Self {
            lines: std::iter::once(0).chain(after_lf).collect(),
            name: name.to_owned(),
            text,
        }
    }

    /// Each credential of the file, by its place and what it is, never by itself.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let found = secrets_with_kind(&self.text).into_iter();
        let mut found: Vec<_> = found
            .map(|(range, kind)| format!("{}: {kind}", self.place(range.start)))
            .collect();
        found.dedup();
        found
    }

    /// The file and line of a byte.
    pub(super) fn place(&self, at: usize) -> String {
        format!("{}:{}", self.name, self.line(at))
    }

    /// The failure at a byte; its column is in characters.
    pub(super) fn bad(&self, at: usize, what: impl fmt::Display) -> BadInput {
        let (line, at) = (self.line(at), self.text.floor_char_boundary(at));
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let column = self.text[start..at].chars().count() + 1;
        BadInput(format!("{}:{line}:{column}: {what}", self.name))
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }
}
