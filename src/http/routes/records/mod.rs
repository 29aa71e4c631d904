//! Records of a memory, active and archived: `M/records`.

pub(crate) mod get;
pub(crate) mod list;
pub(in crate::http) mod view;
