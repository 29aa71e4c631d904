//! `working-memory edit`: opens the document in an editor and puts it back if it has not changed meanwhile. On any
//! failure the edited text stays in a file.

use super::client::{Exit, Failure, MemoryRef, Method, Output, Service, ServiceArgs, ServiceResponse, found};
use super::handoff;
use super::show::Show;
use crate::cli::folder::file::write_file;
use crate::cli::folder::tree::Tree;
use crate::clock::{Clock as _, SystemClock};
use clap::Args;
use serde_json::Value;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use tokio::signal::unix::{SignalKind, signal};

/// Arguments of `edit`. The editor is `$VISUAL`, `$EDITOR` or vi.
#[derive(Debug, Args)]
pub struct Edit {
    /// Put it also if it drops most of the document, which the service would otherwise reject.
    #[arg(long)]
    confirm_collapse: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Edit {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let editor = editor()?;
        let call = service.of_memory(Method::GET, &["context"])?;
        let base = found(call.accept("text/plain").send().await)?;
        let text = base.as_ref().map_or(Ok(""), ServiceResponse::text)?;
        let tag = base.as_ref().map(ServiceResponse::version).transpose()?;
        let file = working_file(&service, text)?;
        let mut saved = self.save(&service, &editor, &file, text, tag).await;
        match &mut saved {
            // What nobody has changed need not be kept.
            Err(failure) if file.exists() && !fs::read(&file).is_ok_and(|kept| kept == text.as_bytes()) => {
                failure.sentence += &format!("\n  your text is kept in {}", file.display());
            }
            // A leftover file does no harm.
            _ => drop(fs::remove_file(&file)),
        }
        match saved? {
            None if self.service.is_json() => Output::new().text(r#"{"unchanged":true}"#).end().write(),
            None => Output::new().text("unchanged").end().write(),
            Some(answer) => Show::done("saved").print(&answer, self.service.is_json()),
        }
    }

    /// Lets the user edit the file, and puts the text on the version that was edited; `None` if it is unchanged.
    async fn save(
        &self,
        service: &Service,
        editor: &str,
        file: &Path,
        base: &str,
        tag: Option<&str>,
    ) -> Result<Option<ServiceResponse>, Failure> {
        let text = edited(editor, file)?;
        if text == base.as_bytes() {
            return Ok(None);
        }
        let call = service
            .of_memory(Method::PUT, &["context"])?
            .maybe("confirm", self.confirm_collapse.then_some("collapse"))
            .text(text)
            .on_version(tag)?;
        let answer = call.exchange().await?;
        match answer.status {
            412 => Err(overtaken(
                &service.memory_ref()?,
                tag,
                &answer.json().unwrap_or_default(),
            )),
            _ => answer.into_success("the document").map(Some),
        }
    }
}

/// Explains how to continue after another writer's change.
fn overtaken(memory: &MemoryRef, before: Option<&str>, problem: &Value) -> Failure {
    // The environment of the next command may name another memory.
    let MemoryRef { vault, memory } = memory;
    let to = format!("--vault {vault} --memory {memory}");
    let Some(now) = problem["current"].as_str() else {
        let sentence = format!(
            "nothing was saved, since the document was deleted meanwhile; `working-memory put FILE {to}` makes a new one"
        );
        return Failure::new(Exit::Refused, sentence);
    };
    let look = match before {
        Some(before) => format!("diff {now} --base {}", before.trim_matches('"')),
        None => "get".to_owned(),
    };
    Failure::new(
        Exit::Refused,
        format!(
            "nothing was saved, since the document is another one by now; look at it with `working-memory {look} {to}`, \
             bring its changes into your text, and put it with `working-memory put FILE {to} --if-match {now}`"
        ),
    )
}

/// The text after editing.
fn edited(editor: &str, file: &Path) -> Result<Vec<u8>, Failure> {
    // Ctrl-C is the editor's, and of the programs that it starts: it would be left on the terminal beside the shell, with a
    // text that is never put.
    let _interrupts = signal(SignalKind::interrupt());
    // Through a shell, as other programs do: the variable may contain options.
    let ended = Command::new("sh")
        .args(["-c", &format!("{editor} \"$@\""), editor])
        .arg(file)
        .status()
        .map_err(|error| Failure::failed(format!("the editor cannot be run: {error}")))?;
    if !ended.success() {
        return Err(Failure::failed(format!(
            "nothing was saved: the editor {editor} ended with {ended}"
        )));
    }
    fs::read(file).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))
}

fn editor() -> Result<String, Failure> {
    let named = ["VISUAL", "EDITOR"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty());
    if let Some(editor) = named {
        return Ok(editor);
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "there is no terminal for an editor: set EDITOR to one that needs none, or use `put`",
        ));
    }
    Ok("vi".to_owned())
}

/// Creates the file to edit, readable by its owner only.
fn working_file(service: &Service, text: &str) -> Result<PathBuf, Failure> {
    let memory_ref = service.memory_ref()?;
    let folder = handoff::home()?.join("edits");
    Tree::create_private(&folder)
        .map_err(|error| Failure::failed(format!("cannot write into {}: {error}", folder.display())))?;
    let now = SystemClock.now().format("%Y%m%dT%H%M%SZ");
    let name = format!("{}-{now}-{}.md", memory_ref.memory, std::process::id());
    let file = folder.join(name);
    write_file(&file, text, 0o600, false)?;
    Ok(file)
}
