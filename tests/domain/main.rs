//! The document and the memory held to their laws.
