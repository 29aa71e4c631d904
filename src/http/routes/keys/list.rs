//! `GET /v1/keys`

use super::view::KeyBody;
use crate::domain::ids::KeyId;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::page::{List, Page};
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;

/// List the keys
///
/// By id, those too that were revoked or have expired. A key that is limited to vaults sees those that are limited to
/// some of them.
#[utoipa::path(
    get,
    path = "/v1/keys",
    operation_id = "ListKeys",
    tag = "keys",
    params(Page),
    responses((status = 200, description = "One page.", body = List<KeyBody>))
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    Query(page): Query<Page>,
) -> Result<Json<List<KeyBody>>, Problem> {
    let after = page.after::<KeyId>("keys")?;
    let keys = state
        .storage
        .list_keys(&caller.scope, after.as_ref(), page.fetch())
        .await?;
    let now = state.clock.now();
    Ok(Json(page.of(
        "keys",
        keys,
        |key| key.key_id.clone(),
        |key| KeyBody::of(key, now),
    )))
}
