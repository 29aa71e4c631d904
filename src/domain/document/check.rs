//! Validation of a context document, and an estimate of its size in tokens.

use memchr::memchr;

/// Why a text is rejected as a context document. The message may be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDocument {
    /// Larger than the limit.
    #[error("the context has {bytes} bytes, over limits.context_bytes = {limit}")]
    TooLarge {
        /// Size of the text in bytes.
        bytes: usize,
        /// Maximum size in bytes.
        limit: usize,
    },
    /// Empty, or whitespace only.
    #[error("the context is empty or blank; it must contain text")]
    Blank,
    /// Contains a NUL character, which PostgreSQL cannot store.
    #[error("the context contains a NUL character at byte {at}; remove it")]
    Nul {
        /// Byte offset of the first NUL character.
        at: usize,
    },
}

/// Checks that a text is a valid document: at most `max_bytes`, not blank (Unicode whitespace and a byte
/// order mark are blank), no NUL.
///
/// # Errors
///
/// The first rule that the text violates.
pub fn check(text: &str, max_bytes: usize) -> Result<(), InvalidDocument> {
    check_file(text, max_bytes)?;
    if is_blank(text) {
        return Err(InvalidDocument::Blank);
    }
    Ok(())
}

/// Like [`check`], for a file of the memory tool, which may be empty or blank.
///
/// # Errors
///
/// The first rule that the text violates.
pub fn check_file(text: &str, max_bytes: usize) -> Result<(), InvalidDocument> {
    if text.len() > max_bytes {
        return Err(InvalidDocument::TooLarge {
            bytes: text.len(),
            limit: max_bytes,
        });
    }
    match memchr(0, text.as_bytes()) {
        Some(at) => Err(InvalidDocument::Nul { at }),
        None => Ok(()),
    }
}

/// Whether a text contains only whitespace (Unicode) and byte order marks.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// Estimates the tokens of a text of this many bytes: a quarter, rounded up. This is a cheap approximation;
/// prompt budgets use a real tokenizer.
#[must_use]
pub fn estimated_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
