//! The router: the table of all routes, each registered together with its documentation, and their middleware and limits.

use crate::dashboard;
use crate::http::Settings;
use crate::http::dashboard::Pages;
use crate::http::extract::params::DOCUMENTED;
use crate::http::middleware::bounds::Weighs;
use crate::http::middleware::{self, Around, RouteKind, layer};
use crate::http::openapi::{self, preamble};
use crate::http::problem::{Kind, Problem};
use crate::http::routes::contexts::{put, views};
use crate::http::routes::{
    contexts, events, handoff, health, items, keys, mcp, memories, memory_tool, operations, prompt, records,
    search, tasks, update, updates, vaults, window,
};
use crate::http::state::AppState;
use axum::Router;
use axum::extract::Extension;
use axum::http::{Method, Uri};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

/// The router of the service.
pub fn router(state: AppState) -> Router {
    crate::telemetry::metrics();
    // Otherwise the first request with a query would wait for it.
    LazyLock::force(&DOCUMENTED);
    let own_routes = own_routes(&state);
    let protocol = protocol().layer(Extension(mcp::Protocol::new(&state, own_routes.clone())));
    let pages = Pages::new(&state, own_routes);
    let Settings {
        request_timeout,
        update_timeout,
        ..
    } = *state.settings;
    let groups = [
        (plain(health()), request_timeout, RouteKind::Free),
        (plain(quick()), request_timeout, RouteKind::Work(Weighs::Work)),
        (
            plain(with_models()),
            update_timeout,
            RouteKind::Work(Weighs::Kept),
        ),
        (plain(protocol), update_timeout, RouteKind::Work(Weighs::Kept)),
        (
            dashboard::router(),
            update_timeout,
            RouteKind::Pages(Box::new(pages)),
        ),
    ];
    let of = |time, kind| layer(around(&state, time, kind), middleware::around);
    let groups = groups.map(|(routes, time, kind)| {
        let routes = routes.method_not_allowed_fallback(method_not_allowed);
        routes.route_layer(of(time, kind))
    });
    let no_such_route = Router::new().fallback(no_such_route);
    let no_such_route = no_such_route.layer(of(request_timeout, RouteKind::Free));
    let router = groups.into_iter().fold(no_such_route, Router::merge);
    router.with_state(state.clone())
}

fn around(state: &AppState, time: Duration, kind: RouteKind) -> Arc<Around> {
    let state = state.clone();
    Arc::new(Around { state, time, kind })
}

/// Routes without their documentation.
fn plain(routes: OpenApiRouter<AppState>) -> Router<AppState> {
    routes.split_for_parts().0
}

/// The routes as tools and pages of the dashboard call them, for a caller who is already authenticated.
fn own_routes(state: &AppState) -> Router {
    let bounded = |time| layer(around(state, time, RouteKind::Own), middleware::around_own);
    plain(quick().merge(health()))
        .route_layer(bounded(state.settings.request_timeout))
        .merge(plain(with_models()).route_layer(bounded(state.settings.update_timeout)))
        .fallback(no_such_route)
        .with_state(state.clone())
}

/// 404, with the route that was probably meant: a typing error in one word, or a slash at the end.
async fn no_such_route(uri: Uri) -> Problem {
    const DETAIL: &str = "there is no route with this path";
    match nearest_route(uri.path()) {
        Some(route) => Problem::not_found(format!("{DETAIL}; did you mean {route}?")).with("nearest", route),
        None => Problem::not_found(format!("{DETAIL}; GET /openapi.yaml lists them")),
    }
}

/// The route whose words differ by few letters from those of a path. It is named with its placeholders: what the path
/// contains is not repeated.
fn nearest_route(path: &str) -> Option<&'static str> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let asked: Vec<String> = segments.map(clipped).collect();
    let distance = |route: &str| {
        let words = route.split('/').skip(1);
        let pairs = words.zip(&asked).filter(|(word, _)| !word.starts_with('{'));
        pairs
            .map(|(word, asked)| strsim::damerau_levenshtein(word, asked))
            .sum::<usize>()
    };
    let same_length = DOCUMENTED
        .keys()
        .filter(|route| route.split('/').count() == asked.len() + 1);
    let nearest = same_length.min_by_key(|route| distance(route))?;
    (distance(nearest) <= FEW_LETTERS).then_some(nearest)
}

/// How many letters of a path may be wrong.
const FEW_LETTERS: usize = 2;

/// The beginning of a segment, which may be long: no word of a route is.
fn clipped(segment: &str) -> String {
    segment.chars().take(40).collect()
}

