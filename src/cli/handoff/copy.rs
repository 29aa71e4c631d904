//! The local copy of a memory's handoff, a consistent pair of text and manifest.
//!
//! `WORKING_MEMORY.manifest.json` is the service's manifest with one additional member, `local`, which contains the hash of
//! the Markdown beside it and the source of both.

use super::home;
use crate::cli::client::{Failure, MemoryRef, ago, text};
use crate::cli::folder::hash;
use crate::cli::folder::tree::Tree;
use crate::domain::handoff::Window;
use crate::domain::ids::HandoffId;
use chrono::{DateTime, TimeDelta, Utc};
use rustix::fs::FlockOperation;
use serde_json::{Value, json};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// The Markdown.
const MARKDOWN: &str = "WORKING_MEMORY.md";
/// The manifest, and the name of its additional member.
const MANIFEST: &str = "WORKING_MEMORY.manifest.json";
const LOCAL: &str = "local";

/// What the copy has of the handoff; the rest is when it was copied and from where, and the hash and size of its text.
const SOURCE: [&str; 7] = [
    "handoff_id",
    "vault_id",
    "memory_id",
    "generated_at",
    "window",
    "base_version",
    "freshness",
];

/// The reasons why a handoff is stale, as sentences.
pub(super) fn reasons(freshness: &Value) -> Vec<String> {
    let reasons = freshness["reasons"].as_array().into_iter().flatten();
    reasons.map(|reason| text(reason, "detail")).collect()
}

/// An intact copy.
#[derive(Debug)]
pub(super) struct Copy {
    /// What this machine added to the manifest.
    pub(super) local: Value,
    /// Its text.
    pub(super) markdown: String,
}

/// The folder of the copies, and the memory whose they are.
pub(super) struct Workspace {
    folder: PathBuf,
    pub(super) memory_ref: MemoryRef,
}

impl Workspace {
    /// That of this process.
    ///
    /// # Errors
    /// The environment names no home folder.
    pub(super) fn of(memory_ref: MemoryRef) -> Result<Self, Failure> {
        let folder = home()?.join("workspace");
        Ok(Self { folder, memory_ref })
    }

    /// The folder of the current copy, below that of all copies. Ids begin with a letter or digit and contain no slash, so that
    /// each names exactly one folder.
    fn current(&self) -> String {
        let MemoryRef { vault, memory } = &self.memory_ref;
        format!("current/{vault}/{memory}")
    }

    /// Whether a handoff is of the memory.
    fn is_of(&self, handoff: &Value) -> bool {
        handoff["vault_id"] == self.memory_ref.vault.as_str()
            && handoff["memory_id"] == self.memory_ref.memory.as_str()
    }

    /// The path of the current Markdown.
    pub(super) fn markdown(&self) -> PathBuf {
        self.folder.join(self.current()).join(MARKDOWN)
    }

    /// Writes a handoff that the service sent, into a folder of its own and as the current copy; false if the current copy is
    /// this one.
    ///
    /// # Errors
    /// It is not of this memory, or a file cannot be written.
    pub(super) fn write(&self, body: &Value, url: &str, now: DateTime<Utc>) -> Result<bool, Failure> {
        if !self.is_of(body) {
            return Err(Failure::failed(
                "the service answered with the handoff of another memory",
            ));
        }
        // It becomes part of a path, so it is validated.
        let id: HandoffId = text(body, "handoff_id")
            .parse()
            .map_err(|rule| Failure::failed(format!("the service's handoff_id {rule}")))?;
        let markdown = text(body, "markdown");
        let sha256 = hash(markdown.as_bytes());
        let is_current =
            |copy: Copy| copy.local["handoff_id"] == id.as_str() && copy.local["sha256"] == sha256;
        if self.read().is_ok_and(is_current) {
            return Ok(false);
        }
        let mut local = json!({ "refreshed_at": now, "url": url, "sha256": sha256, "bytes": markdown.len() });
        for name in SOURCE {
            local[name] = body[name].clone();
        }
        let mut manifest = body["manifest"].as_object().cloned().unwrap_or_default();
        manifest.insert(LOCAL.to_owned(), local);
        let manifest = format!("{:#}\n", Value::Object(manifest));
        // Of the same handoff in the same second there is one.
        let run = now.format("%Y/%m/%d/working-memory-%Y%m%dT%H%M%SZ");
        let folders = [format!("{run}-{id}"), self.current()];
        self.replace(&folders, &markdown, &manifest).map_err(|error| {
            Failure::failed(format!("cannot write below {}: {error}", self.folder.display()))
        })?;
        Ok(true)
    }

