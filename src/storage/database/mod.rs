//! Access to the server: the pool with its connections and transactions, their deadlines and concurrency limits,
//! liveness, failover, notifications between instances, and the schema migrations.

pub(in crate::storage) mod connect;
pub(in crate::storage) mod connection;
pub(in crate::storage) mod distribution;
pub(in crate::storage) mod failing;
pub(in crate::storage) mod heartbeat;
pub(in crate::storage) mod hosts;
pub(in crate::storage) mod listen;
pub(in crate::storage) mod liveness;
pub(in crate::storage) mod migrate;
pub mod notification;
pub(in crate::storage) mod pool;
pub(in crate::storage) mod replica;
pub mod server;
pub(in crate::storage) mod transaction;

pub use connect::is_direct;
pub use distribution::Distribution;
pub use failing::FailingVaults;
pub use pool::{ACQUIRE_TIMEOUT, Class, OWN_CONNECTIONS, PoolOptions, Storage};
pub use transaction::TransactionError;
