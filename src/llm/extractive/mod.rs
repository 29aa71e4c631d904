//! The built-in updater: rules, no model.
use super::{Answer, Model, ModelError, Request};
use async_trait::async_trait;

/// Answers by rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

#[async_trait]
impl Model for Extractive {
    fn name(&self) -> &str {
        "extractive"
    }

    async fn complete(&self, _request: &Request) -> Result<Answer, ModelError> {
        Ok(Answer::default())
    }
}
