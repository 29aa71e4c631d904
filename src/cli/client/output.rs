//! Standard output. What a terminal would obey is escaped, also in a pipe, which may lead to one; only commands that print
//! one text as it is, for files and other programs, write its bytes where standard output is no terminal.

use crate::cli::client::failure::Failure;
use clap::ColorChoice;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tokio::signal::unix::{SignalKind, signal};

/// The style of a piece of text, if colours are on: its number in an escape sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Look {
    /// The main content.
    Strong = 1,
    /// Secondary content.
    Dim = 2,
    /// Removed, or rejected.
    Removed = 31,
    /// Added.
    Added = 32,
    /// A number or id that can be used in the next command.
    Id = 33,
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
        let (terminal, colour) = of_stdout();
        Self {
            terminal,
            escape: !is_raw(),
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
        self.text.push_str(&format!("\x1b[{}m", look as u8));
        self.text(text);
        self.text.push_str("\x1b[0m");
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

    /// The text, for a caller that writes it.
    pub(in crate::cli) fn into_text(self) -> String {
        self.text
    }

    /// Writes the output, through a pager if it is longer than the terminal's height; on a terminal the last line ends, so that
    /// the prompt of the shell stands on the next. A reader that closes the pipe early (`| head`) is not a failure.
    pub(in crate::cli) fn write(&self) -> Result<(), Failure> {
        self.is_read().map(drop)
    }

    /// As [`Output::write`]; returns whether there is still a reader, for a command that has more to write.
    pub(in crate::cli) fn is_read(&self) -> Result<bool, Failure> {
        let is_cut = self.terminal && !self.text.is_empty() && !self.text.ends_with('\n');
        let text = match is_cut {
            true => Cow::Owned(format!("{}\n", self.text)),
            false => Cow::Borrowed(&*self.text),
        };
        if self.terminal && show(&text) {
            return Ok(true);
        }
        write_bytes(text.as_bytes())
    }

    /// Writes bytes that are no text.
    pub(in crate::cli) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
        write_bytes(bytes).map(drop)
    }
}

/// Writes to standard output; returns whether it has a reader.
fn write_bytes(bytes: &[u8]) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format!("cannot write the output: {error}"))),
    }
}

/// The text as [`Output`] writes it, for a caller that counts its characters.
pub(in crate::cli) fn escaped(text: &str) -> Cow<'_, str> {
    match is_raw() {
        true => Cow::Borrowed(text),
        false => visible(text),
    }
}

/// The text with every character that controls a terminal escaped as `\u001b` (which JSON parses as the same
/// character). Line feeds and tabs stay; a carriage return is removed if it only ends a line.
pub(in crate::cli) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !is_obeyed(c) {
            shown.push(c);
        } else if c != '\r' || rest.peek() != Some(&'\n') {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        }
    }
    Cow::Owned(shown)
}

/// Controls (C0, DEL, C1) and the characters that reorder text.
fn is_obeyed(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || (c.is_control() && c != '\n' && c != '\t')
}

static COLOR: OnceLock<ColorChoice> = OnceLock::new();
static RAW: OnceLock<bool> = OnceLock::new();

/// Applies `--color`.
pub(in crate::cli) fn set_color(color: ColorChoice) {
    // Set once, by the command line.
    let _ = COLOR.set(color);
}

/// Applies `--raw`.
pub(super) fn set_raw(raw: bool) {
    // Set once, by the running command.
    let _ = RAW.set(raw);
}

/// Whether control characters of texts are printed as they are.
pub(super) fn is_raw() -> bool {
    RAW.get() == Some(&true)
}

/// Whether standard output is a terminal, and whether it is coloured.
pub(super) fn of_stdout() -> (bool, bool) {
    let terminal = std::io::stdout().is_terminal();
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let colour = match COLOR.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal && set("TERM").is_some_and(|term| term != "dumb") && set("NO_COLOR").is_none()
        }
    };
    (terminal, colour)
}

/// The pager if no variable names one.
const DEFAULT: &str = "less";

/// The environment's pager: `WORKING_MEMORY_PAGER`, else `PAGER`, else `less`. `None` for an empty one and for `cat`.
fn pager() -> Option<String> {
    let named = ["WORKING_MEMORY_PAGER", "PAGER"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let pager = named.unwrap_or_else(|| DEFAULT.to_owned());
    Some(pager).filter(|pager| !matches!(pager.trim(), "" | "cat"))
}

/// Shows a text in a pager, if it is longer than the terminal's height; returns whether it did.
pub(super) fn show(text: &str) -> bool {
    let stdout = io::stdout();
    let Ok(size) = rustix::termios::tcgetwinsize(&stdout) else {
        return false;
    };
    let rows = usize::from(size.ws_row);
    if rows == 0 || text.lines().count() < rows || std::env::var_os("TERM").is_none_or(|term| term == "dumb")
    {
        return false;
    }
    let Some(pager) = pager() else { return false };
    // Ctrl-C is the pager's: it would be left on the terminal beside the shell if this program ended first.
    let _interrupts = signal(SignalKind::interrupt());
    // Through a shell, as other programs do: the variable may contain options.
    let mut command = Command::new("sh");
    command.arg("-c").arg(&pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Colours; quit if the text fits; keep the text on the screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // The user may quit the pager early.
        let _ = input.write_all(text.as_bytes());
    }
    match child.wait() {
        // A shell's exit codes for a program that does not exist or cannot be run.
        Ok(status) => !matches!(status.code(), Some(126 | 127)),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out_and_the_rest_stays() {
        for (text, shown) in [
            ("plain ä 漢 🙂\n\ttabbed\n", "plain ä 漢 🙂\n\ttabbed\n"),
            (
                "\x1b[31mred\x1b]0;title\x07",
                "\\u001b[31mred\\u001b]0;title\\u0007",
            ),
            ("over\rwritten", "over\\u000dwritten"),
            ("two\r\nlines\r\n", "two\nlines\n"),
            ("\u{9b}31m\u{7f}\u{0}", "\\u009b31m\\u007f\\u0000"),
            ("a\u{202e}b\u{2069}", "a\\u202eb\\u2069"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_obeyed_is_left(text in "(\\PC|\\p{Cc}|\u{202e}|\r\n){0,60}") {
            prop_assert!(!visible(&text).chars().any(is_obeyed));
        }
    }
}
