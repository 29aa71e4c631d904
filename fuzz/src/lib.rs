//! The pure part of `working_memory` that is fuzzed, compiled without the service around it: no HTTP, SQL
//! or TLS library has to be built and instrumented to read a text.

/// The same files that the service compiles.
#[path = "../../src/domain"]
pub mod domain {
    pub mod dsl;
    pub mod ids;
    pub mod operation;
}
