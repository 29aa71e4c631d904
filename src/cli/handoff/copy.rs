//! The local copy of a memory's handoff, a consistent pair of text and manifest, and `working-memory path`.
//!
//! `WORKING_MEMORY.manifest.json` is the service's manifest with one additional member, `local`, which contains the hash of
//! the Markdown beside it and the source of both.

use super::home;
use super::live::Checked;
use crate::cli::client::{Failure, MemoryArgs, MemoryRef, Output, ago, note, text};
use crate::cli::folder::disk::hash;
use crate::cli::folder::tree::Tree;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::handoff::Window;
use crate::domain::ids::HandoffId;
use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path as FilePath, PathBuf};
use std::time::Duration;

/// The Markdown.
const MARKDOWN: &str = "WORKING_MEMORY.md";
/// The manifest, and the name of its additional member.
const MANIFEST: &str = "WORKING_MEMORY.manifest.json";
const LOCAL: &str = "local";

/// How often, and with what pause, a pair is read again that a refresh may just be replacing.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// The maximum number of runs of one handoff in one second.
const MAX_RUNS: u32 = 1_000;

/// What this machine adds to the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Local {
    /// As the service sent it.
    #[serde(flatten)]
    pub(super) handoff: Handoff,
    /// When it was copied.
    pub(super) refreshed_at: DateTime<Utc>,
    /// The service it came from.
    pub(super) url: String,
    /// The SHA-256 of the Markdown, in hexadecimal.
    sha256: String,
    /// Its size.
    bytes: usize,
}

/// The source of a copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Handoff {
    pub(super) handoff_id: String,
    pub(super) vault_id: String,
    pub(super) memory_id: String,
    /// When it was made.
    pub(super) generated_at: DateTime<Utc>,
    /// Its window, as an ISO 8601 duration.
    pub(super) window: String,
    /// The version it was made of.
    pub(super) base_version: i64,
    /// Its freshness when the service returned it.
    #[serde(default)]
    freshness: Value,
}

impl Handoff {
    fn is_of(&self, memory_ref: &MemoryRef) -> bool {
        self.vault_id == memory_ref.vault.as_str() && self.memory_id == memory_ref.memory.as_str()
    }
}

/// The reasons why a handoff is stale, as sentences.
pub(super) fn reasons(freshness: &Value) -> Vec<String> {
    let reasons = freshness["reasons"].as_array().into_iter().flatten();
    reasons.map(|reason| text(reason, "detail")).collect()
}

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

/// The folder of the copies.
pub(super) struct Workspace(PathBuf);

impl Workspace {
    /// That of this process.
    ///
    /// # Errors
    /// The environment names no home folder.
    pub(super) fn of_process() -> Result<Self, Failure> {
        Ok(Self(home()?.join("workspace")))
    }

    /// The folder of the current copy of a memory's handoff. Ids begin with a letter or digit and contain no slash, so
    /// that each names exactly one folder.
    fn current(&self, memory_ref: &MemoryRef) -> PathBuf {
        let MemoryRef { vault, memory } = memory_ref;
        self.0.join("current").join(vault.as_str()).join(memory.as_str())
    }

    /// The message for the user.
    pub(super) fn failure(&self, none: NoCopy, memory_ref: &MemoryRef) -> Failure {
        let MemoryRef { vault, memory } = memory_ref;
        match none {
            NoCopy::Missing => Failure::not_found(format!(
                "there is no local copy of the handoff of memory {memory} of vault {vault}; run \
                 `working-memory refresh`"
            )),
            NoCopy::Damaged(what) => Failure::failed(format!(
                "the local copy in {} is damaged: {what}; run `working-memory refresh` to repair it",
                self.current(memory_ref).display()
            )),
        }
    }

