//! The commands that call a running service or read its local copy.

use super::failure::Failure;
use crate::cli::routes::RouteCommand;
use crate::cli::{api, bring, doctor, edit, generate, handoff, help, hook, init, mcp, sync, window};
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
    /// The commands that send one request.
    #[command(flatten)]
    Route(RouteCommand),
    /// Send any request to the service.
    Api(api::Api),
    /// Bring in what another system kept: files of CLAUDE.md, mem0, Letta and others.
    Bring(bring::Bring),
    /// The window and its archive as a folder of Markdown files.
    #[command(subcommand)]
    Window(window::Window),
    /// Synchronise a folder of Markdown files with the memory tool's files, in both directions.
    Sync(sync::Sync),
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
            Self::Route(command) => command.run().await,
            Self::Api(command) => command.run().await,
            Self::Bring(command) => command.run().await,
            Self::Window(command) => command.run().await,
            Self::Sync(command) => command.run().await,
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
