//! Client of the OpenAI embeddings API and compatible servers.
//!
//! Responses are parsed strictly: one vector per text, with finite numbers and equal lengths. If a response
//! is invalid, the batch is retried and then split into halves, so that a text that the model cannot process
//! does not affect others. The server is unavailable only if it fails at a text that every model can embed.

use super::endpoint::{Client, Endpoint, SetUpError, below};
use super::openai::told_tokens;
use super::{ModelError, Retry, endpoint};
use crate::config::embeddings::{EmbeddingsConfig, MAX_DIMENSIONS};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Texts in one request: what every server of this API accepts as it is installed.
const BATCH_SIZE: usize = 32;

/// Of one attempt while memories are indexed: a large batch on a slow server.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What fails is queued, and tried again later.
const MAX_RETRIES: u32 = 2;

/// A person waits for a search: after this it uses words only.
pub const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// Response size limit: bytes per number, and additional bytes.
const BYTES_PER_NUMBER: usize = 32;
const MORE_BYTES: usize = 64 << 10;

/// Why embedding failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The server did not respond, or the response was invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The vectors have another length than before: a different model has the same name now.
    #[error("the model answers {found} dimensions instead of {expected}")]
    Dimensions {
        /// The expected length.
        expected: usize,
        /// The actual length.
        found: usize,
    },
}

/// The requested model.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddingModel<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// The expected length of its vectors; `None` if it is not known yet.
    pub dimensions: Option<usize>,
}

/// The result of embedding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddingResult {
    /// A vector for each text, in order; `None` for a text that the model cannot process.
    pub vectors: Vec<Option<Vec<f32>>>,
    /// Number of input tokens, if the server reports it.
    pub input_tokens: u64,
    /// Number of requests.
    pub calls: u64,
    /// Duration in milliseconds.
    pub millis: u64,
}

/// A client of an embeddings server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Embedder {
    endpoint: Arc<Endpoint>,
    config: Arc<EmbeddingsConfig>,
    retry: Retry,
    batch_size: usize,
}

impl Embedder {
    /// Creates a client of the configured server; `None` if no server is configured.
    ///
    /// # Errors
    ///
    /// `https` is required and the machine has no certificates.
    pub fn from_config(config: &EmbeddingsConfig) -> Result<Option<Self>, SetUpError> {
        let Some(base_url) = &config.base_url else {
            return Ok(None);
        };
        let client = Client::new(base_url.scheme() == "https")?;
        let url = below(base_url, &["embeddings"]);
        let numbers = BATCH_SIZE * MAX_DIMENSIONS as usize;
        let most = numbers * BYTES_PER_NUMBER + MORE_BYTES;
        let endpoint =
            Endpoint::new(client, url, most).with_key("authorization", "Bearer ", config.api_key.clone());
        Ok(Some(Self {
            endpoint: Arc::new(endpoint),
            retry: Retry::new(TIMEOUT, MAX_RETRIES),
            batch_size: BATCH_SIZE,
            config: Arc::new(config.clone()),
        }))
    }

    /// The configuration it was created with.
    #[must_use]
    pub fn config(&self) -> &EmbeddingsConfig {
        &self.config
    }

    /// Embeds texts in as many batches as needed. A text that the model rejects on its own gets no vector. If the server is
    /// unavailable or overloaded, or the model has changed, that comes with the vectors of the texts before.
    pub async fn embed(
        &self,
        wanted: EmbeddingModel<'_>,
        texts: &[&str],
    ) -> (EmbeddingResult, Result<(), EmbedError>) {
        let begun = Instant::now();
        let mut all = EmbeddingResult::default();
        let mut end = Ok(());
        for batch in texts.chunks(self.batch_size) {
            end = self.embed_batch(wanted, batch, &mut all).await;
            if end.is_err() {
                break;
            }
        }
        all.millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        (all, end)
    }

    /// Embeds one text for an interactive request: a single attempt with the timeout `time`.
    ///
    /// # Errors
    /// The server is unavailable or overloaded, the model has changed, or it cannot process the text.
    pub async fn embed_once(
        &self,
        wanted: EmbeddingModel<'_>,
        text: &str,
        time: Duration,
    ) -> Result<(Vec<f32>, u64), EmbedError> {
        let (mut vectors, tokens) = self.attempt(wanted, &[text], time).await?;
        let vector = vectors.pop().ok_or_else(|| ModelError::bad_answer("no vector"))?;
        Ok((vector, tokens))
    }

    /// The vector of a text that every model can embed.
    ///
    /// # Errors
    /// As for [`Self::embed`].
    pub async fn probe(&self, wanted: EmbeddingModel<'_>) -> Result<Vec<f32>, EmbedError> {
        let text = format!("{}dimensions", self.config.document_prefix);
        let (vector, _) = self.embed_once(wanted, &text, self.retry.timeout).await?;
        Ok(vector)
    }