/// The router adds `Allow`.
async fn method_not_allowed(method: Method) -> Problem {
    Problem::new(
        Kind::MethodNotAllowed,
        format!("{method} is not allowed here; Allow names what is"),
    )
}

/// The documented routes, without the limits that come from the configuration.
pub(super) fn api() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(preamble())
        .merge(health())
        .merge(quick())
        .merge(with_models())
        .merge(protocol())
}

/// The health of the service; also answered under overload.
pub(super) fn health() -> OpenApiRouter<AppState> {
    let health = OpenApiRouter::new()
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
        .routes(routes!(health::get_metrics))
        .routes(routes!(health::get_open_api));
    tagged("health", health)
}

/// Routes that use only the database.
pub(super) fn quick() -> OpenApiRouter<AppState> {
    let keys = OpenApiRouter::new()
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::get_key, keys::revoke_key))
        .routes(routes!(keys::rotate_key));
    let vaults = OpenApiRouter::new()
        .routes(routes!(vaults::list_vaults))
        .routes(routes!(vaults::get_usage))
        .routes(routes!(events::stream_events));
    let memories = OpenApiRouter::new()
        .routes(routes!(memories::list_memories))
        .routes(routes!(memories::get_memory, memories::delete_memory))
        .routes(routes!(memory_tool::run_memory_tool))
        .routes(routes!(
            memory_tool::list_memory_files,
            memory_tool::put_memory_file,
            memory_tool::unlink_memory_file
        ));
    let contexts = OpenApiRouter::new()
        .routes(routes!(put::put_context, contexts::get_latest_context))
        .routes(routes!(contexts::list_contexts))
        .routes(routes!(contexts::get_context))
        .routes(routes!(put::restore_context))
        .routes(routes!(put::redact_context))
        .routes(routes!(views::diff_contexts))
        .routes(routes!(views::get_log))
        .routes(routes!(views::get_blame))
        .routes(routes!(views::list_sections));
    let updates = OpenApiRouter::new()
        .routes(routes!(operations::apply_operations))
        .routes(routes!(vaults::list_vault_updates))
        .routes(routes!(updates::list_updates))
        .routes(routes!(updates::get_update, updates::cancel_update))
        .routes(routes!(updates::approve_update))
        .routes(routes!(updates::reject_update));
    let records = OpenApiRouter::new()
        .routes(routes!(records::list_records))
        .routes(routes!(records::get_record));
    let window = OpenApiRouter::new()
        .routes(routes!(tasks::record_task))
        .routes(routes!(tasks::record_decision))
        .routes(routes!(tasks::set_status))
        .routes(routes!(tasks::import_window))
        .routes(routes!(window::get_window))
        .routes(routes!(window::get_history))
        .routes(routes!(window::get_epics));
    let handoff = OpenApiRouter::new()
        .routes(routes!(handoff::get_handoff))
        .routes(routes!(handoff::get_handoff_status))
        .routes(routes!(handoff::list_handoffs))
        .routes(routes!(handoff::get_handoff_artifact));
    let search = OpenApiRouter::new()
        .routes(routes!(search::search_contexts))
        .routes(routes!(search::search_memory));
    let prompt = OpenApiRouter::new()
        .routes(also_of_vaults(routes!(
            items::list_items,
            items::add_item,
            items::remove_items
        )))
        .routes(also_of_vaults(routes!(
            items::get_item,
            items::put_items,
            items::remove_item
        )))
        .routes(routes!(prompt::get_prompt))
        .routes(routes!(prompt::get_guidance));
    let by_tag = [
        ("keys", keys),
        ("vaults", vaults),
        ("memories", memories),
        ("contexts", contexts),
        ("updates", updates),
        ("records", records),
        ("window", window),
        ("handoff", handoff),
        ("search", search),
        ("prompt", prompt),
    ];
    let tagged = by_tag.map(|(tag, routes)| tagged(tag, routes));
    tagged
        .into_iter()
        .fold(OpenApiRouter::new(), OpenApiRouter::merge)
}

/// Documents all operations of a router under a tag.
fn tagged(tag: &str, mut routes: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    let paths = &mut routes.get_openapi_mut().paths.paths;
    for (_, operation) in paths.values_mut().flat_map(openapi::operations) {
        operation.tags = Some(vec![tag.to_owned()]);
    }
    routes
}

