//! The update pipeline over HTTP with a real database: the guarantees of each step, with scripted models where the memory is
//! checked, and with a model server where the model calls are checked.

mod asked_again;
mod constrained;
mod deleted;
pub(crate) mod dictated;
mod evidence;
mod failing_models;
mod finished_by_hand;
mod kept_once;
mod limits;
mod many;
mod masked;
mod merged;
mod options;
mod outcomes;
mod payload;
mod recorded;
mod stored;
mod strong;
pub(crate) mod stub;
mod whole;
