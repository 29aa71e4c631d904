//! The table of pages; and style, script and icon: files of the source tree, compiled in, served under names with their
//! hashes, so that browsers cache them forever and request them again only when they change.

use crate::dashboard::failure::Failure;
use crate::dashboard::pages::{
    edit, events, handoff, keys, memory, record, run, search, sign_in, updates, vaults, version, views,
};
use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Redirect};
use axum::routing::{get, post};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// All pages. `http`, which mounts them, authenticates the visitor and inserts what they need into the extensions of a request.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let home = || async { Redirect::to("/ui/") };
    Router::new()
        .route("/", get(home))
        .route("/ui", get(home))
        .route("/ui/", get(vaults::vaults))
        .route("/ui/open", get(vaults::open_vault))
        .route("/ui/assets/{name}", get(asset))
        .route("/ui/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/ui/sign-out", post(sign_in::sign_out))
        .route("/ui/search", get(search::everywhere))
        .route("/ui/keys", get(keys::list).post(keys::create))
        .route("/ui/keys/{key_id}", get(keys::show))
        .route("/ui/keys/{key_id}/rotate", post(keys::rotate))
        .route("/ui/keys/{key_id}/revoke", post(keys::revoke))
        .route("/ui/service", get(vaults::service))
        .merge(of_vault())
        .merge(of_memory())
}

fn of_vault<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let at = |below: &str| format!("/ui/vaults/{{vault_id}}{below}");
    Router::new()
        .route(&at(""), get(vaults::memories))
        .route(&at("/open"), get(vaults::open_memory))
        .route(&at("/search"), get(search::show))
        .route(&at("/inbox"), get(updates::inbox))
        .route(&at("/usage"), get(vaults::usage))
        .route(&at("/events"), get(events::show))
        .route(&at("/stream"), get(events::stream))
}

fn of_memory<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let at = |below: &str| format!("/ui/vaults/{{vault_id}}/memories/{{memory_id}}{below}");
    let of_document = Router::new()
        .route(&at(""), get(memory::show))
        .route(&at("/raw"), get(views::raw))
        .route(&at("/timeline"), get(views::timeline))
        .route(&at("/diff"), get(views::diff))
        .route(&at("/blame"), get(views::blame))
        .route(&at("/records"), get(views::records).post(record::add))
        .route(&at("/updates"), get(updates::show))
        .route(&at("/consolidate"), post(updates::consolidate))
        .route(&at("/window"), get(views::window))
        .route(&at("/handoff"), get(handoff::show).post(handoff::refresh))
        .route_layer(from_fn(memory::instead));
    of_document
        .route(&at("/edit"), get(edit::show).post(edit::save))
        .route(&at("/delete"), get(memory::ask_delete).post(memory::delete))
        .route(&at("/versions"), get(version::travel))
        .route(&at("/versions/{ref}"), get(version::show))
        .route(&at("/versions/{ref}/restore"), post(version::restore))
        .route(&at("/versions/{ref}/redact"), post(version::redact))
        .route(&at("/records/{record_id}"), get(record::show))
        .route(&at("/records/{record_id}/correct"), post(record::correct))
        .route(&at("/records/{record_id}/archive"), post(record::archive))
        .route(&at("/updates/{update_id}"), get(run::show))
        .route(&at("/updates/{update_id}/approve"), post(run::approve))
        .route(&at("/updates/{update_id}/reject"), post(run::reject))
        .route(&at("/updates/{update_id}/cancel"), post(run::cancel))
        .route(&at("/prompt"), get(views::prompt))
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The assets: name, extension, media type and text.
const ASSETS: [(&str, &str, &str, &str); 3] = [
    ("style", "css", CSS, include_str!("assets/style.css")),
    ("script", "js", SCRIPT, include_str!("assets/script.js")),
    ("icon", "svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// The paths of the assets.
static ADDRESSES: LazyLock<[String; ASSETS.len()]> = LazyLock::new(|| {
    ASSETS.map(|(name, extension, _, text)| {
        let hash = Sha256::digest(text.as_bytes());
        format!("/ui/assets/{name}-{}.{extension}", hex::encode(&hash[..8]))
    })
});

pub(super) fn style() -> &'static str {
    &ADDRESSES[0]
}

pub(super) fn script() -> &'static str {
    &ADDRESSES[1]
}

pub(super) fn icon() -> &'static str {
    &ADDRESSES[2]
}

/// `GET /ui/assets/{name}`
pub(super) async fn asset(uri: Uri) -> Result<impl IntoResponse, Failure> {
    let mut assets = ADDRESSES.iter().zip(ASSETS);
    let found = assets.find(|(address, _)| address.as_str() == uri.path());
    let (_, (.., media_type, text)) = found.ok_or_else(|| {
        Failure::with_status(
            StatusCode::NOT_FOUND,
            "There is no such file; it may belong to another version of the service.",
        )
    })?;
    let headers = [
        (CONTENT_TYPE, media_type),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, text))
}
