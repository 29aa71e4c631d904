//! The local copy of a memory's handoff, read as a consistent pair of text and manifest.

use super::home::{MANIFEST, MARKDOWN, Workspace};
use super::live::{Checked, LiveStatus};
use super::manifest::Local;
use crate::cli::client::{Failure, MemoryRef, ago};
use crate::cli::folder::tree::Tree;
use crate::cli::handoff::home::Window;
use crate::domain::document::written_time;
use chrono::{DateTime, TimeDelta, Utc};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often, and with what pause, a pair is read again that a refresh may just be replacing.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// An intact copy.
#[derive(Debug)]
pub(super) struct Copy {
    /// Its local metadata.
    pub(super) local: Local,
    /// Its text.
    pub(super) markdown: String,
    /// The path of its text.
    pub(super) path: PathBuf,
}

/// Why there is no copy.
#[derive(Debug, PartialEq)]
pub(super) enum NoCopy {
    /// None was ever made.
    Missing,
    /// It is not what a refresh wrote; with the reason.
    Damaged(String),
}

impl NoCopy {
    /// The message for the user.
    pub(super) fn failure(self, memory_ref: &MemoryRef, workspace: &Workspace) -> Failure {
        let MemoryRef { vault, memory } = memory_ref;
        match self {
            Self::Missing => Failure::not_found(format!(
                "there is no local copy of the handoff of memory {memory} of vault {vault}; run \
                 `working-memory refresh`"
            )),
            Self::Damaged(what) => Failure::failed(format!(
                "the local copy in {} is damaged: {what}; run `working-memory refresh` to repair it",
                workspace.current(memory_ref).display()
            )),
        }
    }
}

impl Copy {
    /// Reads the copy of a memory's handoff.
    pub(super) fn read(workspace: &Workspace, memory_ref: &MemoryRef) -> Result<Self, NoCopy> {
        let folder = workspace.current(memory_ref);
        let mut tries = 1;
        loop {
            match Self::try_read(&folder, memory_ref) {
                Err(NoCopy::Damaged(_)) if tries < TRIES => std::thread::sleep(PAUSE),
                other => return other,
            }
            tries += 1;
        }
    }

    fn try_read(folder: &Path, memory_ref: &MemoryRef) -> Result<Self, NoCopy> {
        let path = folder.join(MARKDOWN);
        let unreadable = |name: &str, error: io::Error| {
            let path = folder.join(name);
            NoCopy::Damaged(format!("{} cannot be read: {error}", path.display()))
        };
        let tree = match Tree::open(folder) {
            Ok(tree) => tree,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(NoCopy::Missing),
            Err(error) => return Err(unreadable("", error)),
        };
        let content = |name: &str| tree.read(name).map_err(|error| unreadable(name, error));
        let (manifest, markdown) = match (content(MANIFEST)?, content(MARKDOWN)?) {
            (Some(manifest), Some(markdown)) => (manifest, markdown),
            (None, None) => return Err(NoCopy::Missing),
            (None, Some(_)) => return Err(NoCopy::Damaged("its manifest is missing".to_owned())),
            (Some(_), None) => return Err(NoCopy::Damaged("its text is missing".to_owned())),
        };
        let local = Local::read(&manifest).map_err(NoCopy::Damaged)?;
        if !local.is_of(&memory_ref.vault, &memory_ref.memory) {
            return Err(NoCopy::Damaged("its manifest is of another memory".to_owned()));
        }
        if !local.fits(&markdown) {
            return Err(NoCopy::Damaged(
                "its text is not the one its manifest names".to_owned(),
            ));
        }
        let markdown =
            String::from_utf8(markdown).map_err(|_| NoCopy::Damaged("its text is not UTF-8".to_owned()))?;
        Ok(Self {
            local,
            markdown,
            path,
        })
    }

    /// How long ago it was copied.
    pub(super) fn age(&self, now: DateTime<Utc>) -> TimeDelta {
        now - self.local.refreshed_at
    }

    /// The reasons why the copy is stale: the service's if it answered, otherwise those of the copy.
    pub(super) fn reasons(&self, checked: &Checked<LiveStatus>, now: DateTime<Utc>) -> Vec<String> {
        let live = match checked {
            Checked::Local(_) => return self.stale(now),
            Checked::NoHandoff => return vec!["the service has no handoff of this memory".to_owned()],
            Checked::NoMemory => return vec!["the service has no such memory".to_owned()],
            Checked::Service(live) => live,
        };
        if live.handoff_id.as_deref() != Some(self.local.handoff_id.as_str()) {
            let made = live
                .generated_at
                .map(|time| format!(", made at {}", written_time(time)))
                .unwrap_or_default();
            return vec![format!("the service has another handoff{made}")];
        }
        let mut reasons: Vec<String> = live
            .freshness
            .reasons
            .iter()
            .map(|reason| reason.detail.clone())
            .collect();
        if reasons.is_empty() && live.freshness.status != "fresh" {
            reasons.push(format!("the service calls it {}", live.freshness.status));
        }
        reasons
    }

    /// The reasons why it is stale, as far as this machine knows; empty if it is not.
    fn stale(&self, now: DateTime<Utc>) -> Vec<String> {
        let Local {
            freshness,
            window,
            generated_at,
            ..
        } = &self.local;
        let mut reasons: Vec<String> = freshness
            .reasons
            .iter()
            .map(|reason| reason.detail.clone())
            .collect();
        if reasons.is_empty() && freshness.status == "stale" {
            reasons.push("it was stale when it was copied".to_owned());
        }
        let age = now - *generated_at;
        if window.parse::<Window>().is_ok_and(|window| age > window.length()) {
            reasons.push(format!("it was made {} with the window {window}", ago(age)));
        }
        reasons
    }
}
