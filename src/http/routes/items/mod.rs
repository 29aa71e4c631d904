//! `M/items` and `/v1/vaults/{vault_id}/items`: each file serves both levels.

pub(crate) mod add;
mod logged;
pub(crate) mod read;
pub(crate) mod remove;
pub(crate) mod replace;
mod view;
