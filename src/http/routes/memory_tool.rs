//! Files of Anthropic's memory tool: `/v1/vaults/{vault_id}/memory-tool` runs its commands; `…/files` are the same files for
//! programs, with versions and preconditions.

use crate::domain::access::AccessRole;
use crate::domain::ids::{ActorId, RootName, VaultId};
use crate::domain::memory_files::{self, Command, Edited, FilePath, Refusal, is_edit, new_file, view_file};
use crate::http::extract::body::JsonBody;
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::headers::{ConditionHeaders, Conditions, ETag, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{Path, Query, VaultPath};
use crate::http::middleware::idempotency::AnswerAbout;
use crate::http::problem::Problem;
use crate::http::routes::contexts::put::read_text_or_json;
use crate::http::state::AppState;
use crate::storage::idempotency::KeptAnswer;
use crate::storage::memories::paths::{FileChange, FileEntry, FileTree, FileWrite, StoredFile};
use crate::storage::{Head, WriteError};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::ETAG;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which tree of files a request is about.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RootParams {
    /// The tree of files that `/memories` is: an agent's, a user's, a project's.
    root: RootName,
}

/// What the `tool_result` block says.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct MemoryToolAnswer<'a> {
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
/// answered 200, but for a full quota. A reader may `view`; edits need the role `writer`. Send the id of the `tool_use` block as
/// `Idempotency-Key`, so that a command that is sent again is carried out once.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memory-tool",
    params(RootParams, ActorHeader),
    request_body(
        content = HashMap<String, Value>,
        content_type = "application/json",
        description = "The `input` of a `tool_use` block of the tool `memory` (`memory_20250818`): its `command` and the members that it needs; others are passed over.",
        example = json!({"command": "create", "path": "/memories/preferences.md", "file_text": "Likes tea.\n"})
    ),
    responses(
        (status = 200, description = "The command was executed or, with `is_error`, refused.", body = MemoryToolAnswer),
        (status = 403, description = "The key has the role `reader`, and the command is not `view`."),
    )
)]
pub(crate) async fn run_memory_tool(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    caller: CallerOf,
    params: Result<Query<RootParams>, Problem>,
    actor: Result<Actor, Problem>,
    claim: UnderClaim,
    body: Result<JsonBody<Map<String, Value>>, Problem>,
) -> Result<Response, Problem> {
    // A reader may only send `view`. A body that cannot be parsed is not known to be one.
    let is_view = matches!(&body, Ok(JsonBody(members)) if !is_edit(members));
    if !is_view {
        caller.require(AccessRole::Writer, "files are edited")?;
    }
    let Query(RootParams { root }) = params?;
    let Actor(actor) = actor?;
    let JsonBody(members) = body?;
    let tree = FileTree {
        vault: vault_id,
        root,
    };
    let command = Command::read(&members);
    let replaced = match &command {
        Ok(Command::StrReplace { path, .. }) => Some(path.clone()),
        _ => None,
    };
    let done = match command {
        Ok(command) => carry_out(&state, &tree, &actor, command, claim).await,
        Err(refusal) => Err(refusal.into()),
    };
    match done {
        Ok(change) => {
            let answer = answer(&change);
            Ok(about(change.file.filter(|_| change.unchanged), answer))
        }
        Err(WriteError::Refused(refusal)) => {
            let refused = MemoryToolAnswer {
                content: &refusal.to_string(),
                is_error: true,
                memory_id: None,
                version: None,
            };
            // It quotes what was to be replaced, which may stand in the file.
            let file = match &replaced {
                Some(path) => match state.storage.file_entry(&tree, path).await? {
                    FileEntry::File(file, _) => Some(file),
                    FileEntry::Directory(_) => None,
                },
                None => None,
            };
            Ok(about(file, KeptAnswer::json(StatusCode::OK, &refused)))
        }
        Err(error) => Err(error.into()),
    }
}

/// An answer that quotes a file and is not stored with a change of it is deleted with its memory, also where it is kept for a
/// retry.
fn about(file: Option<StoredFile>, answer: KeptAnswer) -> Response {
    match file {
        Some(file) => (Extension(AnswerAbout(file.memory_id, file.version)), answer).into_response(),
        None => answer.into_response(),
    }
}

