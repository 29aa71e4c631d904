//! `working-memory export` and `working-memory import`.

mod conflicts;
mod embedded;
mod hostile;
mod items;
mod laws;
pub(crate) mod program;
mod round_trip;
mod sealed;
mod window;