/// Serves the routes for items of a memory for those of a vault as well, under their own operation ids.
fn also_of_vaults(
    (schemas, mut paths, methods): UtoipaMethodRouter<AppState>,
) -> UtoipaMethodRouter<AppState> {
    let mut of_vaults = paths.paths.clone();
    for (_, operation) in of_vaults.values_mut().flat_map(openapi::operations) {
        let of_memory = operation.operation_id.take().unwrap_or_default();
        operation.operation_id = Some(of_memory.replace("item", "vault_item"));
        if let Some(summary) = &mut operation.summary {
            *summary = summary.replace("a memory", "a vault");
        }
    }
    let path = |path: String| path.replace("/memories/{memory_id}", "");
    paths.paths.extend(
        of_vaults
            .into_iter()
            .map(|(of_memory, item)| (path(of_memory), item)),
    );
    (schemas, paths, methods)
}

/// Routes that may call models.
pub(super) fn with_models() -> OpenApiRouter<AppState> {
    let update = OpenApiRouter::new()
        .routes(routes!(update::update_context))
        .routes(routes!(operations::consolidate_memory));
    let handoff = OpenApiRouter::new().routes(routes!(handoff::refresh_handoff));
    tagged("updates", update).merge(tagged("handoff", handoff))
}

/// The Model Context Protocol, whose tools call the routes above.
pub(super) fn protocol() -> OpenApiRouter<AppState> {
    tagged("mcp", OpenApiRouter::new().routes(routes!(mcp::speak_mcp)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, SystemClock};
    use crate::config::Config;
    use crate::http::middleware::standard::X_REQUEST_ID;
    use crate::llm::Models;
    use crate::pipeline::Pipeline;
    use crate::pipeline::prompts::Prompts;
    use crate::storage::{PoolOptions, Storage};
    use axum::body::Body;
    use axum::extract::Request;
    use axum::response::Response;
    use axum::routing::get;
    use tower::ServiceExt;

    /// A state whose database is not used.
    fn state(settings: Settings) -> AppState {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let options = PoolOptions {
            url: "postgres://nobody@127.0.0.1:1/nothing".to_owned(),
            max_connections: 1,
            prepared_statements: false,
            acquire_timeout: Duration::from_millis(20),
            head_cache_bytes: 0,
            gather_puts: false,
        };
        let storage = Storage::connect_lazy(&options, clock.clone()).unwrap();
        let config = Config::default();
        let models = Models::from_config(&config.llm).unwrap();
        let prompts = Prompts::load(None).unwrap();
        let pipeline = Pipeline::new(storage.clone(), (models, None), prompts, clock.clone(), &config);
        AppState::new(storage, pipeline, clock, settings)
    }

    async fn ask(router: Router, path: &str) -> (Response, String) {
        let request = Request::builder()
            .uri(path)
            .header("host", "localhost")
            .header("x-request-id", "req-1");
        let service = middleware::standard::around_routes(router);
        let response = service
            .oneshot(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(Body::new(body), usize::MAX).await.unwrap();
        (
            Response::from_parts(parts, Body::empty()),
            String::from_utf8(bytes.into()).unwrap(),
        )
    }

    /// The layer of [`router`] around handlers that fail, with this time limit.
    fn misbehaving(mut settings: Settings, time: Duration) -> Router {
        settings.config.http.require_keys = Some(false);
        let state = state(settings);
        let work = around(&state, time, RouteKind::Work(Weighs::Work));
        let router = Router::new()
            .route("/panics", get(|| async { panic!("secret") as &'static str }))
            .route("/hangs", get(std::future::pending::<&'static str>))
            .route_layer(layer(work, middleware::around));
        router.with_state(state)
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_without_its_message() {
        let router = misbehaving(Settings::default(), Duration::from_secs(3));
        let (response, body) = ask(router, "/panics").await;
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()[X_REQUEST_ID], "req-1");
        assert!(body.contains("internal") && !body.contains("secret"), "{body}");
    }

    #[tokio::test]
    async fn one_request_too_many_waits_a_second_for_its_turn() {
        let refused_if_first_takes = async |time: Duration| {
            let mut settings = Settings::default();
            settings.config.http.max_requests = 1;
            let router = misbehaving(settings, time);
            let first = tokio::spawn(ask(router.clone(), "/hangs"));
            tokio::task::yield_now().await;
            let (second, body) = ask(router, "/hangs").await;
            assert_eq!(second.status(), 503);
            assert!(second.headers().contains_key("retry-after"), "{body}");
            let (first, given_up) = first.await.unwrap();
            assert_eq!(first.status(), 503);
            assert!(given_up.contains("aborted"), "{given_up}");
            body.contains("http.max_requests")
        };
        assert!(!refused_if_first_takes(Duration::from_millis(20)).await);
        assert!(refused_if_first_takes(Duration::from_secs(3)).await);
    }
}
