//! The common parts of all pages: head, breadcrumbs, and response headers.

use super::failure::Failure;
use super::link;
use super::pages::refused::Refused;
use super::pages::updates::number_of_waiting;
use super::parts::{Escaped, When};
use super::router;
use super::visit::{Visit, Visitor};
use crate::domain::access::{AccessRole, Caller, VaultScope};
use askama::Template;
use askama::filters::HtmlSafe;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use std::fmt;
use std::sync::Arc;

/// Allows only content of this service, and no inline scripts or styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A breadcrumb.
#[derive(Debug)]
pub(super) struct Crumb {
    pub(super) label: String,
    pub(super) href: Option<String>,
}

impl Crumb {
    pub(super) fn to(label: impl Into<String>, href: String) -> Self {
        Self {
            label: label.into(),
            href: Some(href),
        }
    }

    pub(super) fn here(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            href: None,
        }
    }
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

/// The signed-in visitor.
#[derive(Debug)]
pub(super) struct Who {
    /// The key's name; `None` if no key is required.
    pub(super) name: Option<String>,
    pub(super) role: &'static str,
    pub(super) is_admin: bool,
    pub(super) runs_the_service: bool,
}

impl Who {
    pub(super) fn of(caller: &Caller) -> Self {
        let is_admin = caller.may(AccessRole::Admin);
        Self {
            name: caller.key.as_ref().map(|key| key.name.to_string()),
            role: caller.role.name(),
            is_admin,
            runs_the_service: is_admin && caller.scope == VaultScope::All,
        }
    }
}

/// The data of the base template.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) crumbs: Vec<Crumb>,
    pub(super) tabs: Vec<Tab>,
    pub(super) who: Option<Who>,
    pub(super) form_token: String,
    /// What makes the `Idempotency-Key` of each form of this page.
    once: String,
    /// A form of this page that was not executed.
    pub(super) refused: Option<Arc<Refused>>,
    /// The success message of a form.
    pub(super) notice: Option<&'static str>,
    /// The event stream that notifies when this page is out of date.
    pub(super) live: Option<String>,
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    pub(super) icon: &'static str,
    pub(super) version: &'static str,
    pub(super) now: Option<DateTime<Utc>>,
}

/// The success messages of forms: `?done=` in the URL of the page they redirect to.
const NOTICES: [(&str, &str); 17] = [
    ("put", "Saved as a new version."),
    (
        "unchanged",
        "Nothing was changed: the text is that of the newest version.",
    ),
    ("restored", "Restored as a new version."),
    ("redacted", "The text of this version was redacted."),
    ("deleted", "The memory was deleted."),
    ("approved", "Approved and applied."),
    (
        "approved-unchanged",
        "Approved; none of its operations is valid any more, so the memory is unchanged.",
    ),
    (
        "corrected",
        "Corrected: this record took the place of the old one.",
    ),
    ("archived", "Archived, with the reason."),
    ("added", "Added."),
    ("proposed", "Proposed. It is applied when somebody approves it."),
    ("rejected", "Rejected. The run is saved with the reason."),
    ("cancelled", "Cancelled; it will save nothing."),
    ("revoked", "The key was revoked, and its sessions have ended."),
    ("refreshed", "The handoff was compiled again."),
    ("signed-out", "You are signed out."),
    ("signed-in", "You are signed in."),
];

impl Page {
    /// A page for a visitor.
    pub(super) fn of(visit: &Visit, title: impl Into<String>) -> Self {
        let mut page = Self::plain(title, Some(visit.now));
        page.who = Some(Who::of(&visit.caller));
        page.form_token.clone_from(&visit.form_token);
        page.once = visit.services.clock.new_id().simple().to_string();
        page.refused.clone_from(&visit.refused);
        page.notice = visit.param("done").and_then(notice);
        page
    }

    /// A page without a visitor.
    pub(super) fn plain(title: impl Into<String>, now: Option<DateTime<Utc>>) -> Self {
        Self {
            title: title.into(),
            crumbs: vec![Crumb::to("Vaults", "/ui/".to_owned())],
            tabs: Vec::new(),
            who: None,
            form_token: String::new(),
            once: String::new(),
            refused: None,
            notice: None,
            live: None,
            style: router::style(),
            script: router::script(),
            icon: router::icon(),
            version: env!("CARGO_PKG_VERSION"),
            now,
        }
    }

