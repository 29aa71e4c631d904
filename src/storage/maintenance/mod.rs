//! Maintenance of versions: redaction, retention and rebuilding records.

pub(in crate::storage) mod rebuild;
pub mod redact;
pub(in crate::storage) mod retention;

pub use rebuild::Rebuilt;
