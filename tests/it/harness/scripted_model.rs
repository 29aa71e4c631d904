//! A model with prepared answers, to test the pipeline without a model server.

use async_trait::async_trait;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use working_memory::llm::{Answer, Model, ModelError, Request};

/// What the model does in one call.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Answers.
    Answer(Answer),
    /// Fails.
    Fail(ModelError),
    /// Answers after a delay.
    Late(Duration, Answer),
}

impl Step {
    /// An answer with this text.
    pub(crate) fn answer(text: &str) -> Self {
        Self::Answer(Answer {
            text: text.to_owned(),
            ..Answer::default()
        })
    }
}

type Rule = Box<dyn Fn(&Request) -> Step + Send + Sync>;

/// A model with a script (one step per call) or a rule for every call. It records its requests.
pub(crate) struct Scripted {
    name: String,
    steps: Mutex<VecDeque<Step>>,
    rule: Rule,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    /// A model that executes the steps, one per call, and fails after the last one.
    pub(crate) fn new(name: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        let over = |_: &Request| {
            let detail = "the script is over".to_owned();
            Step::Fail(ModelError::BadAnswer { detail })
        };
        Self {
            steps: Mutex::new(steps.into_iter().collect()),
            ..Self::by_rule(name, over)
        }
    }

    /// A model that decides per request.
    pub(crate) fn by_rule(name: &str, rule: impl Fn(&Request) -> Step + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            steps: Mutex::default(),
            rule: Box::new(rule),
            asked: Mutex::default(),
        }
    }

    /// All requests so far, in order.
    pub(crate) fn asked(&self) -> Vec<Request> {
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
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