    /// Reads the copy of a memory's handoff.
    pub(super) fn read(&self, memory_ref: &MemoryRef) -> Result<Copy, NoCopy> {
        let folder = self.current(memory_ref);
        for _ in 1..TRIES {
            match try_read(&folder, memory_ref) {
                Err(NoCopy::Damaged(_)) => std::thread::sleep(PAUSE),
                other => return other,
            }
        }
        try_read(&folder, memory_ref)
    }

    /// The path of the current Markdown.
    pub(super) fn markdown(&self, memory_ref: &MemoryRef) -> PathBuf {
        self.current(memory_ref).join(MARKDOWN)
    }

    /// Writes a handoff that the service sent, into a folder of its own and as the current copy; false if the current copy is
    /// this one.
    ///
    /// # Errors
    /// It is not of this memory, or a file cannot be written.
    pub(super) fn write(
        &self,
        memory_ref: &MemoryRef,
        body: &Value,
        url: &str,
        now: DateTime<Utc>,
    ) -> Result<bool, Failure> {
        let unreadable = |error| Failure::failed(format!("the service's handoff cannot be read: {error}"));
        let handoff = Handoff::deserialize(body).map_err(unreadable)?;
        let markdown = text(body, "markdown");
        let local = Local {
            handoff,
            refreshed_at: now,
            url: url.to_owned(),
            sha256: hash(markdown.as_bytes()),
            bytes: markdown.len(),
        };
        if !local.handoff.is_of(memory_ref) {
            return Err(Failure::failed(
                "the service answered with the handoff of another memory",
            ));
        }
        // It becomes part of a path, so it is validated.
        let id: HandoffId = local
            .handoff
            .handoff_id
            .parse()
            .map_err(|rule| Failure::failed(format!("the service's handoff_id {rule}")))?;
        let is_current = |copy: Copy| {
            copy.local.handoff.handoff_id == local.handoff.handoff_id && copy.local.sha256 == local.sha256
        };
        if self.read(memory_ref).is_ok_and(is_current) {
            return Ok(false);
        }
        let mut manifest = body["manifest"].as_object().cloned().unwrap_or_default();
        manifest.insert(LOCAL.to_owned(), json!(local));
        let pair = (markdown.as_bytes(), format!("{:#}\n", Value::Object(manifest)));
        let unwritable =
            |error: io::Error| Failure::failed(format!("cannot write below {}: {error}", self.0.display()));
        self.write_run(&pair, &id, now).map_err(unwritable)?;
        let below = format!("{}/{}/", memory_ref.vault, memory_ref.memory);
        write_pair(&pair, &self.0.join("current"), &below).map_err(unwritable)?;
        Ok(true)
    }

    fn write_run(&self, pair: &(&[u8], String), id: &HandoffId, now: DateTime<Utc>) -> io::Result<()> {
        let day = self.0.join(now.format("%Y/%m/%d").to_string());
        Tree::create_private(&day)?;
        let name = format!("working-memory-{}-{id}", now.format("%Y%m%dT%H%M%SZ"));
        for number in 1..=MAX_RUNS {
            let run = match number {
                1 => day.join(&name),
                number => day.join(format!("{name}-{number}")),
            };
            // It quotes a memory: its owner's alone.
            match DirBuilder::new().mode(0o700).create(&run) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    write_pair(pair, &run, "")?;
                    // The new name is on disk when its folder is.
                    return File::open(&day)?.sync_all();
                }
            }
        }
        Err(io::Error::other("too many runs in one second"))
    }
}

/// Replaces the two files of a folder one after the other. A lock prevents two refreshes from mixing theirs, and
/// readers detect by the hash that they read between the two replacements.
fn write_pair((markdown, manifest): &(&[u8], String), folder: &FilePath, below: &str) -> io::Result<()> {
    let tree = Tree::create_private(folder)?;
    let lock = tree.lock()?;
    lock.replace(&format!("{below}{MARKDOWN}"), markdown)?;
    lock.replace(&format!("{below}{MANIFEST}"), manifest.as_bytes())
}

