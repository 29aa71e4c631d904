//! The `working-memory` program: reads the command line and hands over to [`working_memory::cli`].

use std::process::ExitCode;

/// Every request makes and frees hundreds of small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    working_memory::cli::run()
}
