//! The update DSL: text to operations and faults.
