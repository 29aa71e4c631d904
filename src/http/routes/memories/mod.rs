//! The memories of a vault: `/v1/vaults/{vault_id}/memories`, and `M` itself.

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
