//! The slider over the versions of a memory.

use super::super::link;
use super::super::parts::Escaped;
use askama::filters::HtmlSafe;
use std::fmt;

/// Selects a version by its number; without scripts it is an ordinary form.
pub(super) struct Slider {
    action: String,
    version: i64,
    newest: i64,
}

impl Slider {
    pub(super) fn new(vault: &str, memory: &str, version: i64, newest: i64) -> Self {
        Self {
            action: link::memory(vault, memory, &["versions"]),
            version,
            newest,
        }
    }
}

impl fmt::Display for Slider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            action,
            version,
            newest,
        } = self;
        let action = Escaped(action);
        write!(
            f,
            r#"<form class="panel travel" method="get" action="{action}"><label for="slider">Travel to version <output id="slider-value" for="slider">{version}</output> of {newest}</label><input type="range" id="slider" name="version" min="1" max="{newest}" value="{version}" data-follows="slider-value"><button>Show</button></form>"#
        )
    }
}

impl HtmlSafe for Slider {}
