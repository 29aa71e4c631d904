//! Mirrors `src/http/routes`. Each test checks the status, the body, the stored rows and the side effects, in that order.

mod blame;
mod consolidate;
mod contexts;
mod guidance;
mod handoff;
mod health;
mod hostile;
mod items;
mod items_only;
mod lists;
mod log;
mod marks;
mod memories;
mod operations;
mod prompt;
mod records;
mod search;
mod search_meaning;
mod sections;
mod update;
mod updates;
mod usage;
mod window;
