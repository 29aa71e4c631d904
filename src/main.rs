//! The `working-memory` program: reads the command line and hands over to [`working_memory::cli`].

fn main() {}
