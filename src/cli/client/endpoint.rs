//! Where requests of a service go, and how long each answer may take.

use std::time::Duration;
use url::Url;

/// What a request needs of the service it is sent to.
pub(super) struct Endpoint {
    pub(super) client: reqwest::Client,
    pub(super) url: Url,
    pub(super) timeout: Duration,
}
