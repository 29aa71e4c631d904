//! `/v1/vaults`

mod list;
