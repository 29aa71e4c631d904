//! Neighbours: what one vault, or one key, may hold at once of what all share, and whose turn it is.
//!
//! A [`Gate`] guards something of which there is a bounded amount: connections, processors, bytes. Whoever holds some of
//! it is counted against its vault and its key, neither of which may ever hold all of it. Who waits gets its turn vault
//! by vault, not in the order of arrival: a vault with hundreds of requests waiting delays another by one of them.

mod cpu;
mod gate;
mod party;

pub use cpu::{LONG_WORK, in_place, on_cpu, on_cpu_for, without_hogging};
pub use gate::{Gate, Permit, Shares};
pub use party::Party;
