//! Files of Anthropic's memory tool: `/v1/vaults/{vault_id}/memory-tool`.

pub(crate) mod files;
pub(crate) mod run;

use crate::domain::ids::RootName;
use crate::http::extract::query::{FromQuery, QueryReader};
use crate::http::openapi::ID_PATTERN;
use crate::http::problem::Problem;

/// Which tree of files a request is about.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RootParams {
    /// The tree of files that `/memories` is: an agent's, a user's, a project's.
    #[param(value_type = String, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$")]
    root: RootName,
}

impl FromQuery for RootParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        let root = query.parse("root")?.ok_or_else(|| {
            Problem::invalid(
                "root",
                format!("root must name the tree of files, as in ?root=agent-1 ({ID_PATTERN})"),
            )
        })?;
        Ok(Self { root })
    }
}