/// The response to a command.
fn answer(FileChange { response, file, .. }: &FileChange) -> KeptAnswer {
    let answer = MemoryToolAnswer {
        content: response,
        is_error: false,
        memory_id: file.as_ref().map(|file| file.memory_id.as_str()),
        version: file.as_ref().map(|file| file.version),
    };
    KeptAnswer::json(StatusCode::OK, &answer)
}

async fn carry_out(
    state: &AppState,
    tree: &FileTree,
    actor: &ActorId,
    command: Command,
    claim: UnderClaim,
) -> Result<FileChange, WriteError> {
    let storage = &state.storage;
    let cap = state.settings.config.limits.context_bytes;
    let under = claim.answering(answer);
    let under = under.as_ref();
    let write = |path, if_directory| FileWrite {
        tree,
        path,
        actor,
        if_directory,
    };
    match command {
        Command::View { path, range } => match storage.file_entry(tree, &path).await? {
            FileEntry::File(file, text) => Ok(FileChange {
                response: view_file(&path, &text, range.as_ref())?,
                file: Some(file),
                unchanged: true,
            }),
            FileEntry::Directory(listing) if listing.exists() => Ok(FileChange {
                response: listing.render(),
                file: None,
                unchanged: true,
            }),
            FileEntry::Directory(_) => Err(Refusal::NoSuchPath(path).into()),
        },
        Command::Create { path, text } => {
            let file = memory_files::new_file(&path, &text, cap)?;
            let exists = Refusal::FileExists(path.clone());
            let create = |head: Option<&Head>| match head {
                Some(_) => Err(exists.clone().into()),
                None => Ok(file.clone()),
            };
            storage
                .write_file(write(&path, exists.clone()), under, create)
                .await
        }
        Command::StrReplace { path, old, new } => {
            let edit = |text: &str| memory_files::str_replace(&path, text, (&old, &new), cap);
            let write = write(&path, Refusal::NotAFile(path.clone()));
            storage.write_file(write, under, edit_of(&path, edit)).await
        }
        Command::Insert {
            path,
            line,
            text: new,
        } => {
            let edit = |text: &str| memory_files::insert(&path, text, (line, &new), cap);
            let write = write(&path, Refusal::NotAFile(path.clone()));
            storage.write_file(write, under, edit_of(&path, edit)).await
        }
        Command::Delete { path } => storage.unlink_files(tree, &path, None, under).await,
        Command::Rename { from, to } => storage.rename_files(tree, &from, &to, under).await,
    }
}

/// An edit of the text of a file that exists.
fn edit_of(
    path: &FilePath,
    edit: impl Fn(&str) -> Result<Edited, Refusal>,
) -> impl Fn(Option<&Head>) -> Result<Edited, WriteError> {
    move |head| {
        let head = head.ok_or_else(|| Refusal::NoSuchPath(path.clone()))?;
        Ok(edit(&head.text)?)
    }
}

/// Which file a request is about.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileParams {
    /// The tree of files that `/memories` is.
    root: RootName,
    /// Its path, as in `/memories/notes/tea.md`: at most 1,024 bytes and 20 segments.
    #[param(
        min_length = 11,
        max_length = 1_024,
        pattern = "^/memories/[^\\u0000-\\u001f\\\\]+$"
    )]
    path: String,
}

impl FileParams {
    /// The tree in a vault, and the path of a file in it.
    fn file(self, vault: VaultId) -> Result<(FileTree, FilePath), Problem> {
        let path = FilePath::parse(&self.path).map_err(|rule| Problem::invalid("path", rule.to_string()))?;
        if path.is_root() {
            return Err(Problem::invalid(
                "path",
                "path must name a file below /memories, not /memories itself",
            ));
        }
        let root = self.root;
        Ok((FileTree { vault, root }, path))
    }
}

