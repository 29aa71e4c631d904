//! `PUT /v1/vaults/{vault_id}/memory-tool/files`

use super::{FileBody, FileParams};
use crate::domain::memory_files::new_file;
use crate::http::extract::caller::{Actor, ActorHeader, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag};
use crate::http::extract::media_type::MediaType;
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::Query;
use crate::http::json_answer::JsonAnswer;
use crate::http::middleware::idempotency::AnswerAbout;
use crate::http::problem::Problem;
use crate::http::routes::contexts::put::read_text_or_json;
use crate::http::state::AppState;
use crate::storage::memories::paths::{FileTree, WrittenFile};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::ETAG;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// The text of a file, which may be empty.
#[derive(utoipa::ToSchema)]
#[schema(as = MemoryFileText, pattern = r"^[^\u0000]*$")]
#[expect(dead_code, reason = "documents the request body")]
pub(crate) struct FileText(String);

/// What a put came to.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = PutFileAnswer)]
pub(crate) struct PutFileBody {
    /// The file as it is now.
    #[serde(flatten)]
    pub(crate) file: FileBody,
    /// Whether its text was this already, so that no version was made.
    pub(crate) unchanged: bool,
}

/// Put a file of the memory tool
///
/// Makes the file, or a new version of it with this text, byte for byte. `If-None-Match: *` makes only a file that is not
/// there; `If-Match` with the file's entity tag (its `context_id` in double quotes) changes only what the client has seen.
/// A file alone may be empty or blank.
#[utoipa::path(
    put,
    path = "/v1/vaults/{vault_id}/memory-tool/files",
    operation_id = "PutMemoryFile",
    tag = "memories",
    params(FileParams, ActorHeader, ConditionHeaders),
    request_body(
        description = "The text, or the same as a JSON string: UTF-8, no NUL, at most `limits.context_bytes` (102,400) bytes.",
        content(
            (FileText = "text/plain"),
            (FileText = "application/json"),
        )
    ),
    responses(
        (status = 201, description = "A file, or a new version of one, was made.", body = PutFileBody, headers(
            ("ETag" = String, description = "ETag of the file's text."),
        )),
        (status = 200, description = "The text was this already; nothing was made.", body = PutFileBody, headers(
            ("ETag" = String, description = "ETag of the file's text."),
        )),
        (status = 409, description = "A directory is at this path, or a file at one of its directories."),
    )
)]
pub(crate) async fn put(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    Query(FileParams { root, path }): Query<FileParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let text = read_text(&state, &parts.headers, body).await?;
    let cap = state.settings.context_bytes;
    if text.len() > cap {
        let actual = Some(text.len() as u64);
        return Err(Problem::too_large("body", "limits.context_bytes", cap, actual));
    }
    // The size was checked before; only a NUL can be rejected here.
    let file = new_file(&path, &text, cap).map_err(|rule| Problem::invalid("body", rule.to_string()))?;
    let tree = FileTree {
        vault: vault_id,
        root,
    };
    let under = claim.answering(answer);
    let written = state
        .storage
        .put_file(
            &tree,
            &path,
            &file,
            &actor,
            &conditions.for_write(),
            under.as_ref(),
        )
        .await?;
    let about = Extension(AnswerAbout(written.file.memory_id.clone()));
    Ok((about, answer(&written)).into_response())
}

fn answer(WrittenFile { file, unchanged }: &WrittenFile) -> JsonAnswer {
    let status = if *unchanged {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let body = PutFileBody {
        file: file.clone().into(),
        unchanged: *unchanged,
    };
    JsonAnswer::new(status, &body).with(ETAG, ETag::of(&file.context_id).header_value())
}

async fn read_text(state: &AppState, headers: &HeaderMap, body: Body) -> Result<String, Problem> {
    let (media_type, text) = read_text_or_json(state, headers, body).await?;
    if media_type != MediaType::Json {
        return Ok(text);
    }
    serde_json::from_str(&text).map_err(|error| match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => Problem::invalid("body", "the body must be a JSON string: the file's text"),
        Err(_) => Problem::malformed("body", format!("the body is not JSON: {error}")),
    })
}
