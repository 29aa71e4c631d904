//! The `working-memory` program: runs [`working_memory::cli`].

use std::process::ExitCode;

/// Every request makes hundreds of small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    working_memory::cli::run()
}
