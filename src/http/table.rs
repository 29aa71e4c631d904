//! The route table. Each route is registered together with its documentation.

use super::openapi::{self, preamble::preamble};
use super::routes::{
    archive, blame, consolidate, contexts, decisions, events, guidance, handoff, health, items, keys, log,
    mcp, memories, memory_tool, operations, prompt, records, search, sections, status, tasks, update,
    updates, vaults, window,
};
use super::state::AppState;
use axum::extract::Extension;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

/// The documented routes, without the limits that come from the configuration. One of them returns the OpenAPI
/// document, which is generated from this table.
pub(super) fn api(document: fn() -> String) -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(preamble())
        .merge(health(document))
        .merge(quick())
        .merge(with_models())
        .merge(protocol())
}

/// The health of the service; also answered under overload.
pub(super) fn health(document: fn() -> String) -> OpenApiRouter<AppState> {
    let openapi = OpenApiRouter::new().routes(routes!(health::openapi));
    OpenApiRouter::new()
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .merge(openapi.layer(Extension(health::Document(document))))
}

/// Routes that use only the database.
pub(super) fn quick() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(vaults::list::list))
        .routes(routes!(keys::held::list, keys::create::create))
        .routes(routes!(keys::held::get, keys::held::revoke))
        .routes(routes!(keys::held::rotate))
        .routes(routes!(vaults::usage::usage))
        .routes(routes!(vaults::updates::list))
        .routes(routes!(memories::list::list))
        .routes(routes!(memories::get::get, memories::delete::delete))
        .routes(routes!(memory_tool::run::run))
        .routes(routes!(
            memory_tool::files::list::list,
            memory_tool::files::put::put,
            memory_tool::files::unlink::unlink
        ))
        .routes(routes!(contexts::put::put, contexts::read::latest))
        .routes(routes!(contexts::read::list))
        .routes(routes!(contexts::read::get))
        .routes(routes!(contexts::older::restore))
        .routes(routes!(contexts::older::redact))
        .routes(routes!(contexts::diff::diff))
        .routes(routes!(log::log))
        .routes(routes!(blame::blame))
        .routes(routes!(sections::sections))
        .routes(routes!(operations::operations))
        .routes(routes!(consolidate::consolidate))
        .routes(routes!(records::list::list))
        .routes(routes!(records::get::get))
        .routes(routes!(tasks::record))
        .routes(routes!(decisions::record))
        .routes(routes!(status::set))
        .routes(routes!(window::get::get))
        .routes(routes!(window::import::import))
        .routes(routes!(archive::history::history))
        .routes(routes!(archive::epics::epics))
        .routes(routes!(handoff::read::get))
        .routes(routes!(handoff::read::status))
        .routes(routes!(handoff::read::list))
        .routes(routes!(handoff::read::artifact))
        .routes(routes!(search::search))
        .routes(routes!(search::search_memory))
        .routes(also_of_vaults(routes!(
            items::list,
            items::add,
            items::remove_category
        )))
        .routes(also_of_vaults(routes!(items::get, items::replace, items::remove)))
        .routes(routes!(prompt::prompt))
        .routes(routes!(guidance::guidance))
        .routes(routes!(updates::runs::list))
        .routes(routes!(updates::runs::get, updates::runs::cancel))
        .routes(routes!(updates::review::approve))
        .routes(routes!(updates::review::reject))
        .routes(routes!(events::events))
}

/// Serves the routes for items of a memory for those of a vault as well, under their own operation ids.
fn also_of_vaults(
    (schemas, mut paths, methods): UtoipaMethodRouter<AppState>,
) -> UtoipaMethodRouter<AppState> {
    let mut of_vaults = paths.paths.clone();
    for (_, operation) in of_vaults.values_mut().flat_map(openapi::operations) {
        let of_memory = operation.operation_id.take().unwrap_or_default();
        operation.operation_id = Some(of_memory.replace("Item", "VaultItem"));
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
    OpenApiRouter::new()
        .routes(routes!(update::update))
        .routes(routes!(handoff::refresh::refresh))
}

/// The Model Context Protocol, whose tools call the routes above.
pub(super) fn protocol() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(mcp::mcp))
}
