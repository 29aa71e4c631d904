//! Derives ids for tasks without one from their text, so that a repeated import recognises them.

use crate::domain::ids::TaskId;
use sha2::{Digest as _, Sha256};

/// Prefix of a derived id, and the number of hash bytes that follow in hexadecimal.
const DERIVED: &str = "import-";
const DERIVED_BYTES: usize = 12;

/// Whether an id was derived. Such an id is not shown to people or programs.
pub(super) fn is_derived(id: &TaskId) -> bool {
    let digits = id.as_str().strip_prefix(DERIVED);
    digits.is_some_and(|digits| {
        digits.len() == 2 * DERIVED_BYTES
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// Derives the id of a task from its time (if it has one), its intent and the first sentence of its summary.
pub(super) fn derived_from(time: &str, intent: &str, sentence: &str) -> String {
    let hash = Sha256::digest([time, intent, sentence].join("\n"));
    format!("{DERIVED}{}", hex::encode(&hash[..DERIVED_BYTES]))
}
