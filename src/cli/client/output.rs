//! Standard output. What a terminal would obey is escaped, also in a pipe, which may lead to one; only commands that print
//! one text as it is, for files and other programs, write its bytes where standard output is no terminal.

use super::failure::Failure;
use super::text::visible;
use std::io::{ErrorKind, Write as _};

/// The style of a piece of text, if colours are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Look {
    /// The main content.
    Strong,
    /// Secondary content.
    Dim,
    /// Added.
    Added,
    /// Removed, or rejected.
    Removed,
    /// A number or id that can be used in the next command.
    Id,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Dim => "2",
            Self::Added => "32",
            Self::Removed => "31",
            Self::Id => "33",
        }
    }
}

/// The output of a command, buffered until it is complete and then written at once.
#[derive(Debug)]
pub(in crate::cli) struct Output {
    terminal: bool,
    escape: bool,
    colour: bool,
    text: String,
}

impl Output {
    /// For the process's standard output, coloured as `--color` says.
    pub(in crate::cli) fn new() -> Self {
        let (terminal, colour) = super::style::of_stdout();
        Self {
            terminal,
            escape: !super::style::is_raw(),
            colour,
            text: String::new(),
        }
    }

    /// For one text that is printed as it is: its bytes, unless standard output is a terminal.
    pub(in crate::cli) fn of_document() -> Self {
        let mut out = Self::new();
        out.escape &= out.terminal;
        out
    }

    /// Adds text.
    pub(in crate::cli) fn text(&mut self, text: &str) -> &mut Self {
        if self.escape {
            self.text.push_str(&visible(text));
        } else {
            self.text.push_str(text);
        }
        self
    }

    /// Adds text with a style.
    pub(in crate::cli) fn styled(&mut self, look: Look, text: &str) -> &mut Self {
        if !self.colour || text.is_empty() {
            return self.text(text);
        }
        self.text.push_str("\x1b[");
        self.text.push_str(look.code());
        self.text.push('m');
        self.text(text);
        self.text.push_str("\x1b[0m");
        self
    }

    /// Begins a paragraph: an empty line, unless it is the first.
    pub(in crate::cli) fn paragraph(&mut self) -> &mut Self {
        if !self.text.is_empty() {
            self.end();
        }
        self
    }

    /// Ends a line.
    pub(in crate::cli) fn end(&mut self) -> &mut Self {
        self.text.push('\n');
        self
    }

    /// Adds the lines of a text, each after `indent`.
    pub(in crate::cli) fn indented(&mut self, indent: &str, text: &str) -> &mut Self {
        for line in text.lines() {
            self.text(indent).text(line).end();
        }
        self
    }

    /// Adds the text, if it is not empty, and a line end if the text has none.
    pub(in crate::cli) fn whole_lines(&mut self, text: &str) -> &mut Self {
        self.text(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.end();
        }
        self
    }

    /// Adds the lines of a unified diff.
    pub(in crate::cli) fn diff(&mut self, diff: &str) -> &mut Self {
        for line in diff.split_inclusive('\n') {
            let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
            match body.as_bytes() {
                [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => self.styled(Look::Strong, body),
                [b'+', ..] => self.styled(Look::Added, body),
                [b'-', ..] => self.styled(Look::Removed, body),
                [b'@', ..] => self.styled(Look::Dim, body),
                _ => self.text(body),
            };
            self.text.push_str(end);
        }
        self
    }

    /// The text so far.
    #[cfg(test)]
    pub(in crate::cli) fn as_str(&self) -> &str {
        &self.text
    }

    /// The text, for a caller that writes it.
    pub(in crate::cli) fn into_text(self) -> String {
        self.text
    }

    /// Writes the output, through a pager if it is longer than the terminal's height. A reader that closes the pipe early
    /// (`| head`) is not a failure.
    pub(in crate::cli) fn write(&self) -> Result<(), Failure> {
        if self.terminal && super::pager::show(&self.text) {
            return Ok(());
        }
        Self::bytes(self.text.as_bytes())
    }

    /// Writes bytes that are no text.
    pub(in crate::cli) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::failed(format!("cannot write the output: {error}")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(escape: bool, colour: bool) -> Output {
        Output {
            terminal: false,
            escape,
            colour,
            text: String::new(),
        }
    }

    fn written(escape: bool, colour: bool) -> String {
        let mut out = output(escape, colour);
        out.styled(Look::Id, "KL-1\x1b[2J").text(" a\x07\n");
        out.text
    }

    #[test]
    fn nothing_is_left_to_obey_but_our_colours_unless_the_bytes_are_wanted() {
        assert_eq!(written(false, false), "KL-1\x1b[2J a\x07\n");
        assert_eq!(written(true, false), "KL-1\\u001b[2J a\\u0007\n");
        assert_eq!(written(true, true), "\x1b[33mKL-1\\u001b[2J\x1b[0m a\\u0007\n");
    }

    #[test]
    fn a_diff_keeps_its_bytes_where_they_are_wanted() {
        let diff = "--- version 1\n+++ version 2\n@@ -1 +1 @@\n-a\r\n+b\n\\ No newline at end of file";
        assert_eq!(output(false, false).diff(diff).text, diff);
        assert!(output(true, true).diff(diff).text.contains("\x1b[32m+b\x1b[0m\n"));
    }
}
