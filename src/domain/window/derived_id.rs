//! Ids of tasks that came without one: made of what a task says, so that it is known when it comes again.

use crate::domain::ids::TaskId;
use sha2::{Digest as _, Sha256};

/// What begins a derived id, and how many bytes of a hash follow in hexadecimal.
const DERIVED: &str = "import-";
const DERIVED_BYTES: usize = 12;

/// Whether an id was derived, and names nothing that a person or a program would call a task.
pub(super) fn is_derived(id: &TaskId) -> bool {
    let digits = id.as_str().strip_prefix(DERIVED);
    digits.is_some_and(|digits| {
        digits.len() == 2 * DERIVED_BYTES
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// The id of a task by its time, if it has one, its intent and the first sentence of its summary.
pub(super) fn derived_from(time: &str, intent: &str, sentence: &str) -> String {
    let hash = Sha256::digest([time, intent, sentence].join("\n"));
    format!("{DERIVED}{}", hex::encode(&hash[..DERIVED_BYTES]))
}
