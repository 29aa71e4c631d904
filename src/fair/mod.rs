//! Fairness between vaults: what one vault, or one key, may hold of shared resources, and the order of waiting requests.
//!
//! A [`Gate`] guards a limited resource: connections, processors, bytes. A permit is counted against its vault and its
//! key, neither of which may ever hold the whole resource. Waiters are admitted vault by vault in rotation, not in the
//! order of arrival: a vault with hundreds of waiting requests delays another by one of them.

mod cpu;
mod gate;
mod party;

pub use cpu::{LONG_WORK, in_place, on_cpu, on_cpu_for, without_hogging};
pub use gate::{Gate, Permit, Shares};
pub use party::Party;
