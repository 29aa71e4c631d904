//! Vaults: `/v1/vaults`.

pub(crate) mod list;
