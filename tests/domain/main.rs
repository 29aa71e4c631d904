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

use working_memory::domain::memory::Limits;

/// The limits of an update, with few additions.
const LIMITS: Limits = Limits {
    max_additions: 3,
    item_bytes: 16_384,
    context_bytes: 102_400,
    pins_hold: false,
};
