//! `GET …/versions/{ref}`: one version of a document, with its actions.

use super::super::failure::Failure;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Id, Markup, When, grouped, size};
use super::super::visit::Visit;
use super::data::Context;
use super::document::{About, Shown, show as show_document, start};
use crate::dashboard::pages::timeline::Slider;
use askama::Template;
use axum::extract::Path;
use axum::response::{Redirect, Response};
use std::collections::HashMap;

#[derive(Template)]
#[template(path = "pages/version.html")]
struct View {
    page: Page,
    base: String,
    context: Context,
    newest: i64,
    number: String,
    made: When,
    size: String,
    tokens: String,
    document: Markup,
    next: Option<String>,
    slider: Slider,
    head_id: String,
    can_write: bool,
    can_admin: bool,
}

/// Shows the version.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory, reference)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    let version = [&place[..], &["contexts", &reference]].concat();
    let (context, head) = futures::join!(
        visit.api.get(&version).read::<Context>(),
        visit.api.get(&place).read::<super::data::Memory>(),
    );
    let (context, head) = (context?, head?.entry);
    let from = start(&visit, &context.context)?;
    let Shown { html, next } = show_document(
        &context.context,
        from,
        &About {
            vault: &vault,
            memory: &memory,
            now: visit.now,
            known: HashMap::new(),
            since: None,
            can_change: false,
        },
    );
    let base = link::memory(&vault, &memory, &[]);
    let number = context.version.to_string();
    let here = link::memory(&vault, &memory, &["versions", &number]);
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, version {number}"))
            .in_memory(&vault, &memory, "Timeline")
            .crumb(Crumb::here(format!("version {number}"))),
        newest: head.version,
        number: grouped(context.version),
        made: When::new(context.creation_time, visit.now),
        size: size(context.bytes),
        tokens: grouped(context.estimated_tokens),
        document: html,
        next: next.map(|next| link::with_query(&here, &[("from", Some(&next.to_string()))])),
        slider: Slider::new(&vault, &memory, context.version, head.version),
        head_id: head.context_id.unwrap_or_default(),
        can_write: visit.may_write(),
        can_admin: visit.may_admin(),
        context,
        base,
    })
}

/// `GET …/versions?version=`: redirects the slider to a version.
pub(in crate::dashboard) async fn travel(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Redirect {
    let below: Vec<&str> = match visit.param("version") {
        Some(version) => vec!["versions", version],
        None => vec!["timeline"],
    };
    Redirect::to(&link::memory(&vault, &memory, &below))
}

impl View {
    fn id(&self) -> Id<'_> {
        Id(&self.context.context_id)
    }

    fn is_newest(&self) -> bool {
        self.context.version == self.newest
    }
}
