//! `M/items` and `/v1/vaults/{vault_id}/items`: each operation has one file for both levels.

pub(crate) mod add;
pub(crate) mod get;
pub(crate) mod list;
mod logged;
pub(crate) mod remove;
pub(crate) mod remove_category;
pub(crate) mod replace;
mod view;
