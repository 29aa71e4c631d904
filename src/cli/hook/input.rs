//! The input of a hook: JSON on standard input, in the formats of Claude Code, Codex and Cursor.

use crate::cli::client::Failure;
use serde_json::{Map, Value};
use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

/// More than any host sends.
const MAX_BYTES: u64 = 1024 * 1024;

/// The output format of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// Claude Code and Codex: what is printed becomes part of the conversation.
    Plain,
    /// Cursor: JSON with `additional_context`.
    Cursor,
}

/// The parsed input.
#[derive(Debug)]
pub(super) struct Input {
    /// The host that sent it.
    pub(super) host: Host,
    /// The session.
    pub(super) session: Option<String>,
    /// The file with the session's transcript.
    pub(super) transcript: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl Input {
    /// Reads standard input to its end; a terminal is not read.
    pub(super) async fn of_process() -> Result<Self, Failure> {
        let read = tokio::task::spawn_blocking(|| {
            let input = std::io::stdin();
            let mut text = Vec::new();
            if !input.is_terminal() {
                input.lock().take(MAX_BYTES + 1).read_to_end(&mut text)?;
            }
            Ok::<_, std::io::Error>(text)
        });
        let unreadable = |error: &dyn std::fmt::Display| Failure::usage(format!("standard input: {error}"));
        let text = read.await.map_err(|error| unreadable(&error))?;
        Self::of(&text.map_err(|error| unreadable(&error))?)
    }

    fn of(text: &[u8]) -> Result<Self, Failure> {
        if text.len() as u64 > MAX_BYTES {
            return Err(Failure::usage(format!(
                "standard input is over {MAX_BYTES} bytes"
            )));
        }
        let fields: Map<String, Value> = if text.trim_ascii().is_empty() {
            Map::new()
        } else {
            serde_json::from_slice(text)
                .map_err(|error| Failure::usage(format!("standard input is not a JSON object: {error}")))?
        };
        let text = |name: &str| fields.get(name)?.as_str().filter(|text| !text.is_empty());
        let root = || fields.get("workspace_roots")?.get(0)?.as_str();
        let is_cursor = fields.contains_key("cursor_version") || fields.contains_key("workspace_roots");
        Ok(Self {
            host: if is_cursor { Host::Cursor } else { Host::Plain },
            session: text("session_id")
                .or_else(|| text("conversation_id"))
                .map(str::to_owned),
            transcript: text("transcript_path").map(PathBuf::from),
            folder: text("cwd").or_else(root).map(PathBuf::from),
        })
    }

    /// Changes to the session's folder: hosts run some hooks elsewhere.
    pub(super) fn enter_folder(&self) {
        if let Some(folder) = self.folder.as_deref().filter(|folder| folder.is_absolute()) {
            // A deleted folder names no memory; the current one may.
            let _ = std::env::set_current_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_host_tells_in_its_own_form() {
        let claude = Input::of(
            br#"{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/work/app","hook_event_name":"SessionStart","source":"startup"}"#,
        )
        .unwrap();
        assert_eq!((claude.host, claude.session.as_deref()), (Host::Plain, Some("s")));
        assert_eq!(claude.transcript.as_deref(), Some(Path::new("/t.jsonl")));
        assert_eq!(claude.folder.as_deref(), Some(Path::new("/work/app")));

        let cursor = Input::of(
            br#"{"conversation_id":"c","transcript_path":null,"workspace_roots":["/work/site"],"cursor_version":"2.4.0"}"#,
        )
        .unwrap();
        assert_eq!(
            (cursor.host, cursor.session.as_deref()),
            (Host::Cursor, Some("c"))
        );
        assert_eq!(
            (cursor.transcript.as_deref(), cursor.folder.as_deref()),
            (None, Some(Path::new("/work/site")))
        );
    }

    #[test]
    fn nothing_is_needed_and_other_types_count_as_nothing() {
        for text in [
            "",
            " \n",
            "{}",
            r#"{"session_id":7,"cwd":[],"workspace_roots":{},"transcript_path":""}"#,
        ] {
            let input = Input::of(text.as_bytes()).unwrap();
            assert!(input.session.is_none() && input.transcript.is_none() && input.folder.is_none());
        }
        for text in ["[]", "x", "{", "\"a\""] {
            assert!(Input::of(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Input::of(&vec![b' '; 1024 * 1024 + 1]).is_err());
    }
}
