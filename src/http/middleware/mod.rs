//! What happens to every request, whatever its route. From the outside in: [`observe`] (request id, the one log
//! line, metrics, panics), [`headers`], [`bounds`] (how many at once, for how long).

pub(crate) mod bounds;
pub(crate) mod headers;
pub(crate) mod observe;
