//! `working-memory man`, `completions` and `openapi`: what is generated from the commands and routes.

use crate::cli::client::{Failure, Output};
use crate::http::openapi_yaml;
use clap::{Args, Command};
use clap_complete::Shell;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// The page of this command, such as `put` or `items put`; of the program without it.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands into this folder instead; it is created if it does not exist.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, program: Command) -> Result<(), Failure> {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        if let Some(dir) = &self.dir {
            return std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(program, dir))
                .map_err(|error| Failure::failed(format!("cannot write into {}: {error}", dir.display())));
        }
        let mut command = &program;
        for name in &self.command {
            command = command
                .find_subcommand(name)
                .ok_or_else(|| Failure::usage(format!("there is no command {}", self.command.join(" "))))?;
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone())
            .render(&mut page)
            .map_err(|error| Failure::failed(error.to_string()))?;
        Output::of_document()
            .text(&String::from_utf8_lossy(&page))
            .write()
    }
}

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

/// Writes the document to standard output.
pub(super) fn openapi() -> Result<(), Box<dyn Error>> {
    Ok(std::io::stdout().write_all(openapi_yaml().as_bytes())?)
}
