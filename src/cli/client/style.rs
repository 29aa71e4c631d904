//! The colours and escapes of this process, set once from its command line and standard output.

use clap::ValueEnum;
use std::io::IsTerminal as _;
use std::sync::OnceLock;

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, without `NO_COLOR`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

static COLOR: OnceLock<Color> = OnceLock::new();
static RAW: OnceLock<bool> = OnceLock::new();

/// Applies `--color`.
pub(in crate::cli) fn set_color(color: Color) {
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
    let colour = has_colour(COLOR.get().copied().unwrap_or_default(), terminal, |name| {
        std::env::var(name).ok()
    });
    (terminal, colour)
}

fn has_colour(wanted: Color, terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let dumb = set("TERM").is_none_or(|term| term == "dumb");
            terminal && !dumb && set("NO_COLOR").is_none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_by_default() {
        let term = |name: &str| (name == "TERM").then(|| "xterm".to_owned());
        let no_color = |_: &str| Some("1".to_owned());
        let dumb = |name: &str| (name == "TERM").then(|| "dumb".to_owned());
        assert!(has_colour(Color::Auto, true, term));
        assert!(!has_colour(Color::Auto, false, term));
        assert!(!has_colour(Color::Auto, true, no_color));
        assert!(!has_colour(Color::Auto, true, dumb));
        assert!(has_colour(Color::Always, false, no_color));
        assert!(!has_colour(Color::Never, true, term));
    }
}
