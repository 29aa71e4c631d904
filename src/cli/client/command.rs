//! The commands that call a running service or read its local copy.

use super::failure::Failure;
use crate::cli::documents::{Blame, Delete, Diff, Get, Prompt, Put, Redact, Restore};
use crate::cli::lists::Listing;
use crate::cli::updates::{Approve, Consolidate, Operations, Reject, Update};
use crate::cli::window_entries::{Decision, SetStatus, Task};
use crate::cli::{api, bring, doctor, edit, generate, handoff, help, hook, init, items, mcp, sync, window};
use clap::Subcommand;

/// Commands that call a running service.
#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// Write which memory the work in this folder belongs to, and install the git hook.
    Init(init::Init),
    /// Report what is configured, reachable, active and insecure.
    Doctor(doctor::Doctor),
    /// Edit the document in an editor.
    Edit(edit::Edit),
    /// The commands that list what a route returns.
    #[command(flatten)]
    List(Listing),
    /// Send any request to the service.
    Api(api::Api),
    /// Bring in what another system kept: files of CLAUDE.md, mem0, Letta and others.
    Bring(bring::Bring),
    /// Print which version added each line.
    Blame(Blame),
    /// Remove the text of an old version permanently.
    Redact(Redact),
    /// Delete a memory permanently.
    Delete(Delete),
    /// Put a document: a new version of a memory.
    Put(Put),
    /// Print the document of a memory.
    Get(Get),
    /// Send what was done, and let the models update the memory.
    Update(Update),
    /// Apply operations: text or JSON that adds and archives records.
    Operations(Operations),
    /// Archive records that have expired or say no more than another one.
    Consolidate(Consolidate),
    /// Approve a proposal.
    Approve(Approve),
    /// Reject a proposal.
    Reject(Reject),
    /// Print what a version changed.
    Diff(Diff),
    /// Make an old version the newest again.
    Restore(Restore),
    /// Record a completed task.
    Task(Task),
    /// Record a decision.
    Decision(Decision),
    /// Write the goal and the blocker.
    SetStatus(SetStatus),
    /// The window and its archive as a folder of Markdown files.
    #[command(subcommand)]
    Window(window::Window),
    /// Synchronise a folder of Markdown files with the memory tool's files, in both directions.
    Sync(sync::Sync),
    /// Parts of system prompts that components own.
    #[command(subcommand)]
    Items(items::Items),
    /// Print the assembled prompt.
    Prompt(Prompt),
    /// Speak the Model Context Protocol on standard input and output, for agents' clients.
    Mcp(mcp::Mcp),
    /// Hooks that coding agents run when sessions begin and end.
    #[command(subcommand)]
    Hook(hook::Hook),
    /// Print the service's handoff, or else its local copy; exits with 8 if it is stale.
    Show(handoff::Show),
    /// Print whether the local copy of the handoff is fresh; exits with 8 if it is stale.
    Status(handoff::Status),
    /// Print the path of the local copy of the handoff.
    Path(handoff::Path),
    /// Let the service refresh the handoff if it is stale, and copy it here.
    Refresh(handoff::Refresh),
    /// Print completions for a shell.
    Completions(generate::Completions),
    /// Print the manual page, in roff.
    Man(generate::Man),
}

impl ClientCommand {
    pub(in crate::cli) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Init(command) => command.run(),
            Self::Doctor(command) => command.run().await,
            Self::Edit(command) => command.run().await,
            Self::List(command) => command.run().await,
            Self::Api(command) => command.run().await,
            Self::Bring(command) => command.run().await,
            Self::Blame(command) => command.run().await,
            Self::Redact(command) => command.run().await,
            Self::Delete(command) => command.run().await,
            Self::Put(command) => command.run().await,
            Self::Get(command) => command.run().await,
            Self::Update(command) => command.run().await,
            Self::Operations(command) => command.run().await,
            Self::Consolidate(command) => command.run().await,
            Self::Approve(command) => command.run().await,
            Self::Reject(command) => command.run().await,
            Self::Diff(command) => command.run().await,
            Self::Restore(command) => command.run().await,
            Self::Task(command) => command.run().await,
            Self::Decision(command) => command.run().await,
            Self::SetStatus(command) => command.run().await,
            Self::Window(command) => command.run().await,
            Self::Sync(command) => command.run().await,
            Self::Items(command) => command.run().await,
            Self::Prompt(command) => command.run().await,
            Self::Mcp(command) => command.run().await,
            Self::Hook(command) => command.run().await,
            Self::Show(command) => command.run().await,
            Self::Status(command) => command.run().await,
            Self::Path(command) => command.run(),
            Self::Refresh(command) => command.run().await,
            Self::Completions(command) => command.run(help::command()),
            Self::Man(command) => command.run(help::command()),
        }
    }
}
