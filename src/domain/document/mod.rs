//! The context document: sections, managed sections, records, rendering, diff.