    /// Embeds a batch. If that fails and the server answers others, its halves are asked for, at last each text once more: the
    /// texts before and after one that the server fails at are unaffected, whatever it says of that one.
    async fn embed_batch(
        &self,
        wanted: EmbeddingModel<'_>,
        batch: &[&str],
        all: &mut EmbeddingResult,
    ) -> Result<(), EmbedError> {
        let mut parts = vec![(batch, false)];
        while let Some((part, is_again)) = parts.pop() {
            let answer = if is_again {
                all.calls += 1;
                self.attempt(wanted, part, self.retry.timeout).await
            } else {
                self.ask(wanted, part, &mut all.calls).await
            };
            match answer {
                Ok((vectors, tokens)) => {
                    all.vectors.extend(vectors.into_iter().map(Some));
                    all.input_tokens = all.input_tokens.saturating_add(tokens);
                }
                // Too many requests: also of other texts.
                Err(error @ EmbedError::Model(ModelError::Status { code: 429, .. })) => return Err(error),
                Err(_) => {
                    all.calls += 1;
                    self.probe(wanted).await?;
                    match part {
                        [_] if is_again => all.vectors.push(None),
                        _ => {
                            let halves = part.chunks(part.len().div_ceil(2)).rev();
                            parts.extend(halves.map(|half| (half, true)));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Retries until there is a response, a permanent failure, or the retry policy is exhausted.
    async fn ask(
        &self,
        wanted: EmbeddingModel<'_>,
        texts: &[&str],
        calls: &mut u64,
    ) -> Result<(Vec<Vec<f32>>, u64), EmbedError> {
        let attempt = |_| async move {
            match self.attempt(wanted, texts, self.retry.timeout).await {
                Err(EmbedError::Model(error)) => Err(error),
                other => Ok(other),
            }
        };
        let (result, attempts) = self.retry.run(attempt).await;
        *calls += u64::from(attempts);
        result?
    }

    async fn attempt(
        &self,
        wanted: EmbeddingModel<'_>,
        texts: &[&str],
        time: Duration,
    ) -> Result<(Vec<Vec<f32>>, u64), EmbedError> {
        let mut body = json!({"model": wanted.model, "input": texts});
        if let Some(dimensions) = self.config.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let answer = endpoint::within(time, self.endpoint.post(&body)).await?;
        if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
            return Err(self.endpoint.error_object(error).into());
        }
        let vectors = read_vectors(&answer, texts.len())?;
        let found = vectors.first().map_or(0, Vec::len);
        match wanted.dimensions {
            Some(expected) if expected != found => Err(EmbedError::Dimensions { expected, found }),
            _ => Ok((vectors, tokens_of(&answer))),
        }
    }
}

impl EmbedError {
    /// Whether the failure may have been caused by the texts, so that other texts may succeed.
    #[must_use]
    pub fn is_of_the_texts(&self) -> bool {
        match self {
            Self::Model(ModelError::BadAnswer { .. } | ModelError::TooLarge { .. }) => true,
            Self::Model(ModelError::Status { code, .. }) => matches!(code, 400 | 413 | 422),
            Self::Model(ModelError::TimedOut { .. } | ModelError::Unreachable { .. })
            | Self::Dimensions { .. } => false,
        }
    }
}

/// Servers use different names for the token count.
fn tokens_of(answer: &Value) -> u64 {
    let usage = &answer["usage"];
    let told = |name: &str| told_tokens(usage[name].as_u64());
    let tokens = told("prompt_tokens").or_else(|| told("total_tokens"));
    tokens.unwrap_or(0)
}

/// Returns the vectors in the order of their texts.
fn read_vectors(answer: &Value, count: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let Some(data) = answer.get("data").and_then(Value::as_array) else {
        return Err(ModelError::bad_answer("no data"));
    };
    if data.len() != count {
        let detail = format!("{} vectors for {count} texts", data.len());
        return Err(ModelError::bad_answer(detail));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (place, item) in data.iter().enumerate() {
        let index = item
            .get("index")
            .and_then(Value::as_u64)
            .map_or(place, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let vector = read_vector(&item["embedding"])?;
        match vectors.get_mut(index) {
            Some(empty @ None) => *empty = Some(vector),
            _ => return Err(ModelError::bad_answer("an index twice or out of range")),
        }
    }
    let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
    match vectors.windows(2).all(|pair| pair[0].len() == pair[1].len()) {
        true => Ok(vectors),
        false => Err(ModelError::bad_answer("vectors of different lengths")),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "vectors are of single precision")]
fn read_vector(value: &Value) -> Result<Vec<f32>, ModelError> {
    let numbers = value
        .as_array()
        .filter(|numbers| {
            !numbers.is_empty() && numbers.len() <= crate::config::embeddings::MAX_DIMENSIONS as usize
        })
        .ok_or_else(|| ModelError::bad_answer("an embedding that is not a list of 1 to 8192 numbers"))?;
    let vector: Option<Vec<f32>> = numbers
        .iter()
        .map(|number| {
            number
                .as_f64()
                .map(|number| number as f32)
                .filter(|number| number.is_finite())
        })
        .collect();
    vector
        .filter(|vector| vector.iter().any(|number| *number != 0.0))
        .ok_or_else(|| {
            ModelError::bad_answer("a vector that is not of finite numbers, or of nothing but zeros")
        })
}

#[cfg(test)]
mod tests;
