//! A pager for long output on a terminal.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

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
