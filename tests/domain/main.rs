//! Property tests of the document and the memory on malicious input; no database.

mod comparison;
mod consolidation_corpus;
mod consolidation_laws;
mod document_laws;
mod evidence;
mod headings;
mod hostile;
mod memory_laws;
mod origin_laws;
mod prompt_laws;
mod size;

use std::sync::LazyLock;
use working_memory::domain::evidence::{Examples, Input, JudgeContext, Strictness};
use working_memory::domain::memory::Limits;

/// The limits of an update, with few additions.
const LIMITS: Limits = Limits {
    max_additions: 3,
    item_bytes: 16_384,
    context_bytes: 102_400,
    pins_hold: false,
};

/// A strict comparison of answers with an input, for an empty document.
fn case<'a>(input: &'a Input<'a>) -> JudgeContext<'a> {
    static EXAMPLES: LazyLock<Examples> = LazyLock::new(Examples::default);
    JudgeContext {
        input,
        document: "",
        progress: "",
        examples: &EXAMPLES,
        max_archives: 3,
        strictness: Strictness::Reject,
    }
}
