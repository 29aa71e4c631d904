//! Reads a response body up to a limit.

use super::ModelError;
use super::network::network_error;
use reqwest::Response;

/// Reads the body of a model's response, which may have `limit` bytes.
pub(super) async fn read_bounded(response: Response, limit: usize) -> Result<Vec<u8>, ModelError> {
    let body = read_at_most(response, limit).await.map_err(network_error)?;
    body.ok_or(ModelError::TooLarge { limit })
}

/// Reads the body of a response in chunks; `None` if it has more than `limit` bytes, of which none is kept.
pub(crate) async fn read_at_most(mut response: Response, limit: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let announced = response.content_length();
    if announced.is_some_and(|bytes| usize::try_from(bytes).is_ok_and(|bytes| bytes > limit)) {
        return Ok(None);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > limit - body.len() {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}
