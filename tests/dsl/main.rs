//! Placeholder until the first tests stand.
