//! `working-memory refresh`: lets the service refresh the handoff, and writes it: the folder of its run and the current copy,
//! each atomically.

use crate::cli::client::{Failure, MemoryRef, Method, Output, Service, ServiceArgs};
use crate::cli::folder::tree::Tree;
use crate::cli::handoff::copy::Copy;
use crate::cli::handoff::git;
use crate::cli::handoff::home::{MANIFEST, MARKDOWN, Window, Workspace};
use crate::cli::handoff::manifest::{self, Handoff, Local};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::ids::ContextId;
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// The maximum number of runs of one handoff in one second.
const MAX_RUNS: u32 = 1_000;

/// Writes a handoff and returns the path of its current Markdown.
///
/// # Errors
/// It is not of this memory, or a file cannot be written.
pub(super) fn write(
    workspace: &Workspace,
    memory_ref: &MemoryRef,
    handoff: &Handoff,
    local: &Local,
) -> Result<PathBuf, Failure> {
    if !local.is_of(&memory_ref.vault, &memory_ref.memory) {
        return Err(Failure::failed(
            "the service answered with the handoff of another memory",
        ));
    }
    // It becomes part of a path, so it is validated.
    let id: ContextId = handoff
        .handoff_id
        .parse()
        .map_err(|rule| Failure::failed(format!("the service's handoff_id {rule}")))?;
    let pair = Pair {
        markdown: handoff.markdown.as_bytes(),
        manifest: manifest::bytes(handoff, local)?,
    };
    let unwritable = |error: io::Error| {
        let folder = workspace.folder().display();
        Failure::failed(format!("cannot write below {folder}: {error}"))
    };
    pair.write_run(workspace, &id, local.refreshed_at)
        .map_err(unwritable)?;
    let current = workspace.current(memory_ref);
    pair.replace(workspace, &current).map_err(unwritable)?;
    Ok(current.join(MARKDOWN))
}

struct Pair<'p> {
    markdown: &'p [u8],
    manifest: Vec<u8>,
}

impl Pair<'_> {
    /// The folder of the run is renamed to its name when both files are in it.
    fn write_run(&self, workspace: &Workspace, id: &ContextId, now: DateTime<Utc>) -> io::Result<()> {
        let day = workspace.folder().join(now.format("%Y/%m/%d").to_string());
        let name = format!("working-memory-{}-{id}", now.format("%Y%m%dT%H%M%SZ"));
        let unfinished = Unfinished(day.join(format!(".{name}.{}.part", std::process::id())));
        self.write_into(&unfinished.0, "")?;
        for number in 1..=MAX_RUNS {
            let name = match number {
                1 => name.clone(),
                number => format!("{name}-{number}"),
            };
            match fs::rename(&unfinished.0, day.join(name)) {
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
                // The new name is on disk when its folder is.
                Ok(()) => return fs::File::open(&day)?.sync_all(),
            }
        }
        Err(io::Error::other("too many runs in one second"))
    }

    /// Replaces the two files of a folder one after the other. A lock prevents two refreshes from mixing theirs, and
    /// readers detect by the hash that they read between the two replacements.
    fn replace(&self, workspace: &Workspace, folder: &Path) -> io::Result<()> {
        let current = workspace.folder().join("current");
        let below = folder.strip_prefix(&current).map_err(io::Error::other)?;
        let below = below.to_str().ok_or_else(|| io::Error::other("is not UTF-8"))?;
        self.write_into(&current, &format!("{below}/"))
    }

    fn write_into(&self, folder: &Path, below: &str) -> io::Result<()> {
        let tree = Tree::create_private(folder)?;
        let lock = tree.lock()?;
        lock.replace(&format!("{below}{MARKDOWN}"), self.markdown)?;
        lock.replace(&format!("{below}{MANIFEST}"), &self.manifest)
    }
}

/// Whether a rename failed because the name exists.
fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
    )
}

/// A folder that is removed unless it was renamed to its final name.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After the rename no folder has that name any more.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A model may write the handoff, which takes time.
const ANSWER_TIME: Duration = Duration::from_secs(600);

/// Arguments of `refresh`.
#[derive(Debug, Args)]
pub struct Refresh {
    /// Make a new one also if it is fresh.
    #[arg(long)]
    force: bool,
    /// The window, such as 6h, 90m or 2d; the service's `handoff.window` without it.
    #[arg(long, value_name = "TIME")]
    window: Option<Window>,
    /// Do not send the git branch and the changed files of this folder.
    #[arg(long)]
    no_workspace: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Refresh {
    pub(in crate::cli) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let (memory_ref, workspace) = (service.memory_ref()?, Workspace::of_process()?);
        let mut body = Map::new();
        if !self.no_workspace
            && let Some(snapshot) = git::snapshot().await
        {
            body.insert("workspace".to_owned(), snapshot.to_json());
        }
        let answer = service
            .of_memory(Method::POST, &["handoff", "refresh"])?
            .flag("force", self.force)
            .maybe("window", self.window)
            .json(&Value::Object(body))?
            .send()
            .await?;
        let handoff: Handoff = answer.json()?;
        let local = Local::of(&handoff, service.url().as_str(), SystemClock.now());
        let kept = Copy::read(&workspace, &memory_ref).ok();
        let kept = kept
            .filter(|copy| copy.local.handoff_id == local.handoff_id && copy.local.sha256 == local.sha256);
        let (done, path) = match kept {
            Some(copy) => ("fresh, nothing to do", copy.path),
            None => {
                let path = write(&workspace, &memory_ref, &handoff, &local)?;
                let done = if handoff.refreshed {
                    "refreshed"
                } else {
                    "fresh, copied"
                };
                (done, path)
            }
        };
        if self.service.is_json() {
            return answer.print_json();
        }
        let path = path.display().to_string();
        Output::new().text(done).text(": ").text(&path).end().write()
    }
}

#[cfg(test)]
mod tests;
