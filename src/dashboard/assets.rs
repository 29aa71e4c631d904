//! Style, script and icon: files of the source tree, compiled in, served under names with their hashes, so that browsers
//! cache them forever and request them again only when they change.

use super::failure::Failure;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

struct Asset {
    stem: &'static str,
    extension: &'static str,
    media_type: &'static str,
    text: &'static str,
}

const ASSETS: [Asset; 3] = [
    Asset {
        stem: "style",
        extension: "css",
        media_type: "text/css; charset=utf-8",
        text: include_str!("assets/style.css"),
    },
    Asset {
        stem: "script",
        extension: "js",
        media_type: "text/javascript; charset=utf-8",
        text: include_str!("assets/script.js"),
    },
    Asset {
        stem: "icon",
        extension: "svg",
        media_type: "image/svg+xml",
        text: include_str!("assets/icon.svg"),
    },
];

/// The paths of the assets.
static ADDRESSES: LazyLock<[String; ASSETS.len()]> = LazyLock::new(|| {
    ASSETS.map(|asset| {
        let hash = Sha256::digest(asset.text.as_bytes());
        let digits = hex::encode(&hash[..8]);
        format!("/ui/assets/{}-{digits}.{}", asset.stem, asset.extension)
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
pub(super) async fn asset(Path(name): Path<String>) -> Result<impl IntoResponse, Failure> {
    let found = ADDRESSES
        .iter()
        .position(|address| address.ends_with(&format!("/{name}")));
    let asset = found.and_then(|place| ASSETS.get(place)).ok_or_else(|| {
        Failure::with_status(
            StatusCode::NOT_FOUND,
            "There is no such file; it may belong to another version of the service.",
        )
    })?;
    let headers = [
        (CONTENT_TYPE, asset.media_type),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, asset.text))
}
