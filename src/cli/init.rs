//! `working-memory init`: writes which memory the work in this folder belongs to, and offers to install the git hook.

use super::client::{Failure, MemoryArgs, Output, PROJECT_FILE, base_url, confirm, variable};
use crate::cli::folder::file::write_file;
use crate::domain::ids::{ActorId, MemoryId, VaultId};
use clap::Args;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

/// The hook that records commits.
const HOOK: &str = include_str!("../../examples/git/post-commit");

/// The default vault.
const DEFAULT_VAULT: &str = "main";

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Address of the service; without it the environment's or http://127.0.0.1:8080.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    memory_ref: MemoryArgs,
    /// The author of changes.
    #[arg(long, value_name = "ACTOR")]
    actor: Option<ActorId>,
    /// Install the git hook that records each commit as a task. Without other options an existing file stays as it is.
    #[arg(long)]
    git_hook: bool,
    /// Replace an existing file.
    #[arg(long)]
    force: bool,
}

impl Init {
    pub(super) fn run(self) -> Result<(), Failure> {
        let path = PathBuf::from(PROJECT_FILE);
        let keeps_file = path.exists() && !self.force;
        if keeps_file && !self.is_for_hook_only() {
            return Err(Failure::usage(format!(
                "there is a {PROJECT_FILE} here; --force replaces it"
            )));
        }
        // The hook runs at the top of the repository, and finds no file below it.
        if self.git_hook && git(&["--show-cdup"]).is_some_and(|up| !up.is_empty()) {
            return Err(Failure::usage(
                "the git hook reads the file at the top of the repository only: run init there",
            ));
        }
        let mut out = Output::new();
        if !keeps_file {
            out.text(&self.write(&path)?).end();
        }
        if let Some(message) = self.hook()? {
            out.text(&message).end();
        }
        out.text("try: working-memory doctor").end().write()
    }

    /// Whether no option says what the file is to contain.
    fn is_for_hook_only(&self) -> bool {
        let MemoryArgs { vault, memory } = &self.memory_ref;
        let names_nothing = vault.is_none() && memory.is_none() && self.url.is_none() && self.actor.is_none();
        self.git_hook && names_nothing
    }

    /// Writes the file; returns a message about it.
    fn write(&self, path: &Path) -> Result<String, Failure> {
        let url = self.url.as_ref().map(|url| base_url(Some(url))).transpose()?;
        let MemoryArgs { vault, memory } = &self.memory_ref;
        let vault: VaultId = chosen("vault", vault.as_ref(), DEFAULT_VAULT)?;
        let memory: MemoryId = chosen("memory", memory.as_ref(), &name_of_folder())?;
        let mut text = String::from("# Which memory the work in this folder belongs to (working-memory).\n");
        for (key, value) in [
            ("url", url.map(|url| url.to_string())),
            ("vault", Some(vault.to_string())),
            ("memory", Some(memory.to_string())),
            ("actor", self.actor.as_ref().map(ToString::to_string)),
        ] {
            // Ids and URLs contain no quotes, no backslashes and no control characters.
            if let Some(value) = value {
                text.push_str(&format!("{key} = \"{value}\"\n"));
            }
        }
        write_file(path, &text, 0o644, self.force)?;
        Ok(format!("wrote {PROJECT_FILE}: memory {memory} of vault {vault}"))
    }

    /// Installs the hook, if there is a repository and the user wants it; returns a message about it.
    fn hook(&self) -> Result<Option<String>, Failure> {
        let hooks = git(&["--git-path", "hooks"]).filter(|path| !path.is_empty());
        let Some(hook) = hooks.map(|folder| PathBuf::from(folder).join("post-commit")) else {
            return match self.git_hook {
                true => Err(Failure::failed("there is no git repository here for the hook")),
                false => Ok(None),
            };
        };
        let shown = hook.display();
        match fs::read_to_string(&hook) {
            Ok(there) if there == HOOK => {
                return Ok(Some(format!("the git hook is already installed: {shown}")));
            }
            // An older one of its own is replaced.
            Ok(there) if there.lines().nth(1) == HOOK.lines().nth(1) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => {
                return Ok(Some(format!(
                    "{shown} is another hook and is unchanged; add examples/git/post-commit to it"
                )));
            }
        }
        let is_at_top = git(&["--show-cdup"]).is_some_and(|up| up.is_empty());
        let question = format!("Record each commit as a task, with the git hook {shown}?");
        if !self.git_hook && (!is_at_top || !io::stdin().is_terminal() || confirm(&question, false).is_err())
        {
            let at_top = if is_at_top {
                ""
            } else {
                ", at the top of the repository"
            };
            return Ok(Some(format!("no git hook was installed (--git-hook{at_top})")));
        }
        if let Some(folder) = hook.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
        }
        write_file(&hook, HOOK, 0o755, hook.exists())?;
        Ok(Some(format!("installed the git hook {shown}")))
    }
}

/// The value of the option, of the environment, or the default.
fn chosen<T: FromStr<Err: std::fmt::Display> + Clone>(
    what: &str,
    option: Option<&T>,
    default: &str,
) -> Result<T, Failure> {
    if let Some(option) = option {
        return Ok(option.clone());
    }
    let variable = variable(&format!("WORKING_MEMORY_{}", what.to_uppercase()));
    let value = variable.unwrap_or_else(|| default.to_owned());
    value
        .parse()
        .map_err(|rule| Failure::usage(format!("the {what} {value:?} {rule}; name one with --{what}")))
}

/// The name of this folder, reduced to the characters of an id.
fn name_of_folder() -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = name
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .take(64)
        .collect();
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = if name.is_empty() { "memory" } else { name };
    name.to_owned()
}

/// What git says of the repository that this folder belongs to, on one line; `None` without a repository.
fn git(question: &[&str]) -> Option<String> {
    let asked = Command::new("git")
        .arg("rev-parse")
        .args(question)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8(asked.stdout)
        .ok()
        .filter(|_| asked.status.success())?;
    Some(said.trim_end_matches('\n').to_owned())
}
