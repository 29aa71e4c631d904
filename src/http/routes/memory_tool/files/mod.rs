//! `/v1/vaults/{vault_id}/memory-tool/files`: the files of the memory tool, for programs, with versions and
//! preconditions.

pub(crate) mod list;
pub(crate) mod put;
pub(crate) mod unlink;

use crate::domain::ids::RootName;
use crate::domain::memory_files::FilePath;
use crate::http::extract::query::{FromQuery, QueryReader};
use crate::http::problem::Problem;
use crate::http::routes::memory_tool::RootParams;
use crate::storage::memories::paths::StoredFile;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Which file a request is about.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileParams {
    /// The tree of files that `/memories` is.
    #[param(value_type = String, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    root: RootName,
    /// Its path, as in `/memories/notes/tea.md`: at most 1,024 bytes and 20 segments.
    #[param(value_type = String, min_length = 11, max_length = 1_024, pattern = "^/memories/[^\\u0000-\\u001f\\\\]+$")]
    path: FilePath,
}

impl FromQuery for FileParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        let RootParams { root } = RootParams::from_query(query)?;
        let text = query.text("path")?.ok_or_else(|| {
            Problem::invalid(
                "path",
                "path must name a file, as in ?path=/memories/notes/tea.md",
            )
        })?;
        let path = FilePath::parse(&text).map_err(|rule| Problem::invalid("path", rule.to_string()))?;
        if path.is_root() {
            return Err(Problem::invalid(
                "path",
                "path must name a file below /memories, not /memories itself",
            ));
        }
        Ok(Self { root, path })
    }
}

/// A file.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MemoryFile)]
pub(crate) struct FileBody {
    /// Its path.
    #[schema(example = "/memories/notes/tea.md")]
    pub(crate) path: String,
    /// The memory that it is.
    pub(crate) memory_id: String,
    /// That memory's newest version.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// Its id: in double quotes the entity tag of the file's text.
    pub(crate) context_id: String,
    /// The size of the text.
    #[schema(minimum = 0)]
    pub(crate) bytes: i32,
    /// When that version was made.
    pub(crate) changed_at: DateTime<Utc>,
}

impl From<StoredFile> for FileBody {
    fn from(file: StoredFile) -> Self {
        Self {
            path: file.path.to_string(),
            memory_id: file.memory_id.to_string(),
            version: file.version,
            context_id: file.context_id.to_string(),
            bytes: file.bytes,
            changed_at: file.changed_at,
        }
    }
}
