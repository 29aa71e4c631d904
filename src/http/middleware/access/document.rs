//! Adds the access layer to the documentation of a route.

use super::policy;
use crate::http::problem::Kind;
use axum::http::Method;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, RefOr, Response};

const SCHEME: &str = "key";

/// Adds the security scheme of keys, and returns the requirement of every route that is not public.
pub(crate) fn document(components: &mut Components) -> SecurityRequirement {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("wm_<key_id>_<secret>")
        .description(Some(
            "An API key. A service that has never had one asks for none and answers on loopback only.",
        ))
        .build();
    components.add_security_scheme(SCHEME, SecurityScheme::Http(scheme));
    let scopes: [&str; 0] = [];
    SecurityRequirement::new(SCHEME, scopes)
}

/// Adds the role that is needed and the error responses to a route; a public route is documented as such.
pub(crate) fn document_route(path: &str, method: &Method, operation: &mut Operation) {
    if policy::is_public(path) {
        operation.security = Some(Vec::new());
        return;
    }
    let role = policy::role(method, path).name();
    let mut answers = vec![
        (Kind::Malformed, Kind::Malformed.title().to_owned()),
        (Kind::Unauthorized, Kind::Unauthorized.title().to_owned()),
        (
            Kind::Forbidden,
            format!("The key has not the role `{role}`, or not this right."),
        ),
        (Kind::TooManyRequests, Kind::TooManyRequests.title().to_owned()),
    ];
    if path.contains("{vault_id}") {
        answers.push((Kind::NotFound, Kind::NotFound.title().to_owned()));
    }
    for (kind, description) in answers {
        let status = kind.status().as_str().to_owned();
        let responses = &mut operation.responses.responses;
        responses
            .entry(status)
            .or_insert_with(|| RefOr::T(Response::new(description)));
    }
}
