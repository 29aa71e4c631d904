//! What a text must be to be a context document, and how large it is for a model.

use memchr::memchr;

/// Why a text is no context document. The message is fit to be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDocument {
    /// Over the cap.
    #[error("the context has {bytes} bytes, over limits.context_bytes = {limit}")]
    TooLarge {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Empty, or nothing but blanks.
    #[error("the context is empty or blank; it must hold text")]
    Blank,
    /// It holds a NUL character, which PostgreSQL cannot store.
    #[error("the context holds a NUL character at byte {at}; remove it")]
    Nul {
        /// The first one's place, in bytes from 0.
        at: usize,
    },
}

/// Checks a text that is put as a document: at most `max_bytes`, not blank (Unicode blanks and a byte order
/// mark are blank), no NUL.
///
/// # Errors
///
/// What the text is not.
pub fn check(text: &str, max_bytes: usize) -> Result<(), InvalidDocument> {
    check_file(text, max_bytes)?;
    if is_blank(text) {
        return Err(InvalidDocument::Blank);
    }
    Ok(())
}

/// As [`check`] for the text of a file of the memory tool, which may be empty or blank.
///
/// # Errors
///
/// What the text is not.
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

/// Whether a text holds nothing but blanks, Unicode's and a byte order mark among them.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// About how many tokens a model sees in a text of this many bytes: a quarter of them, rounded up. It costs nothing and
/// promises nothing; prompts are cut to a budget with a real tokenizer.
#[must_use]
pub fn estimated_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
