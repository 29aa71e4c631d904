//! What happens in a vault, as everybody is told: `GET /v1/vaults/{vault_id}/events`, and the steps of an update.

mod keys;
mod resumed;
mod steps;
mod told;
mod watch;
