//! The pure part of `working_memory`, which is what is fuzzed, compiled without the service around it: building that with
//! a sanitizer takes more than a quarter of an hour, and nothing of it reads a text.

/// The same files that the service compiles. They use no other module of it.
#[path = "../../src/domain/mod.rs"]
pub mod domain;
