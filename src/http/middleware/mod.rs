//! What happens to every request, whatever its route. From the outside in: [`observe`] (request id, the one log
//! line, metrics, panics), [`headers`], [`access`] (who may do what, and how often: [`rate`]), [`bounds`] (how many at once), [`idempotency`] (PUT and POST of a vault),
//! [`bounds`] again (for how long).

pub(crate) mod access;
pub(crate) mod bounds;
pub(crate) mod headers;
pub(crate) mod idempotency;
pub(crate) mod observe;
pub(crate) mod rate;
