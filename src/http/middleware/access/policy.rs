//! The role that each route requires. It is one table, so that it can be reviewed at a glance and a new route is
//! closed by default.
//!
//! Reading requires `reader`, proposing `proposer`, writing `writer`. Removing history requires `admin`: a memory's
//! own agent, even under prompt injection, can change the document but not its history. Routes whose role depends on
//! the request (rules among the prompt items) check again themselves.

use crate::domain::access::AccessRole;
use crate::http::openapi::add_problem;
use crate::http::problem::Kind;
use axum::http::Method;
use utoipa::openapi::Components;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};

/// Routes that require no key.
const PUBLIC: [&str; 3] = ["/healthz", "/readyz", "/openapi.yaml"];

/// Methods and routes that require `admin`, as the route table writes them.
const ADMIN: [(Method, &str); 2] = [
    (Method::DELETE, "/v1/vaults/{vault_id}/memories/{memory_id}"),
    (
        Method::POST,
        "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/redact",
    ),
];

/// Methods other than GET that require only `reader`. The route itself requires more if the request changes something.
const READS: [(Method, &str); 2] = [
    (Method::POST, "/mcp"),
    (Method::POST, "/v1/vaults/{vault_id}/memory-tool"),
];

/// What requires `proposer`. With this role the route only makes a proposal.
const PROPOSER: [(Method, &str); 3] = [
    (Method::POST, "/v1/vaults/{vault_id}/memories/{memory_id}/update"),
    (
        Method::POST,
        "/v1/vaults/{vault_id}/memories/{memory_id}/operations",
    ),
    (
        Method::POST,
        "/v1/vaults/{vault_id}/memories/{memory_id}/consolidate",
    ),
];

/// Whether a route requires no key.
pub(crate) fn is_public(route: &str) -> bool {
    PUBLIC.contains(&route)
}

/// Whether a route must answer while the database is unavailable. Expired contents of the key cache are then used.
pub(super) fn is_needed_in_an_outage(route: &str) -> bool {
    route == "/metrics"
}

/// The role that a route requires.
pub(crate) fn role(method: &Method, route: &str) -> AccessRole {
    let keys = route == "/v1/keys" || route.starts_with("/v1/keys/");
    let among = |table: &[(Method, &str)]| table.iter().any(|(verb, path)| verb == method && *path == route);
    if keys || among(&ADMIN) {
        AccessRole::Admin
    } else if matches!(*method, Method::GET | Method::HEAD) || among(&READS) {
        AccessRole::Reader
    } else if PROPOSER
        .iter()
        .any(|(verb, path)| verb == method && *path == route)
    {
        AccessRole::Proposer
    } else {
        AccessRole::Writer
    }
}

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
    if is_public(path) {
        operation.security = Some(Vec::new());
        return;
    }
    let role = role(method, path).name();
    let forbidden = format!("The key has not the role `{role}`, or not this right.");
    add_problem(operation, Kind::Forbidden, &forbidden);
    for kind in [Kind::Malformed, Kind::Unauthorized, Kind::TooManyRequests] {
        add_problem(operation, kind, kind.title());
    }
    if path.contains("{vault_id}") {
        add_problem(operation, Kind::NotFound, Kind::NotFound.title());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::openapi;

    #[test]
    fn every_route_of_the_table_is_one_of_the_service() {
        let document = serde_json::to_value(openapi::document()).unwrap();
        for (method, route) in ADMIN.iter().chain(&READS).chain(&PROPOSER) {
            let method = method.as_str().to_lowercase();
            assert!(document["paths"][route][method].is_object(), "{route}");
        }
        for route in PUBLIC {
            assert!(document["paths"][route].is_object(), "{route}");
        }
    }

    #[test]
    fn reading_writing_and_taking_away_need_more_and_more() {
        let memory = "/v1/vaults/{vault_id}/memories/{memory_id}";
        assert_eq!(role(&Method::GET, memory), AccessRole::Reader);
        assert_eq!(role(&Method::HEAD, memory), AccessRole::Reader);
        assert_eq!(role(&Method::PUT, memory), AccessRole::Writer);
        let below = |below: &str| format!("{memory}/{below}");
        assert_eq!(role(&Method::POST, &below("update")), AccessRole::Proposer);
        assert_eq!(role(&Method::POST, &below("operations")), AccessRole::Proposer);
        let approve = below("updates/{update_id}/approve");
        assert_eq!(role(&Method::POST, &approve), AccessRole::Writer);
        assert_eq!(role(&Method::DELETE, memory), AccessRole::Admin);
        assert_eq!(role(&Method::GET, "/v1/keys"), AccessRole::Admin);
        assert_eq!(role(&Method::GET, "/v1/keys/{key_id}"), AccessRole::Admin);
        assert_eq!(role(&Method::DELETE, "/v1/a/new/route"), AccessRole::Writer);
        assert_eq!(role(&Method::POST, "/mcp"), AccessRole::Reader);
    }
}
