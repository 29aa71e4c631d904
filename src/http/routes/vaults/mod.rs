//! Vaults: `/v1/vaults`.

pub(crate) mod list;
pub(crate) mod updates;
pub(crate) mod usage;
