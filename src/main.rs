//! The `working-memory` program: reads the command line and hands over to [`working_memory::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    working_memory::cli::run()
}
