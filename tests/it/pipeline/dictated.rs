//! Models that return what the task of the request says, so that a test chooses the model responses with each update, also
//! when many updates run concurrently.

use crate::harness::{Memory, Scripted, Service, Step, task_of};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use working_memory::domain::operation::Role;
use working_memory::llm::{Answer, Model, ModelError, Models, Request, Retry, RoleModel};

pub(crate) const PROGRESS: &str =
    "CURRENT_PROGRESS:\n  Completed:\n    - Wrote the parser\n  In Progress:\n    - Wire it\n";
pub(crate) const LEARNING: &str = "KEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n";
pub(crate) const VERBATIM: &str =
    "VERBATIM_CONTEXT:\n  ADD:\n    - because next: run =>\n        cargo test\n";

/// Progress with this bullet in progress.
pub(crate) fn progress(bullet: &str) -> String {
    format!("CURRENT_PROGRESS:\n  In Progress:\n    - {bullet}\n")
}

/// A learning.
pub(crate) fn learning(content: &str) -> String {
    format!("KEY_LEARNINGS:\n  ADD:\n    - because it is certain: {content}\n")
}

/// The body of an update with these model responses: for each role a text, or a list of texts, one for each retry. A role that
/// is not named responds that nothing changed.
pub(crate) fn dictate(answers: Value) -> Value {
    json!({ "task": answers.to_string(), "messages": [{ "role": "user", "content": "go on" }] })
}

/// The requests to the three models.
pub(crate) struct Dictated([Arc<Scripted>; 3]);

impl Dictated {
    pub(crate) fn new() -> Self {
        Self(Role::ALL.map(|role| Arc::new(Scripted::by_rule(role.name(), dictated))))
    }

    pub(crate) fn models(&self) -> Models {
        Models::new(|role| RoleModel::new(self.0[role as usize].clone(), patience()))
    }

    /// A service with these models and the default configuration.
    pub(crate) async fn service(&self) -> Service {
        Service::with_models(self.models()).await
    }

    /// Every request to a role so far.
    pub(crate) fn asked(&self, role: Role) -> Vec<Request> {
        self.0[role as usize].asked()
    }
}

fn patience() -> Retry {
    Retry::new(Duration::from_secs(20), 0)
}

fn dictated(request: &Request) -> Step {
    let role = request.role.unwrap();
    let answers: Value = serde_json::from_str(&task_of(request)).unwrap_or_default();
    let round = (request.messages.len() - 1) / 2;
    let text = match &answers[role.name()] {
        Value::String(text) => text.clone(),
        Value::Array(texts) => texts[round.min(texts.len() - 1)].as_str().unwrap().to_owned(),
        _ => format!("{}: NO CHANGE", role.header()),
    };
    if answers["fails"] == role.name() {
        return Step::Fail(ModelError::BadAnswer {
            detail: "not JSON".to_owned(),
        });
    }
    let answer = Answer {
        text,
        stopped_at_limit: round == 0 && answers["cut_off"] == role.name(),
        input_tokens: Some(100),
        output_tokens: Some(10),
        ..Answer::default()
    };
    match answers["millis"].as_u64() {
        Some(millis) => Step::Late(Duration::from_millis(millis), answer),
        None => Step::Answer(answer),
    }
}

/// Blocks models until the test has finished its concurrent changes.
pub(crate) struct Gate {
    asked: Semaphore,
    open: Semaphore,
}

impl Gate {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            asked: Semaphore::new(0),
            open: Semaphore::new(0),
        })
    }

    /// A service with these models.
    pub(crate) async fn service(role: Role) -> (Arc<Self>, Service) {
        let gate = Self::new();
        let service = Service::with_models(gate.before(role)).await;
        (gate, service)
    }

    /// The same, with the memory `agent` of the service.
    pub(crate) async fn agent(role: Role) -> (Arc<Self>, Service, Memory) {
        let (gate, service) = Self::service(role).await;
        let memory = service.memory("agent");
        (gate, service, memory)
    }

    /// Models that respond as the task says, those of `role` each time only after the gate was opened.
    pub(crate) fn before(self: &Arc<Self>, role: Role) -> Models {
        Models::new(|of| {
            let inner = Scripted::by_rule(of.name(), dictated);
            let gate = (of == role).then(|| self.clone());
            RoleModel::new(Arc::new(Gated { inner, gate }), patience())
        })
    }

    /// Waits until the model was called once more.
    pub(crate) async fn asked(&self) {
        self.asked.acquire().await.unwrap().forget();
    }

    /// Lets the model respond once.
    pub(crate) fn open(&self) {
        self.open.add_permits(1);
    }
}

struct Gated {
    inner: Scripted,
    gate: Option<Arc<Gate>>,
}

#[async_trait]
impl Model for Gated {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(&self, request: &Request) -> Result<Answer, ModelError> {
        if let Some(gate) = &self.gate {
            gate.asked.add_permits(1);
            gate.open.acquire().await.unwrap().forget();
        }
        self.inner.complete(request).await
    }
}
