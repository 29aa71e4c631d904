//! Reads a response body up to a limit.

use bytes::Bytes;
use reqwest::Response;

use super::ModelError;
use super::network::network_error;

/// Reads the body in chunks; fails at the first chunk that exceeds `limit` bytes.
pub(super) async fn read_bounded(mut response: Response, limit: usize) -> Result<Vec<u8>, ModelError> {
    let announced = response
        .content_length()
        .map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if announced > limit {
        return Err(ModelError::TooLarge { limit });
    }
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(network_error)? {
        let chunk: Bytes = chunk;
        if chunk.len() > limit - body.len() {
            return Err(ModelError::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
