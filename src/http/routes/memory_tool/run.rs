//! `POST /v1/vaults/{vault_id}/memory-tool`

use super::RootParams;
use crate::domain::access::AccessRole;
use crate::domain::ids::ActorId;
use crate::domain::memory_files::{self, Command, Refusal, is_edit, view_file};
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::json::JsonBody;
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::Query;
use crate::http::json_answer::JsonAnswer;
use crate::http::middleware::idempotency::AnswerAbout;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::WriteError;
use crate::storage::memories::paths::{FileChange, FileEntry, FileTree};
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The `input` of a `tool_use` block of the tool `memory` (`memory_20250818`). Which members a command needs stands in
/// their descriptions; others are passed over.
#[derive(utoipa::ToSchema)]
#[schema(as = MemoryToolCommand, example = json!({"command": "create", "path": "/memories/preferences.md", "file_text": "Likes tea.\n"}))]
#[expect(dead_code, reason = "documents what Command::read reads")]
pub(crate) struct CommandBody {
    /// `view`, `create`, `str_replace`, `insert`, `delete` or `rename`.
    #[schema(example = "view")]
    command: String,
    /// For all but `rename`: `/memories` or a path below it.
    #[schema(nullable = false, example = "/memories")]
    path: Option<String>,
    /// For `view` of a file: the first and the last line, counted from 1; -1 as the last means the end.
    view_range: Option<Vec<i64>>,
    /// For `create`: the whole text.
    #[schema(nullable = false)]
    file_text: Option<String>,
    /// For `str_replace`: a text that occurs in the file exactly once.
    #[schema(nullable = false)]
    old_str: Option<String>,
    /// For `str_replace`: the replacement; empty if missing or null.
    new_str: Option<String>,
    /// For `insert`: the line after which to insert; 0 inserts before the first.
    #[schema(nullable = false, minimum = 0)]
    insert_line: Option<i64>,
    /// For `insert`: the lines.
    #[schema(nullable = false)]
    insert_text: Option<String>,
    /// For `rename`: the present path.
    #[schema(nullable = false)]
    old_path: Option<String>,
    /// For `rename`: nothing may exist there.
    #[schema(nullable = false)]
    new_path: Option<String>,
}

/// Any JSON object.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Members(Map<String, Value>);

/// What the `tool_result` block says.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = MemoryToolAnswer)]
pub(crate) struct Answer<'a> {
    /// The text for the model.
    #[schema(example = "File created successfully at: /memories/preferences.md")]
    content: &'a str,
    /// Whether the command was refused; then nothing was changed.
    is_error: bool,
    /// The memory of the file, if the command was about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    memory_id: Option<&'a str>,
    /// The newest version of that memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    version: Option<i64>,
}

/// Run a command of Anthropic's memory tool
///
/// Takes the `input` of a `tool_use` block as the model wrote it and answers with the `content` and `is_error` of the
/// `tool_result`, in the words of the reference implementation. A file is a memory whose document is the file: every
/// edit is a version with its actor, and all other routes read and change the same text. Whatever the object says is
/// answered 200. A reader may `view`; edits need the role `writer`. Send the id of the `tool_use` block as
/// `Idempotency-Key`, so that a command that is sent again is carried out once.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memory-tool",
    operation_id = "RunMemoryTool",
    tag = "memories",
    params(RootParams, ActorHeader),
    request_body(content = CommandBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The command was executed or, with `is_error`, refused.", body = Answer),
        (status = 403, description = "The key has the role `reader`, and the command is not `view`."),
    )
)]
pub(crate) async fn run(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    caller: CallerOf,
    params: Result<Query<RootParams>, Problem>,
    actor: Result<Actor, Problem>,
    claim: UnderClaim,
    body: Result<JsonBody<Members>, Problem>,
) -> Result<Response, Problem> {
    // A reader may only send `view`. A body that cannot be parsed is not known to be one.
    let is_view = matches!(&body, Ok(JsonBody(Members(members))) if !is_edit(members));
    if !is_view {
        caller.require(AccessRole::Writer, "files are edited")?;
    }
    let Query(RootParams { root }) = params?;
    let Actor(actor) = actor?;
    let JsonBody(Members(members)) = body?;
    let tree = FileTree {
        vault: vault_id,
        root,
    };
    let done = match Command::read(&members) {
        Ok(command) => carry_out(&state, &tree, &actor, command, claim).await,
        Err(refusal) => Err(refusal.into()),
    };
    match done {
        Ok(change) => {
            let answer = answer(&change);
            Ok(match change.file {
                Some(file) => (Extension(AnswerAbout(file.memory)), answer).into_response(),
                None => answer.into_response(),
            })
        }
        Err(WriteError::Refused(refusal)) => Ok(JsonAnswer::new(
            StatusCode::OK,
            &Answer {
                content: &refusal.to_string(),
                is_error: true,
                memory_id: None,
                version: None,
            },
        )
        .into_response()),
        Err(error) => Err(error.into()),
    }
}

/// The response to a command.
fn answer(FileChange { response, file }: &FileChange) -> JsonAnswer {
    let answer = Answer {
        content: response,
        is_error: false,
        memory_id: file.as_ref().map(|file| file.memory.as_str()),
        version: file.as_ref().map(|file| file.version),
    };
    JsonAnswer::new(StatusCode::OK, &answer)
}

async fn carry_out(
    state: &AppState,
    tree: &FileTree,
    actor: &ActorId,
    command: Command,
    claim: UnderClaim,
) -> Result<FileChange, WriteError> {
    let storage = &state.storage;
    let cap = state.settings.context_bytes;
    let under = claim.answering(answer);
    let under = under.as_ref();
    match command {
        Command::View { path, range } => match storage.file_entry(tree, &path).await? {
            FileEntry::File(file, text) => Ok(FileChange {
                response: view_file(&path, &text, &range)?,
                file: Some(file),
            }),
            FileEntry::Directory(listing) if listing.exists() => Ok(FileChange {
                response: listing.render(),
                file: None,
            }),
            FileEntry::Directory(_) => Err(Refusal::no_such_path(&path).into()),
        },
        Command::Create { path, text } => {
            let file = memory_files::new_file(&path, &text, cap)?;
            storage.create_file(tree, &path, &file, actor, under).await
        }
        Command::StrReplace { path, old, new } => {
            let edit = |text: &str| memory_files::str_replace(&path, text, (&old, &new), cap);
            storage.edit_file(tree, &path, actor, edit, under).await
        }
        Command::Insert {
            path,
            line,
            text: new,
        } => {
            let edit = |text: &str| memory_files::insert(&path, text, (line, &new), cap);
            storage.edit_file(tree, &path, actor, edit, under).await
        }
        Command::Delete { path } => storage.unlink_files(tree, &path, under).await,
        Command::Rename { from, to } => storage.rename_files(tree, &from, &to, under).await,
    }
}
