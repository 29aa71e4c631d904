//! `GET M/archive/history`

use super::{ArchivedBody, page_headers};
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::routes::window::below;
use crate::http::state::AppState;
use crate::storage::window::HistoryKey;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use std::fmt;
use std::str::FromStr;

/// The position of a task in the history.
struct Key(HistoryKey);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self((time, number)) = self;
        write!(f, "{}.{number}", time.timestamp_micros())
    }
}

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (micros, number) = text.split_once('.').ok_or(())?;
        let time = micros
            .parse()
            .ok()
            .and_then(DateTime::from_timestamp_micros)
            .ok_or(())?;
        Ok(Self((time, number.parse().map_err(|_| ())?)))
    }
}

/// Read the history
///
/// The tasks that have left the document in the order of their times, one line a task, as text or, with
/// `Accept: application/json`, as a list. `Link` names the next page of the text.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/archive/history",
    operation_id = "GetHistory",
    tag = "window",
    params(Page),
    responses(
        (status = 200, description = "One page.", headers(
            ("Link" = Option<String>, description = "The next page, `rel=\"next\"`; only if there is one."),
            ("Vary" = String, description = "Accept"),
        ), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (List<ArchivedBody> = "application/json"),
        )),
        (status = 404, description = "There is no such memory."),
        (status = 406, description = "No acceptable representation"),
    )
)]
pub(crate) async fn history(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(page): Query<Page>,
    accept: Accept,
) -> Result<Response, Problem> {
    let offered = [
        Representation::Markdown,
        Representation::Plain,
        Representation::Json,
    ];
    let representation = accept.choose(&offered)?;
    let name = format!("history/{vault_id}/{memory_id}");
    let after = page.after::<Key>(&name)?.map(|Key(key)| key);
    let tasks = state
        .storage
        .history(&vault_id, &memory_id, after, page.fetch())
        .await?;
    if tasks.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    let list: List<ArchivedBody> = page.of(&name, tasks, |(key, _)| Key(*key), |(_, task)| task.into());
    let next = list.next_cursor().map(|cursor| {
        below(
            &vault_id,
            &memory_id,
            &format!("archive/history?{}", page.query(cursor)),
        )
    });
    let headers = page_headers(representation, next)?;
    Ok(match representation {
        Representation::Json => (headers, Json(list)).into_response(),
        _ => {
            let text: String = list
                .items()
                .iter()
                .map(|task| format!("- {}\n", task.line))
                .collect();
            (headers, text).into_response()
        }
    })
}
