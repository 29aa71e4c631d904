//! What operations do to a memory: validation, application, projection to records.
