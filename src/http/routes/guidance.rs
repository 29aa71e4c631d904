//! `GET /v1/guidance`

use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag, Verdict};
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::names::listed;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::pipeline::prompts::GuidancePage;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::response::{IntoResponse, Response};

listed! {
    /// The pages of the guidance.
    pub(crate) GuidancePageName of GuidancePage as "GuidancePage";
}

/// Query parameters of the guidance.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct GuidanceParams {
    /// `managed`: the rules for ids and managed sections, and for agents with tools; `document` without it.
    #[param(value_type = Option<GuidancePageName>, inline)]
    page: GuidancePage,
}

impl FromQuery for GuidanceParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            page: query.name("page")?.unwrap_or_default(),
        })
    }
}

/// Instructions for agents
///
/// For the prompt of an agent that writes the document itself and puts it as a whole: what to keep, in which
/// sections, and how to answer.
#[utoipa::path(
    get,
    path = "/v1/guidance",
    operation_id = "GetGuidance",
    tag = "prompt",
    params(GuidanceParams, ConditionHeaders),
    responses(
        (status = 200, description = "The instructions.", body = String, content_type = "text/markdown; charset=utf-8",
         headers(("ETag" = String, description = "ETag of the text."))),
        (status = 304, description = "The client has it already."),
    )
)]
pub(crate) async fn guidance(
    State(state): State<AppState>,
    Query(params): Query<GuidanceParams>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let text = state.pipeline.guidance(params.page);
    let etag = ETag::of_bytes(text.as_bytes());
    let validators = [(ETAG, etag.header_value())];
    if conditions.for_read(&etag)? == Verdict::NotModified {
        return Ok((StatusCode::NOT_MODIFIED, validators).into_response());
    }
    let content_type = [(CONTENT_TYPE, "text/markdown; charset=utf-8")];
    Ok((validators, content_type, text.to_string()).into_response())
}
