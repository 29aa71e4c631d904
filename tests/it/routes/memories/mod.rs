//! `/v1/vaults/{vault_id}/memories`, `M`

mod delete;
mod get;
mod list;
