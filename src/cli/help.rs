//! What is generated from the commands: the help, with the commands in groups and an example of each (clap alone would list
//! them without groups), `working-memory man` and `completions`.

use super::client::{EXIT_CODES, Failure, Output};
use crate::cli::run::Cli;
use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The headings, and below each an example of each of its commands, which begins with the command's name. Every command is
/// in one group.
const GROUPS: &str = r#"Begin
  init --vault acme --memory agent
  doctor
  serve
  health --url http://127.0.0.1:8080
A document
  get --section progress
  put notes.md --if-match 0199ab…
  edit
  sections
  update "Wired the parser. Next: benchmarks." --messages talk.jsonl
  operations changes.txt --dry-run
  records --kind KL --status all
Its history
  versions -n 10
  log -n 5
  diff 7 --base 3
  blame
  restore 7
  redact 7 --reason "held a password"
  delete --memory old-agent
Tasks, decisions, handoff
  task "Fix the pool" --summary "Idle sessions are closed"
  decision "All SQL in storage" --because "one language is enough"
  set-status --goal "ship the parser" --blocker none
  status
  show --offline
  refresh --window 6h
  path
  window export notes --watch
A vault
  vaults
  memories --prefix agent-
  search "connection pool"
  events --follow
  usage --from 2026-11-01
  updates --status proposed
  consolidate
  approve 0199ab… --operations 0,2
  reject 0199ab… --reason "not certain"
For agents and other programs
  sync notes --root agent-1 --watch
  mcp install cursor
  hook session-start
  bring --from claude-md CLAUDE.md --dry-run
  prompt --max-tokens 4000
  items list
  api GET /v1/vaults/{vault}/memories/{memory}/handoffs --field limit=3
To run a service
  migrate
  keys create --name ci --role writer --vault acme
  export --vault acme --output acme.jsonl
  import acme.jsonl --into-vault copy
  rebuild-records --help
  embeddings status
  with-postgres -- sh -c 'psql "$DATABASE_URL"'
  openapi
  completions bash
  man sync
"#;

/// The help template without clap's list of commands.
const TEMPLATE: &str = "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

/// The command line for help, manual pages and completions.
pub(super) fn command() -> Command {
    let mut command = Cli::command();
    let groups = groups(&command);
    for example in examples() {
        command = command.mut_subcommand(name_in(example), |command| {
            let own = command
                .get_after_help()
                .map(|own| format!("{own}\n\n"))
                .unwrap_or_default();
            command.after_help(format!("{own}Example:\n  working-memory {example}"))
        });
    }
    command
        .help_template(TEMPLATE)
        .before_help(groups)
        .after_help("working-memory COMMAND --help describes each, with an example.")
        .after_long_help(format!("\n{EXIT_CODES}"))
}

fn examples() -> impl Iterator<Item = &'static str> {
    GROUPS.lines().filter_map(|line| line.strip_prefix("  "))
}

fn name_in(example: &str) -> &str {
    example.split(' ').next().unwrap_or(example)
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    for line in GROUPS.lines() {
        // Writing to a string cannot fail.
        let _ = match line.strip_prefix("  ") {
            Some(example) => {
                let name = name_in(example);
                let about = command.find_subcommand(name).and_then(Command::get_about);
                let about = about.map(ToString::to_string).unwrap_or_default();
                writeln!(text, "  {name:<16} {about}")
            }
            None if text.is_empty() => writeln!(text, "{line}:"),
            None => writeln!(text, "\n{line}:"),
        };
    }
    text.push('\n');
    text
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group() {
        let listed: Vec<&str> = examples().map(name_in).collect();
        let command = Cli::command();
        let there: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), there);
        assert_eq!(listed.len(), there.len());
    }

    #[test]
    fn every_example_is_a_command_line() {
        for example in examples() {
            // Removes quotes as a shell does; the examples use no others.
            let mut words = vec!["working-memory".to_owned()];
            for (index, piece) in example.split('"').enumerate() {
                match index % 2 {
                    1 => words.push(piece.to_owned()),
                    _ => words.extend(piece.split_whitespace().map(str::to_owned)),
                }
            }
            let words: Vec<String> = words.iter().map(|word| word.replace('…', "")).collect();
            if !example.ends_with("--help") {
                assert!(
                    Cli::try_parse_from(&words).is_ok(),
                    "{example}: {:?}",
                    Cli::try_parse_from(&words).err()
                );
            }
        }
    }
}
