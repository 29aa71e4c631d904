//! What is taken out of versions or made anew from them: redaction, retention and the rebuilding of records.

pub(in crate::storage) mod rebuild;
pub mod redact;
pub(in crate::storage) mod retention;

pub use rebuild::Rebuilt;
pub use redact::RedactError;
