//! The table of routes. Documentation is registered with each route, so that neither is without the other.

use super::middleware::{bounds, headers, observe};
use super::problem::{Kind, Problem};
use super::routes::health;
use super::{openapi, state::AppState};
use axum::Router;
use axum::http::Method;
use axum::middleware::{from_fn, from_fn_with_state};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Everything the service answers.
pub fn router(state: AppState) -> Router {
    crate::telemetry::metrics();
    let (router, _) = with_bounds(&state).split_for_parts();
    router
        .fallback(no_such_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn(headers::defaults))
        .layer(from_fn_with_state(state.clone(), observe::observe))
        .with_state(state)
}

/// The documented routes, without the bounds that come from the configuration.
pub(crate) fn api() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(openapi::preamble()).merge(health())
}

fn with_bounds(state: &AppState) -> OpenApiRouter<AppState> {
    health().route_layer(from_fn_with_state(state.settings.request_timeout, bounds::time))
}

/// The state of the service; answered also when it is busy.
fn health() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(health::healthz::healthz))
        .routes(routes!(health::readyz::readyz))
        .routes(routes!(health::metrics::metrics))
        .routes(routes!(health::openapi::openapi))
}

async fn no_such_route() -> Problem {
    Problem::not_found("there is no route with this path")
}

/// The router adds `Allow`.
async fn method_not_allowed(method: Method) -> Problem {
    Problem::new(
        Kind::MethodNotAllowed,
        format!("{method} is not allowed here; Allow names what is"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::http::Settings;
    use crate::http::middleware::observe::X_REQUEST_ID;
    use crate::http::problem::MEDIA_TYPE;
    use axum::body::Body;
    use axum::http::Request;
    use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
    use axum::response::Response;
    use axum::routing::get;
    use std::sync::Arc;
    use std::time::Duration;
    use tower::ServiceExt;

    fn state(settings: Settings) -> AppState {
        AppState::new(Arc::new(SystemClock), settings)
    }

    async fn ask(router: Router, method: &str, path: &str) -> (Response, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("x-request-id", "req-1");
        let response = router
            .oneshot(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        (
            Response::from_parts(parts, Body::empty()),
            String::from_utf8(bytes.into()).unwrap(),
        )
    }

    #[tokio::test]
    async fn an_unknown_route_is_a_problem_with_the_headers_of_every_answer() {
        let (response, body) = ask(router(state(Settings::default())), "GET", "/v2/nothing").await;
        assert_eq!(response.status(), 404);
        let headers = response.headers();
        assert_eq!(headers[CONTENT_TYPE], MEDIA_TYPE);
        assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(headers[CACHE_CONTROL], "no-store");
        assert_eq!(headers[X_REQUEST_ID], "req-1");
        assert!(body.contains("not-found"), "{body}");
    }

    #[tokio::test]
    async fn a_wrong_method_names_the_right_ones() {
        for method in ["POST", "DELETE", "OPTIONS", "TRACE", "MADEUP"] {
            let (response, body) = ask(router(state(Settings::default())), method, "/healthz").await;
            assert_eq!(response.status(), 405, "{method}");
            assert_eq!(response.headers()[ALLOW], "GET,HEAD", "{method}");
            assert!(body.contains("method-not-allowed"), "{body}");
        }
    }

    #[tokio::test]
    async fn the_service_tells_its_state_its_metrics_and_its_document() {
        let router = router(state(Settings::default()));
        assert_eq!(ask(router.clone(), "GET", "/healthz").await.1, "ok\n");
        let (head, body) = ask(router.clone(), "HEAD", "/healthz").await;
        assert_eq!((head.status().as_u16(), body.as_str()), (200, ""));
        assert!(
            ask(router.clone(), "GET", "/openapi.yaml")
                .await
                .1
                .contains("operationId: GetHealth")
        );
        let (_, metrics) = ask(router, "GET", "/metrics").await;
        assert!(
            metrics.contains(r#"http_requests_total{method="GET",route="/healthz",status="200"}"#),
            "{metrics}"
        );
        assert!(
            metrics.contains("http_request_duration_seconds_bucket"),
            "{metrics}"
        );
    }

    /// The layers of [`router`] around handlers that misbehave.
    fn misbehaving(settings: Settings) -> Router {
        let state = state(settings);
        let time = Duration::from_millis(20);
        Router::new()
            .route("/panics", get(|| async { panic!("secret") as &'static str }))
            .route("/hangs", get(std::future::pending::<&'static str>))
            .route_layer(from_fn_with_state(time, bounds::time))
            .route_layer(from_fn_with_state(state.clone(), bounds::concurrency))
            .layer(from_fn(headers::defaults))
            .layer(from_fn_with_state(state.clone(), observe::observe))
            .with_state(state)
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_without_its_message() {
        let (response, body) = ask(misbehaving(Settings::default()), "GET", "/panics").await;
        assert_eq!(response.status(), 500);
        assert!(body.contains("internal") && !body.contains("secret"), "{body}");
    }

    #[tokio::test]
    async fn a_request_that_hangs_is_given_up_and_one_too_many_is_refused_at_once() {
        let router = misbehaving(Settings {
            max_requests: 1,
            ..Settings::default()
        });
        let first = tokio::spawn(ask(router.clone(), "GET", "/hangs"));
        tokio::task::yield_now().await;
        let (second, _) = ask(router, "GET", "/hangs").await;
        assert_eq!(second.status(), 503);
        assert_eq!(second.headers()["retry-after"], "1");
        let (first, body) = first.await.unwrap();
        assert_eq!(first.status(), 503);
        assert!(body.contains("given up"), "{body}");
    }
}
