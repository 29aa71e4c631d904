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
