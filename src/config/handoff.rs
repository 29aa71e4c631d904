//! `[handoff]`: the generated view of recent changes.

use crate::domain::handoff::{Caps, Window};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// How handoffs are made (DESIGN §7).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HandoffConfig {
    /// The window of a handoff: an ISO 8601 duration such as `PT2H`, or `2h`; one second to 366 days.
    #[serde(deserialize_with = "window")]
    pub window: Window,
    /// Whether a model writes the prose, if the role `llm.roles.handoff` has one; otherwise rules do.
    pub model: bool,
    /// Lines of one section; more are omitted, and the section says so.
    pub section_lines: usize,
    /// Characters quoted in one line.
    pub line_chars: usize,
    /// Changes of the window that are read, newest first.
    pub max_changes: usize,
    /// Handoffs kept per memory; the oldest are deleted.
    pub keep: i64,
}

impl Default for HandoffConfig {
    fn default() -> Self {
        Self {
            window: Window::DEFAULT,
            model: true,
            section_lines: 20,
            line_chars: 240,
            max_changes: 1_000,
            keep: 100,
        }
    }
}

impl HandoffConfig {
    /// The limits of sections and lines.
    #[must_use]
    pub fn caps(&self) -> Caps {
        Caps {
            section_lines: self.section_lines,
            line_chars: self.line_chars,
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        let within = |name: &str, value: i64, least: i64, most: i64| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("handoff.{name} must be {least} to {most}")),
        };
        let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        within("section_lines", number(self.section_lines), 1, 200)?;
        within("line_chars", number(self.line_chars), 40, 2_000)?;
        within("max_changes", number(self.max_changes), 1, 10_000)?;
        within("keep", self.keep, 1, 100_000)
    }
}

fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Window, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.trim()
        .parse()
        .map_err(|rule| D::Error::custom(format!("handoff.window {rule}, not {text:?}")))
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    fn load(key: &str, value: &str) -> Result<Config, String> {
        let environment = [(format!("WORKING_MEMORY__HANDOFF__{key}"), value.to_owned())];
        Config::load(None, environment).map_err(|error| error.to_string())
    }

    #[test]
    fn windows_come_in_both_forms_and_nothing_else() {
        for text in ["6h", "PT6H"] {
            assert_eq!(load("WINDOW", text).unwrap().handoff.window.to_string(), "PT6H");
        }
        for bad in ["soon", "0h", "P400D"] {
            assert!(
                load("WINDOW", bad).unwrap_err().contains("handoff.window"),
                "{bad}"
            );
        }
    }

    #[test]
    fn caps_have_bounds() {
        for (key, bad) in [
            ("SECTION_LINES", "0"),
            ("LINE_CHARS", "39"),
            ("MAX_CHANGES", "10001"),
            ("KEEP", "0"),
        ] {
            let error = load(key, bad).unwrap_err();
            assert!(
                error.contains(&format!("handoff.{}", key.to_lowercase())),
                "{error}"
            );
        }
        assert!(!load("MODEL", "false").unwrap().handoff.model);
    }
}
