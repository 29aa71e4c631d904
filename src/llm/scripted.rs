//! A model with prepared answers, to test the pipeline without a server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::{Answer, ChatMessage, ChatRole, Model, ModelError, Request};
use crate::domain::operation::Role;

/// What the model does in one call.
#[derive(Debug, Clone)]
pub enum Step {
    /// Answers.
    Answer(Answer),
    /// Fails.
    Fail(ModelError),
    /// Answers after a delay.
    Late(Duration, Answer),
    /// Never answers.
    Hang,
}

impl Step {
    /// An answer with this text.
    #[must_use]
    pub fn answer(text: &str) -> Self {
        Self::Answer(Answer {
            text: text.to_owned(),
            ..Answer::default()
        })
    }

    /// An answer with this text, truncated at the token limit.
    #[must_use]
    pub fn cut_off(text: &str) -> Self {
        Self::Answer(Answer {
            text: text.to_owned(),
            stopped_at_limit: true,
            ..Answer::default()
        })
    }
}

type Rule = Box<dyn Fn(&Request) -> Step + Send + Sync>;

/// A model with a script (one step per call) or a rule for every call. It records its requests.
pub struct Scripted {
    name: String,
    steps: Mutex<VecDeque<Step>>,
    rule: Rule,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    /// A model that executes the steps, one per call, and fails after the last one.
    #[must_use]
    pub fn new(name: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        let over = |_: &Request| Step::Fail(ModelError::bad_answer("the script is over"));
        Self {
            steps: Mutex::new(steps.into_iter().collect()),
            ..Self::by_rule(name, over)
        }
    }

    /// A model that decides per request.
    #[must_use]
    pub fn by_rule(name: &str, rule: impl Fn(&Request) -> Step + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            steps: Mutex::default(),
            rule: Box::new(rule),
            asked: Mutex::default(),
        }
    }

    /// All requests so far, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<Request> {
        locked(&self.asked).clone()
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &Request) -> Result<Answer, ModelError> {
        locked(&self.asked).push(request.clone());
        let scripted = locked(&self.steps).pop_front();
        match scripted.unwrap_or_else(|| (self.rule)(request)) {
            Step::Answer(answer) => Ok(answer),
            Step::Fail(error) => Err(error),
            Step::Late(time, answer) => {
                tokio::time::sleep(time).await;
                Ok(answer)
            }
            Step::Hang => std::future::pending().await,
        }
    }
}

/// A minimal request of a role, for tests of models.
#[must_use]
pub fn request(role: Role) -> Request {
    Request {
        role: Some(role),
        system: Arc::from("the instructions"),
        messages: vec![ChatMessage {
            speaker: ChatRole::User,
            text: "the question".to_owned(),
        }],
        schema: None,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
