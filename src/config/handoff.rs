//! `[handoff]`: the generated view of recent changes.

use super::values::section;
use crate::domain::handoff::Window;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

section! {
    /// How handoffs are made (DESIGN §7).
    pub struct HandoffConfig in "handoff" {
        /// The window of a handoff: an ISO 8601 duration such as `PT2H`, or `2h`; one second to 366 days.
        #[serde(deserialize_with = "window")]
        pub window: Window = Window::DEFAULT;
        /// Not a setting; tests shorten it. Handoffs kept per memory; the oldest are deleted.
        #[serde(skip)]
        pub keep: i64 = 100;
    }
}

fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Window, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.trim()
        .parse()
        .map_err(|rule| D::Error::custom(format!("{rule}, not {text:?}")))
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
}
