//! The state of the service: `/healthz`, `/readyz`, `/metrics`, `/openapi.yaml`.

pub(crate) mod healthz;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod readyz;