    /// A page instead of the one at `path`, with the navigation that belongs there.
    pub(super) fn instead(path: &str, visitor: Option<&Visitor>, is_found: bool) -> Self {
        let mut page = Self::plain("Not shown", None);
        let Some((caller, visitor)) = visitor.and_then(|visitor| Some((visitor.caller.as_ref()?, visitor)))
        else {
            return page;
        };
        page.who = Some(Who::of(caller));
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

    /// What a form of this page begins with: its hidden fields, and why it was refused.
    pub(super) fn within<'p>(&'p self, form: &'p str) -> Within<'p> {
        Within { page: self, form }
    }

    /// The form, if it was refused.
    pub(super) fn refused_in(&self, form: &str) -> Option<&Refused> {
        self.refused.as_deref().filter(|refused| refused.is_of(form))
    }

    /// What was entered in a field of a form that was refused.
    pub(super) fn entered(&self, form: &str, field: &str) -> &str {
        self.refused_in(form)
            .map(|refused| refused.entered(field))
            .unwrap_or_default()
    }

    pub(super) fn crumb(mut self, crumb: Crumb) -> Self {
        self.crumbs.push(crumb);
        self
    }

    /// A page of a vault for a visitor, with the number of proposals that wait; `here` is the label of its tab.
    pub(super) async fn of_vault(visit: &Visit, title: impl Into<String>, vault: &str, here: &str) -> Self {
        let mut page = Self::of(visit, title).in_vault(vault, here);
        let count = number_of_waiting(visit, vault).await;
        if let Some(inbox) = page.tabs.iter_mut().find(|tab| tab.label == "Inbox") {
            inbox.count = count;
        }
        page
    }

    /// A page of a vault; `here` is the label of its tab.
    pub(super) fn in_vault(mut self, vault: &str, here: &str) -> Self {
        let base = link::vault(vault, &[]);
        self.tabs = tabs(&base, here, &["Memories", "Search", "Inbox", "Usage", "Events"]);
        self.crumb(Crumb::to(vault, base))
    }

    /// A page of a memory; `here` is the label of its tab.
    pub(super) fn in_memory(mut self, vault: &str, memory: &str, here: &str) -> Self {
        let base = link::memory(vault, memory, &[]);
        self.tabs = tabs(
            &base,
            here,
            &[
                "Document", "Timeline", "Diff", "Blame", "Records", "Updates", "Window", "Prompt", "Handoff",
            ],
        );
        self.crumb(Crumb::to(vault, link::vault(vault, &[])))
            .crumb(Crumb::to(memory, base))
    }

    /// Makes the page reload when its content changes.
    pub(super) fn live(mut self, vault: &str, memory: Option<&str>) -> Self {
        let stream = link::vault(vault, &["stream"]);
        self.live = Some(link::with_query(&stream, &[("memory_id", memory)]));
        self
    }

    /// When the page was made.
    pub(super) fn made(&self) -> Option<When> {
        self.now.map(|now| When::new(now, now))
    }

    /// Whether a visitor is signed in with a key.
    pub(super) fn can_sign_out(&self) -> bool {
        self.who.as_ref().is_some_and(|who| who.name.is_some())
    }
}

/// See [`Page::within`].
pub(super) struct Within<'p> {
    page: &'p Page,
    form: &'p str,
}

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { page, form } = self;
        write!(
            f,
            r#"<input type="hidden" name="form" value="{form}"><input type="hidden" name="form_token" value="{}"><input type="hidden" name="once" value="ui-{}-{form}">"#,
            Escaped(&page.form_token),
            page.once,
        )?;
        match page.refused_in(form) {
            Some(refused) => refused.fmt(f),
            None => Ok(()),
        }
    }
}

impl HtmlSafe for Within<'_> {}

/// Tabs below `base`: the first leads there, each other to the path of its name.
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

fn notice(name: &str) -> Option<&'static str> {
    let (_, text) = NOTICES.iter().find(|(known, _)| *known == name)?;
    Some(text)
}

/// A redirect to a page with the success message of a form.
pub(super) fn done(path: &str, what: &str) -> axum::response::Redirect {
    axum::response::Redirect::to(&link::with_query(path, &[("done", Some(what))]))
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
    let text = view.render().map_err(Failure::internal)?;
    let mut response = ([(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response();
    guard(response.headers_mut());
    Ok(response)
}