fn try_read(folder: &FilePath, memory_ref: &MemoryRef) -> Result<Copy, NoCopy> {
    let damaged = |what: &str| NoCopy::Damaged(what.to_owned());
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
        (None, Some(_)) => return Err(damaged("its manifest is missing")),
        (Some(_), None) => return Err(damaged("its text is missing")),
    };
    let manifest: Option<Map<String, Value>> = serde_json::from_slice(&manifest).ok();
    let mut manifest = manifest.ok_or_else(|| damaged("its manifest is not a JSON object"))?;
    let local = manifest.remove(LOCAL);
    let local = local.ok_or_else(|| damaged("its manifest has no member `local`"))?;
    let local: Local = serde_json::from_value(local)
        .map_err(|error| NoCopy::Damaged(format!("its manifest cannot be read: {error}")))?;
    if !local.handoff.is_of(memory_ref) {
        return Err(damaged("its manifest is of another memory"));
    }
    if local.bytes != markdown.len() || local.sha256 != hash(&markdown) {
        return Err(damaged("its text is not the one its manifest names"));
    }
    Ok(Copy {
        local,
        markdown: String::from_utf8(markdown).map_err(|_| damaged("its text is not UTF-8"))?,
        path: folder.join(MARKDOWN),
    })
}

impl Copy {
    /// How long ago it was copied.
    pub(super) fn age(&self, now: DateTime<Utc>) -> TimeDelta {
        now - self.local.refreshed_at
    }

    /// The reasons why the copy is stale: the service's if it answered, otherwise those of the copy.
    pub(super) fn reasons(&self, checked: &Checked, now: DateTime<Utc>) -> Vec<String> {
        let live = match checked {
            Checked::Local(_) => return self.stale(now),
            Checked::NoHandoff => return vec!["the service has no handoff of this memory".to_owned()],
            Checked::NoMemory => return vec!["the service has no such memory".to_owned()],
            Checked::Service(live) => live,
        };
        if live["handoff_id"] != self.local.handoff.handoff_id {
            let made = live["generated_at"].as_str();
            let made = made.map_or_else(String::new, |time| format!(", made at {time}"));
            return vec![format!("the service has another handoff{made}")];
        }
        let mut reasons = reasons(live);
        if reasons.is_empty() && live["status"] != "fresh" {
            reasons.push(format!("the service calls it {}", text(live, "status")));
        }
        reasons
    }

    /// The reasons why it is stale, as far as this machine knows; empty if it is not.
    fn stale(&self, now: DateTime<Utc>) -> Vec<String> {
        let Handoff {
            freshness,
            window,
            generated_at,
            ..
        } = &self.local.handoff;
        let mut reasons = reasons(freshness);
        if reasons.is_empty() && freshness["status"] == "stale" {
            reasons.push("it was stale when it was copied".to_owned());
        }
        let age = now - *generated_at;
        if window.parse::<Window>().is_ok_and(|window| age > window.length()) {
            reasons.push(format!("it was made {} with the window {window}", ago(age)));
        }
        reasons
    }
}

/// Arguments of `path`.
#[derive(Debug, Args)]
pub struct Path {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory_ref: MemoryArgs,
}

impl Path {
    /// Prints the path on standard output, for `cat "$(working-memory path)"`, and its age on standard error.
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (memory_ref, workspace) = (self.memory_ref.memory_ref()?, Workspace::of_process()?);
        let copy = workspace
            .read(&memory_ref)
            .map_err(|none| workspace.failure(none, &memory_ref))?;
        let path = copy.path.to_string_lossy();
        if self.json {
            let body = json!({ "path": path, "refreshed_at": copy.local.refreshed_at });
            return Output::new().text(&body.to_string()).end().write();
        }
        Output::new().text(&path).end().write()?;
        note(&format!("refreshed {}", ago(copy.age(SystemClock.now()))));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
