//! Mirrors `src/http/routes`. Each test looks at the status, the body, the stored rows and the side effects, in
//! that order.

mod blame;
mod contexts;
mod handoff;
mod health;
mod hostile;
mod log;
mod memories;
mod operations;
mod records;
mod search;
mod sections;
mod update;
mod updates;
mod vaults;
