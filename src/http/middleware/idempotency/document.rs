//! Adds the idempotency layer to the documentation of a route.

use super::key::{MAX_BYTES, NAME};
use crate::http::problem::Kind;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Required, Response};

/// Adds the header and its error responses to a PUT or POST.
pub(crate) fn document(operation: &mut Operation) {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(MAX_BYTES))
        .pattern(Some("^[!-~]+$"))
        .build();
    let parameter = ParameterBuilder::new()
        .name(NAME)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Makes a retry safe: for 24 hours the same request with the same key is not run again but gets the first \
             answer, with `Idempotency-Replayed: true`, and waits for it if it has still to come. Another request \
             with the key is 422.",
        ))
        .schema(Some(schema))
        .build();
    operation
        .parameters
        .get_or_insert_default()
        .push(RefOr::T(parameter));
    let responses = &mut operation.responses.responses;
    for (status, response) in responses.iter_mut() {
        if let (true, RefOr::T(response)) = (status.starts_with('2'), response) {
            let replayed = HeaderBuilder::new()
                .schema(Some(
                    ObjectBuilder::new()
                        .schema_type(Type::String)
                        .enum_values(Some(["true"])),
                ))
                .description(Some(
                    "There if this is the answer of an earlier request with the same key.",
                ))
                .build();
            response
                .headers
                .insert("Idempotency-Replayed".to_owned(), RefOr::T(replayed));
        }
    }
    let title = Kind::StillRunning.title();
    let status = Kind::StillRunning.status().as_str().to_owned();
    let conflict = responses
        .entry(status)
        .or_insert_with(|| RefOr::T(Response::new("")));
    if let RefOr::T(conflict) = conflict {
        let before = std::mem::take(&mut conflict.description);
        conflict.description = if before.is_empty() {
            format!("{title}.")
        } else {
            format!("{before} Or: {title}.")
        };
    }
}
