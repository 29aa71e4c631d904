//! The document and the memory held to their laws on hostile input; no database.

mod document_laws;
mod hostile;
mod memory_laws;
mod size;