    /// Replaces the two files of folders. A lock prevents two refreshes from mixing theirs, and readers from reading between
    /// the two replacements.
    fn replace(&self, folders: &[String], markdown: &str, manifest: &str) -> io::Result<()> {
        let tree = Tree::create_private(&self.folder)?;
        tree.lock(FlockOperation::LockExclusive)?;
        for folder in folders {
            tree.replace(&format!("{folder}/{MARKDOWN}"), markdown.as_bytes())?;
            tree.replace(&format!("{folder}/{MANIFEST}"), manifest.as_bytes())?;
        }
        Ok(())
    }

    /// Reads the copy of the handoff, while no refresh replaces it.
    ///
    /// # Errors
    /// None was ever made, which is not found, or it is not what a refresh wrote.
    pub(super) fn read(&self) -> Result<Copy, Failure> {
        let MemoryRef { vault, memory } = &self.memory_ref;
        let missing = || {
            Failure::not_found(format!(
                "there is no local copy of the handoff of memory {memory} of vault {vault}; run \
                 `working-memory refresh`"
            ))
        };
        let damaged = |what: &str| {
            let folder = self.folder.join(self.current());
            Failure::failed(format!(
                "the local copy in {} is damaged: {what}; run `working-memory refresh` to repair it",
                folder.display()
            ))
        };
        let unreadable = |path: &str, error: io::Error| {
            let path = self.folder.join(path);
            damaged(&format!("{} cannot be read: {error}", path.display()))
        };
        let tree = match Tree::open(&self.folder) {
            Ok(tree) => tree,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing()),
            Err(error) => return Err(unreadable("", error)),
        };
        let locked = tree.lock(FlockOperation::LockShared);
        locked.map_err(|error| unreadable("", error))?;
        let content = |name: &str| {
            let path = format!("{}/{name}", self.current());
            tree.read(&path).map_err(|error| unreadable(&path, error))
        };
        let (manifest, markdown) = match (content(MANIFEST)?, content(MARKDOWN)?) {
            (Some(manifest), Some(markdown)) => (manifest, markdown),
            (None, None) => return Err(missing()),
            _ => return Err(damaged("its text or its manifest is missing")),
        };
        let mut manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
        let local = manifest.get_mut(LOCAL).map(Value::take);
        let local =
            local.ok_or_else(|| damaged("its manifest is not a JSON object with a member `local`"))?;
        if local["sha256"] != hash(&markdown) {
            return Err(damaged("its text is not the one its manifest names"));
        }
        if !self.is_of(&local) {
            return Err(damaged("its manifest is of another memory"));
        }
        Ok(Copy {
            local,
            markdown: String::from_utf8(markdown).map_err(|_| damaged("its text is not UTF-8"))?,
        })
    }
}

impl Copy {
    /// What it is a copy of, and when it was made from where.
    pub(super) fn handoff(&self) -> Value {
        let mut members = self.local.clone();
        for name in ["sha256", "bytes", "freshness"] {
            members.as_object_mut().and_then(|members| members.remove(name));
        }
        members
    }

    /// A time that the manifest has.
    pub(super) fn time(&self, name: &str) -> DateTime<Utc> {
        text(&self.local, name).parse().unwrap_or_default()
    }

    /// How long ago it was copied.
    pub(super) fn age(&self, now: DateTime<Utc>) -> TimeDelta {
        now - self.time("refreshed_at")
    }

    /// The reasons why it is stale, as far as this machine knows; empty if it is not.
    pub(super) fn stale(&self, now: DateTime<Utc>) -> Vec<String> {
        let mut reasons = reasons(&self.local["freshness"]);
        let (age, window) = (now - self.time("generated_at"), text(&self.local, "window"));
        if window.parse::<Window>().is_ok_and(|window| age > window.length()) {
            reasons.push(format!("it was made {} with the window {window}", ago(age)));
        }
        reasons
    }
}

#[cfg(test)]
mod tests;