/// List the memory tool's files
///
/// All files of a root with the newest version of each, by path, without their texts: `GET M/context` has those. A root
/// that never had a file has none.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memory-tool/files",
    params(RootParams, Page),
    responses((status = 200, description = "One page.", body = List<StoredFile>))
)]
pub(crate) async fn list_memory_files(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(RootParams { root }): Query<RootParams>,
    page: Page,
) -> Result<Json<List<StoredFile>>, Problem> {
    let after = page.after::<String>()?;
    let tree = FileTree {
        vault: vault_id,
        root,
    };
    let files = state
        .storage
        .list_files(&tree, after.as_deref(), page.fetch())
        .await?;
    Ok(Json(page.of(files, |file| file.path.to_string(), |file| file)))
}

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
    pub(crate) file: StoredFile,
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
    params(FileParams, ActorHeader, ConditionHeaders),
    request_body(
        description = "The text, or the same as a JSON string: UTF-8, no NUL, at most `limits.context_bytes` (102,400) bytes.",
        content(
            (FileText = "text/plain"),
            (FileText = "application/json"),
        )
    ),
    responses(
        (status = 201, description = "A file, or a new version of one, was made.", body = PutFileBody, headers(("ETag"))),
        (status = 200, description = "The text was this already; nothing was made.", body = PutFileBody, headers(("ETag"))),
        (status = 409, description = "A directory is at this path, or a file at one of its directories."),
    )
)]
pub(crate) async fn put_memory_file(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(params): Query<FileParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    request: Request,
) -> Result<Response, Problem> {
    let (tree, path) = params.file(vault_id)?;
    let text = read_text(&state, request).await?;
    let cap = state.settings.config.limits.context_bytes;
    if text.len() > cap {
        let actual = Some(text.len() as u64);
        return Err(Problem::too_large("body", "limits.context_bytes", cap, actual));
    }
    // The size was checked before; only a NUL can be rejected here.
    let file = new_file(&path, &text, cap).map_err(|rule| Problem::invalid("body", rule.to_string()))?;
    let under = claim.answering(put_answer);
    let preconditions = conditions.for_write();
    let write = FileWrite {
        tree: &tree,
        path: &path,
        actor: &actor,
        if_directory: Refusal::NotAFile(path.clone()),
    };
    let put = |head: Option<&Head>| {
        let newest = head.and_then(|head| head.context_id.as_ref());
        preconditions.check(newest, head.map(|head| head.version))?;
        Ok(file.clone())
    };
    let written = state.storage.write_file(write, under.as_ref(), put).await?;
    let answer = put_answer(&written);
    Ok(about(written.file.filter(|_| written.unchanged), answer))
}

fn put_answer(FileChange { file, unchanged, .. }: &FileChange) -> KeptAnswer {
    let file = file.clone().expect("a file that is written is one");
    let status = if *unchanged {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let etag = ETag::of(&file.context_id);
    let body = PutFileBody {
        file,
        unchanged: *unchanged,
    };
    KeptAnswer::json(status, &body).with(ETAG, etag)
}

async fn read_text(state: &AppState, request: Request) -> Result<String, Problem> {
    let (media_type, text) = read_text_or_json(state, request).await?;
    if media_type != Representation::Json {
        return Ok(text);
    }
    serde_json::from_str(&text).map_err(|error| match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => Problem::invalid("body", "the body must be a JSON string: the file's text"),
        Err(_) => Problem::malformed("body", format!("the body is not JSON: {error}")),
    })
}

/// Take a file out of the memory tool's tree
///
/// Its memory stays with all versions, readable by its id, as after the tool's `delete`. `If-Match` takes out only what
/// the client has seen. A directory is no file: it is gone with the last file below it.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memory-tool/files",
    params(FileParams, ConditionHeaders),
    responses(
        (status = 204, description = "It is out of the tree."),
    )
)]
pub(crate) async fn unlink_memory_file(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(params): Query<FileParams>,
    conditions: Conditions,
) -> Result<StatusCode, Problem> {
    let (tree, path) = params.file(vault_id)?;
    state
        .storage
        .unlink_files(&tree, &path, Some(&conditions.for_write()), None)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
