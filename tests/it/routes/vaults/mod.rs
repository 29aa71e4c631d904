//! `/v1/vaults`

mod list;
mod usage;
