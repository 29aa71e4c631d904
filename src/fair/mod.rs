//! Fairness between vaults: what one vault, or one key, may hold of shared resources, and the order of waiting requests.
//!
//! A [`FairSemaphore`] guards a limited resource: connections, processors, bytes, requests, updates. A permit is counted
//! against its vault and its key, neither of which may ever hold the whole resource, and where one at a time is to be in a
//! memory against that. Waiters are admitted vault by vault in rotation, not in the
//! order of arrival: a vault with hundreds of waiting requests delays another by one of them.

mod cpu;
mod party;
mod semaphore;

pub use cpu::{on_cpu, run_blocking, run_blocking_if_long, turn};
pub use party::Party;
pub use semaphore::{FairSemaphore, NoRoom, Permit, ShareLimits};
