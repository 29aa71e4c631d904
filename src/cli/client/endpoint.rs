//! The HTTP client of a service, and the timeout of its responses.

use std::time::Duration;
use url::Url;

/// What a request needs to be sent to the service.
pub(super) struct Endpoint {
    pub(super) client: reqwest::Client,
    pub(super) url: Url,
    pub(super) timeout: Duration,
}
