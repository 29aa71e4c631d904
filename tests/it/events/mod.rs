//! The events of a vault: `GET /v1/vaults/{vault_id}/events`, and the steps of an update.

mod keys;
mod order;
mod resumed;
mod steps;
mod told;
mod watch;
