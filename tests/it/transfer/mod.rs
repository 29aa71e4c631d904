//! `working-memory export` and `working-memory import`.

mod conflicts;
mod embedded;
mod hostile;
mod items;
pub(crate) mod program;
mod round_trip;
mod sealed;
mod window;
