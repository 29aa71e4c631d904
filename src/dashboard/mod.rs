//! The dashboard: pages for people, made by the server, below `/ui` (docs/dashboard.md).
//!
//! Every page asks the routes of the HTTP interface, as tools of `mcp` do, and every form sends one request to them: what
//! a route refuses, a page refuses, in the same words. So a page knows nothing of the database, and needs no rules of its
//! own about roles, vaults, preconditions or limits. What is the browser's business is done here: sessions, tokens of
//! forms, a content security policy without inline scripts and styles, and texts of memories that stay texts.
//!
//! - [`api`]: how a page asks. [`visit`]: who looks. [`layout`]: what all pages have.
//! - [`failure`]: what went wrong. [`failure_page`]: the page that says so.
//! - `pages`: one file a page, its template beside it.
//! - `assets`: style, script and icon, served under names with their hashes.

mod api;
mod assets;
mod door;
mod failure;
mod failure_page;
mod form;
mod layout;
mod link;
mod markdown;
mod pages;
mod parts;
mod router;
mod visit;

pub(crate) use api::Routes;
pub(crate) use door::{Door, Visitor};
pub(crate) use failure_page::{arrive_again, as_page};
pub(crate) use router::router;
pub(crate) use visit::Facts;

/// Where the pages are.
pub(crate) const ROOT: &str = "/ui";

/// Whether a path is one of the dashboard's.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/" || path == ROOT || path.strip_prefix(ROOT).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a route of the dashboard is answered to whoever is not signed in.
pub(crate) fn is_public(route: &str) -> bool {
    matches!(route, "/" | "/ui" | "/ui/sign-in" | "/ui/assets/{name}")
}
