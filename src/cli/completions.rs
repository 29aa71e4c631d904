//! `working-memory completions`: shell completions, generated from the commands.

use super::client::{Failure, Output};
use clap::{Args, Command};
use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut program: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "working-memory", &mut script);
        Output::of_document()
            .text(&String::from_utf8_lossy(&script))
            .write()
    }
}
