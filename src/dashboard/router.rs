//! The table of pages.

use super::assets;
use super::pages::{
    actions, blame, diff, edit, events, handoff, items_only, keys, memories, memory, prompt, raw, record,
    records, run, search, service, sign_in, timeline, updates, usage, vaults, version, window,
};
use axum::Router;
use axum::middleware::from_fn;
use axum::response::Redirect;
use axum::routing::{get, post};

/// All pages. `http`, which mounts them, authenticates the visitor and inserts what they need into the extensions of a request.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let home = || async { Redirect::to("/ui/") };
    Router::new()
        .route("/", get(home))
        .route("/ui", get(home))
        .route("/ui/", get(vaults::show))
        .route("/ui/open", get(vaults::open))
        .route("/ui/assets/{name}", get(assets::asset))
        .route("/ui/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/ui/sign-out", post(sign_in::sign_out))
        .route("/ui/keys", get(keys::list).post(keys::create))
        .route("/ui/keys/{key_id}", get(keys::show))
        .route("/ui/keys/{key_id}/rotate", post(keys::rotate))
        .route("/ui/keys/{key_id}/revoke", post(keys::revoke))
        .route("/ui/service", get(service::show))
        .merge(of_vault())
        .merge(of_memory())
}

fn of_vault<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let at = |below: &str| format!("/ui/vaults/{{vault_id}}{below}");
    Router::new()
        .route(&at(""), get(memories::show))
        .route(&at("/open"), get(memories::open))
        .route(&at("/search"), get(search::show))
        .route(&at("/inbox"), get(updates::inbox))
        .route(&at("/usage"), get(usage::show))
        .route(&at("/events"), get(events::show))
        .route(&at("/stream"), get(events::stream))
}

fn of_memory<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let at = |below: &str| format!("/ui/vaults/{{vault_id}}/memories/{{memory_id}}{below}");
    let of_document = Router::new()
        .route(&at(""), get(memory::show))
        .route(&at("/raw"), get(raw::show))
        .route(&at("/timeline"), get(timeline::show))
        .route(&at("/diff"), get(diff::show))
        .route(&at("/blame"), get(blame::show))
        .route(&at("/records"), get(records::show))
        .route(&at("/updates"), get(updates::show))
        .route(&at("/window"), get(window::show))
        .route(&at("/handoff"), get(handoff::show).post(handoff::refresh))
        .route_layer(from_fn(items_only::instead));
    of_document
        .route(&at("/edit"), get(edit::show).post(edit::save))
        .route(&at("/delete"), get(actions::ask_delete).post(actions::delete))
        .route(&at("/versions"), get(version::travel))
        .route(&at("/versions/{ref}"), get(version::show))
        .route(&at("/versions/{ref}/restore"), post(actions::restore))
        .route(&at("/versions/{ref}/redact"), post(actions::redact))
        .route(&at("/records/{record_id}"), get(record::show))
        .route(&at("/updates/{update_id}"), get(run::show))
        .route(&at("/updates/{update_id}/approve"), post(run::approve))
        .route(&at("/updates/{update_id}/reject"), post(run::reject))
        .route(&at("/updates/{update_id}/cancel"), post(run::cancel))
        .route(&at("/prompt"), get(prompt::show))
}
