//! The common parts of all pages: head, breadcrumbs, and response headers.

use super::failure::Failure;
use super::filters::ago;
use super::form::Refused;
use super::link;
use super::visit::{Pager, Visit, Visitor};
use crate::domain::access::{AccessRole, Caller, VaultScope};
use askama::Template;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{Html, IntoResponse, Redirect, Response};
use chrono::{DateTime, Utc};
use serde_json::Value;

/// Allows only content of this service, and no inline scripts or styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The tabs of a vault and of a memory: the first leads to its own page, each other to the path of its name.
const TABS_OF_VAULT: [&str; 5] = ["Memories", "Search", "Inbox", "Usage", "Events"];
const TABS_OF_MEMORY: [&str; 9] = [
    "Document", "Timeline", "Diff", "Blame", "Records", "Updates", "Window", "Prompt", "Handoff",
];

/// A breadcrumb.
#[derive(Debug)]
pub(super) struct Crumb {
    pub(super) label: String,
    /// `None`: the page itself.
    pub(super) href: Option<String>,
}

/// A tab.
#[derive(Debug)]
pub(super) struct Tab {
    pub(super) label: &'static str,
    /// What waits there.
    pub(super) count: Option<String>,
    pub(super) href: String,
    pub(super) is_here: bool,
}

/// The data of the base template, and what all templates need to know of the visitor.
#[derive(Default)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) crumbs: Vec<Crumb>,
    pub(super) tabs: Vec<Tab>,
    /// The vault and the memory that the page belongs to.
    pub(super) vault: String,
    pub(super) memory: String,
    /// The path of the memory's page, or else of the vault's.
    pub(super) base: String,
    /// `None`: not signed in.
    pub(super) caller: Option<Caller>,
    pub(super) form_token: String,
    /// The event stream that notifies when this page is out of date; a page without an element `live` does not listen.
    pub(super) live: Option<String>,
    /// What was requested; `None` for a page without a visitor, and for one that takes the place of another.
    pub(super) visit: Option<Visit>,
}

impl Page {
    /// A page for a visitor.
    pub(super) fn of(visit: &Visit, title: impl Into<String>) -> Self {
        Self {
            caller: Some(visit.caller.clone()),
            form_token: visit.form_token.clone(),
            visit: Some(visit.clone()),
            ..Self::plain(title)
        }
    }

    /// A page without a visitor.
    pub(super) fn plain(title: impl Into<String>) -> Self {
        let page = Self {
            title: title.into(),
            ..Self::default()
        };
        page.below("Vaults", "/ui/".to_owned())
    }

    /// A page instead of the one at `path`, with the navigation that belongs there.
    pub(super) fn instead(path: &str, visitor: Option<&Visitor>, is_found: bool) -> Self {
        let mut page = Self::plain("Not shown");
        let Some((caller, visitor)) = visitor.and_then(|visitor| Some((visitor.caller.as_ref()?, visitor)))
        else {
            return page;
        };
        page.caller = Some(caller.clone());
        page.form_token.clone_from(&visitor.form_token);
        let sees = |vault: &str| vault.parse().is_ok_and(|vault| caller.sees(&vault));
        match link::place(path).filter(|(vault, _)| sees(vault)) {
            Some((vault, Some(memory))) if is_found || !path.ends_with(memory) => {
                page.in_memory(vault, memory, "")
            }
            Some((vault, memory)) if is_found || memory.is_some() => page.in_vault(vault, ""),
            _ => page,
        }
    }

    /// Adds the breadcrumb of a page above.
    pub(super) fn below(self, label: impl Into<String>, href: String) -> Self {
        self.crumb(label.into(), Some(href))
    }

    /// Adds the breadcrumb of this page.
    pub(super) fn here(self, label: impl Into<String>) -> Self {
        self.crumb(label.into(), None)
    }

    fn crumb(mut self, label: String, href: Option<String>) -> Self {
        self.crumbs.push(Crumb { label, href });
        self
    }

    /// A page of the visitor's vault, with the number of proposals that wait; `here` is the label of its tab.
    pub(super) async fn of_vault(visit: &Visit, title: impl Into<String>, here: &str) -> Self {
        let mut page = Self::of(visit, title).in_vault(visit.vault(), here);
        let count = number_of_waiting(visit).await;
        if let Some(inbox) = page.tabs.iter_mut().find(|tab| tab.label == "Inbox") {
            inbox.count = count;
        }
        page
    }

    /// A page of the visitor's memory; `here` is the label of its tab.
    pub(super) fn of_memory(visit: &Visit, title: impl Into<String>, here: &str) -> Self {
        Self::of(visit, title).in_memory(visit.vault(), visit.memory(), here)
    }

    /// A page of a vault; `here` is the label of its tab.
    fn in_vault(mut self, vault: &str, here: &str) -> Self {
        self.base = link::vault(vault, &[]);
        self.tabs = tabs(&self.base, here, &TABS_OF_VAULT);
        vault.clone_into(&mut self.vault);
        self.live = Some(link::vault(vault, &["stream"]));
        let base = self.base.clone();
        self.below(vault, base)
    }

    /// A page of a memory; `here` is the label of its tab.
    fn in_memory(self, vault: &str, memory: &str, here: &str) -> Self {
        let mut page = self.in_vault(vault, "");
        page.base = link::memory(vault, memory, &[]);
        page.tabs = tabs(&page.base, here, &TABS_OF_MEMORY);
        memory.clone_into(&mut page.memory);
        let stream = link::vault(vault, &["stream"]);
        page.live = Some(link::with_query(&stream, &[("memory_id", Some(memory))]));
        let base = page.base.clone();
        page.below(memory, base)
    }

