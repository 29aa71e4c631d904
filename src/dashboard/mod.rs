//! The dashboard: web pages rendered by the server, below `/ui` (docs/dashboard.md).
//!
//! Every page calls the routes of the HTTP interface, as tools of `mcp` do, and every form sends one request to them: what
//! a route rejects, a page rejects, with the same message. So a page does not depend on the database, and needs no rules of
//! its own about roles, vaults, preconditions or limits. This module handles what is specific to browsers: sessions, tokens of
//! forms, a content security policy without inline scripts and styles, and escaping of memories' texts.
//!
//! - [`api`]: requests to the routes. [`visit`]: the visitor. [`layout`]: the common parts of pages.
//! - [`failure`]: failures and error pages. [`form`]: forms, and forms that are shown again.
//! - `pages`: one file per page, with its template beside it: it shows the types of the routes' responses. `macros.html`:
//!   what several templates have; [`filters`]: how they show numbers and times.
//! - [`excerpt`], [`difference`]: the parts of long texts that fit on a page.
//! - `router`: the table of pages; style, script and icon, served under names with their hashes.

mod api;
mod difference;
mod excerpt;
mod failure;
mod filters;
mod form;
mod layout;
mod link;
mod markdown;
mod pages;
mod router;
mod visit;

pub(crate) use api::Routes;
pub(crate) use failure::{as_page, reload_page};
pub(crate) use router::router;
pub(crate) use visit::{PageServices, Visitor};

/// The path of the pages.
pub(crate) const ROOT: &str = "/ui";

/// Whether a path belongs to the dashboard.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/" || path == ROOT || path.strip_prefix(ROOT).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a route of the dashboard needs no sign-in.
pub(crate) fn is_public(route: &str) -> bool {
    matches!(route, "/" | "/ui" | "/ui/sign-in" | "/ui/assets/{name}")
}
