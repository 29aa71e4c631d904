//! `Idempotency-Key`: a PUT or POST runs once, and every retry with its key receives the same response.
//!
//! A retry is the same request: method, path, query, body, media type sent, actor and preconditions. Another request with
//! the same key is 422. While the first request runs, a retry waits for it, on this or another instance. The first
//! request runs to its end even if its client disconnects. If its process dies, a waiting retry notices that the claim
//! is no longer renewed, and runs itself. The transaction that saves a change also stores the response under the claim,
//! so a change is saved only once and answered alike, whichever process dies.
//!
//! Stored are responses that a retry could not improve: 2xx, and 4xx other than 408, 409, 413 and 429. After those and
//! after 5xx the same request may succeed later, so a retry runs again.

use crate::http::problem::Kind;
use key::{MAX_BYTES, NAME};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Required, Response};

mod fingerprint;
mod key;
mod once;

pub(crate) use key::IDEMPOTENCY_KEY;
pub(crate) use once::AnswerAbout;
pub(super) use once::once;

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
