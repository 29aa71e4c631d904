//! Access to the server: the pool with its connections and transactions, their deadlines and concurrency limits,
//! liveness, failover, notifications between instances, and the schema migrations.

pub(in crate::storage) mod connect;
pub(in crate::storage) mod connection;
pub(in crate::storage) mod deadline;
pub(in crate::storage) mod distribution;
pub(in crate::storage) mod failing;
pub(in crate::storage) mod heartbeat;
pub(in crate::storage) mod hosts;
mod lane_readers;
pub(in crate::storage) mod lanes;
pub(in crate::storage) mod listen;
pub(in crate::storage) mod liveness;
pub(in crate::storage) mod migrate;
pub mod notification;
pub(in crate::storage) mod notifications;
pub(in crate::storage) mod pool;
mod pool_options;
pub(in crate::storage) mod reader;
pub(in crate::storage) mod readiness;
pub(in crate::storage) mod repeat;
pub(in crate::storage) mod replica;
mod run_transaction;
mod server_identity;
pub mod server_state;
pub(in crate::storage) mod session;
pub(in crate::storage) mod transaction;

pub use deadline::{Class, Deadlines};
pub use distribution::Distribution;
pub use failing::FailingVaults;
pub use lanes::OWN_CONNECTIONS;
pub use pool::Storage;
pub use pool_options::{ACQUIRE_TIMEOUT, PoolOptions};
pub use session::is_direct;
