//! One file per page: the requests to the routes, the data of its template, and its forms.

pub(super) mod blame;
pub(super) mod diff;
mod document;
pub(super) mod edit;
pub(super) mod events;
pub(super) mod handoff;
pub(super) mod keys;
pub(super) mod memories;
pub(super) mod memory;
pub(super) mod prompt;
pub(super) mod raw;
pub(super) mod record;
pub(super) mod records;
pub(super) mod run;
pub(super) mod search;
pub(super) mod service;
pub(super) mod sign_in;
pub(super) mod timeline;
pub(super) mod updates;
pub(super) mod usage;
pub(super) mod vaults;
pub(super) mod version;
pub(super) mod window;