    /// When it was requested.
    pub(super) fn now(&self) -> Option<DateTime<Utc>> {
        self.visit.as_ref().map(|visit| visit.now)
    }

    /// The age of something, in words.
    pub(super) fn age(&self, time: &DateTime<Utc>) -> String {
        ago(self.now().unwrap_or(*time) - time)
    }

    /// A parameter of the page; empty if it is missing.
    pub(super) fn param(&self, name: &str) -> &str {
        let visit = self.visit.as_ref();
        visit.and_then(|visit| visit.param(name)).unwrap_or_default()
    }

    /// The URL of this page with this parameter instead of its own.
    pub(super) fn with(&self, name: &str, value: impl ToString) -> String {
        let visit = self.visit.as_ref();
        let with = |visit: &Visit| visit.with(&[(name, Some(&value.to_string()))]);
        visit.map(with).unwrap_or_default()
    }

    /// The links of a page of a list; `next` is the cursor of the next one.
    pub(super) fn pager(&self, next: &Option<String>) -> Pager {
        let visit = self.visit.as_ref();
        visit
            .map(|visit| visit.pager(next.as_deref()))
            .unwrap_or_default()
    }

    /// What makes the `Idempotency-Key` of a form.
    pub(super) fn once(&self) -> String {
        let id = self.visit.as_ref().map(|visit| visit.services.clock.new_id());
        id.unwrap_or_default().simple().to_string()
    }

    /// A form of this page that was not executed.
    pub(super) fn refused(&self) -> Option<&Refused> {
        self.visit.as_ref()?.refused.as_deref()
    }

    fn may(&self, role: AccessRole) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.may(role))
    }

    /// Whether the visitor may send operations, at least as a proposal.
    pub(super) fn may_propose(&self) -> bool {
        self.may(AccessRole::Proposer)
    }

    /// Whether the visitor may change memories.
    pub(super) fn may_write(&self) -> bool {
        self.may(AccessRole::Writer)
    }

    /// Whether the visitor may remove history, and create keys.
    pub(super) fn may_admin(&self) -> bool {
        self.may(AccessRole::Admin)
    }

    /// Whether the visitor may see what belongs to all vaults.
    pub(super) fn runs_the_service(&self) -> bool {
        self.caller.as_ref().is_some_and(runs_the_service)
    }

    /// The form, if it was refused.
    pub(super) fn refused_in(&self, form: &str) -> Option<&Refused> {
        self.refused().filter(|refused| refused.is_of(form))
    }

    /// Whether the form was refused because of a newer version.
    pub(super) fn is_late(&self, form: &str) -> bool {
        self.refused_in(form).is_some_and(Refused::is_late)
    }

    /// The version that a form is about: the one that it was opened for, until the visitor was told of the newest one.
    pub(super) fn seen<'p>(&'p self, form: &str, newest: &'p str) -> &'p str {
        match self.refused_in(form) {
            Some(refused) if !refused.is_overtaken => refused.entered("if_match"),
            _ => newest,
        }
    }

    /// What was entered in a field of a form that was refused.
    pub(super) fn entered(&self, form: &str, field: &str) -> &str {
        self.said(form, field, "")
    }

    /// What a field shows: what was entered if the form was refused, or else what it said before.
    pub(super) fn said<'p>(&'p self, form: &str, field: &str, before: &'p str) -> &'p str {
        match self.refused_in(form) {
            Some(refused) => refused.entered(field),
            None => before,
        }
    }
}

/// Whether somebody may see what belongs to all vaults.
pub(super) fn runs_the_service(caller: &Caller) -> bool {
    caller.may(AccessRole::Admin) && caller.scope == VaultScope::All
}

fn tabs(base: &str, here: &str, labels: &[&'static str]) -> Vec<Tab> {
    let tab = |(place, label): (usize, &&'static str)| Tab {
        label,
        count: None,
        href: match place {
            0 => base.to_owned(),
            _ => format!("{base}/{}", label.to_lowercase()),
        },
        is_here: *label == here,
    };
    labels.iter().enumerate().map(tab).collect()
}

/// How many proposals of a vault wait, if there are any; at most a hundred are counted. A page is shown without the number
/// rather than not at all.
async fn number_of_waiting(visit: &Visit) -> Option<String> {
    let ask = visit.of_vault(&["updates"]);
    let list: Value = ask
        .query("status", "proposed")
        .query("limit", 100)
        .read()
        .await
        .ok()?;
    match (list["items"].as_array()?.len(), list["next_cursor"].is_null()) {
        (0, _) => None,
        (number, true) => Some(number.to_string()),
        (number, false) => Some(format!("{number}+")),
    }
}

/// A redirect to a page that says what a form did.
pub(super) fn done(path: &str, what: &str) -> Response {
    Redirect::to(&link::with_query(path, &[("done", Some(what))])).into_response()
}

/// The headers of every page.
pub(super) fn guard(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        // A browser that may not say where a form comes from says "null", which is no site's origin.
        (REFERRER_POLICY, "same-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The response with this page.
pub(super) fn render(view: &impl Template) -> Result<Response, Failure> {
    Ok(html(view.render().map_err(Failure::internal)?))
}

/// The response with this HTML.
pub(super) fn html(text: impl Into<Body>) -> Response {
    let mut response = Html(text.into()).into_response();
    guard(response.headers_mut());
    response
}
