//! Requests to the pipeline. The route has already validated their values. What was asked for is stored with the run in
//! the form in which these types serialize it; a queued request is read from there again.

use super::report::UpdateAnswer;
use super::steps::Step;
use crate::domain::dsl::requests::OperationRequest;
use crate::domain::evidence::Strictness;
use crate::domain::ids::{ActorId, KeyId, MemoryId, UpdateId, VaultId};
use crate::domain::listed;
use crate::domain::operation::Role;
use crate::domain::window::SessionRecord;
use crate::fair::Party;
use crate::llm::ConversationMessage;
use crate::storage::Preconditions;
use crate::storage::idempotency::Answering;
use crate::storage::updates::RunKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use strum::{EnumDiscriminants, EnumString, IntoStaticStr, VariantNames};
use tokio::sync::mpsc::UnboundedSender;

/// What to do with items that are still faulty after the repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum OnInvalid {
    /// Drop and report them, apply the rest.
    #[default]
    Drop,
    /// Save nothing; store the run so that a person can finish it.
    Fail,
}

listed! {
    /// What to do about items that stay faulty: drop them and apply the rest, or save nothing.
    OnInvalid as "OnInvalid";
}

/// What to do with the operations.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "mode", rename_all = "snake_case")]
#[strum_discriminants(
    name(ModeKind),
    doc = "What becomes of the operations, without by whom.",
    derive(EnumString, IntoStaticStr, VariantNames),
    strum(serialize_all = "snake_case")
)]
pub enum Mode {
    /// Save them.
    #[default]
    Apply,
    /// Store them until somebody approves them.
    Propose {
        /// The key that makes the proposal, which must not approve it; `None` if the service requires no keys.
        #[serde(rename = "key_id")]
        key: Option<KeyId>,
    },
}

listed! {
    /// What becomes of the operations: they are saved, or wait for somebody to approve them.
    ModeKind as "Mode";
}

/// The memory that a request is about, who sends it, and on which conditions.
#[derive(Debug, Clone)]
pub struct Target {
    pub(super) vault: VaultId,
    /// It is created if it does not exist.
    pub(super) memory: MemoryId,
    pub(super) actor: ActorId,
    /// Conditions on the head, checked on the head snapshot and again when the version is saved.
    pub(super) preconditions: Preconditions,
}

impl Target {
    /// A memory, for this actor if the conditions hold.
    #[must_use]
    pub fn new(vault: VaultId, memory: MemoryId, actor: ActorId, preconditions: Preconditions) -> Self {
        Self {
            vault,
            memory,
            actor,
            preconditions,
        }
    }

    /// A memory that the service itself changes, without conditions.
    pub(super) fn by_service(vault: &VaultId, memory: &MemoryId) -> Self {
        let preconditions = Preconditions::default();
        Self::new(
            vault.clone(),
            memory.clone(),
            ActorId::of_service(),
            preconditions,
        )
    }

    pub(super) fn place(&self) -> (&VaultId, &MemoryId) {
        (&self.vault, &self.memory)
    }

    pub(super) fn party(&self) -> Party {
        Party::of_memory(self.vault.as_str(), self.memory.as_str())
    }
}

/// A request for `/update`.
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The memory.
    pub to: Target,
    /// What is asked for.
    pub input: UpdateInput,
    /// Receives the steps at once. There are few of them, so the channel is unbounded.
    pub watcher: Option<UnboundedSender<Step>>,
    /// The answer to store under the claim of the request's idempotency key.
    pub idempotency: Option<Answering<'static, UpdateAnswer>>,
}

/// What an update is asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UpdateInput {
    /// What was just done or is in progress.
    pub task: String,
    /// The conversation around it, oldest first.
    pub messages: Vec<ConversationMessage>,
    /// Do everything except saving.
    pub dry_run: bool,
    /// Save the results of the other roles when a role's model fails.
    pub allow_partial: bool,
    /// What to do with items that are still faulty after the repair.
    pub on_invalid: OnInvalid,
    /// What to do about items that the input does not support; `None` for the configured value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Strictness>,
    /// The roles to ask.
    pub roles: BTreeSet<Role>,
    /// Whether the operations are applied or proposed.
    #[serde(flatten)]
    pub mode: Mode,
    /// The session record, written into the same version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<SessionRecord>,
    /// Consolidate the memory: nothing is added, the task is what the model is told besides its instructions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub consolidation: bool,
}

impl UpdateInput {
    /// A consolidation, for which the model of learnings is told `instructions` besides its own.
    #[must_use]
    pub fn consolidation(instructions: String, mode: Mode) -> Self {
        Self {
            task: instructions,
            roles: BTreeSet::from([Role::Learnings]),
            mode,
            consolidation: true,
            ..Self::default()
        }
    }

    pub(super) fn kind(&self) -> RunKind {
        match self.consolidation {
            true => RunKind::Consolidation,
            false => RunKind::Update,
        }
    }
}

/// A request for `/operations`.
#[derive(Debug, Clone, Serialize)]
pub struct OperationsRequest {
    /// The memory.
    #[serde(skip)]
    pub to: Target,
    /// The operations.
    #[serde(flatten)]
    pub input: OperationsInput,
    /// Do everything except saving.
    pub dry_run: bool,
    /// What to do with faulty items.
    pub on_invalid: OnInvalid,
    /// Maximum number of additions to a section; unlimited if `None`.
    pub max_additions: Option<usize>,
    /// The invalid run that this text finishes by hand.
    #[serde(rename = "update_id")]
    pub resolves: Option<UpdateId>,
    /// Whether the operations are applied or proposed.
    #[serde(flatten)]
    pub mode: Mode,
    /// The answer to store under the claim of the request's idempotency key.
    #[serde(skip)]
    pub idempotency: Option<Answering<'static, UpdateAnswer>>,
}

/// Operations in one of the request forms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationsInput {
    /// The DSL text that models write.
    Text(String),
    /// A list of operations.
    #[serde(rename = "operations")]
    List(Vec<OperationRequest>),
}

/// The maximum length of a problem's description in characters; it may quote stored data.
const PROBLEM_CHARS: usize = 200;

/// Reads stored JSON that is executed later: a queued request or a proposal.
///
/// Reading is strict: a value is accepted only if this release would write it in exactly the same form. A member that this
/// release does not know, as a newer one may store during a rolling upgrade, may change what is applied: so nothing is executed
/// that was not requested, and the client gets an error and can retry.
///
/// # Errors
/// The path of the member that cannot be read, and why; or the outermost member that would be written in another form.
pub(super) fn read_stored<T: Serialize + DeserializeOwned>(stored: &Value) -> Result<T, String> {
    let read = serde_path_to_error::deserialize(stored).map_err(|error| error.to_string());
    let strict = read.and_then(|value: T| {
        let written = json!(value);
        if written == *stored {
            return Ok(value);
        }
        let members = [stored, &written].into_iter().filter_map(Value::as_object);
        let differs = |name: &&String| stored.get(name) != written.get(name);
        let member = members.flat_map(Map::keys).find(differs);
        let member = member.map_or("it", String::as_str);
        Err(format!("{member}: this release does not know it in this form"))
    });
    strict.map_err(|problem| problem.chars().take(PROBLEM_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::UpdateInput;
    use crate::storage::Preconditions;

    fn literal() -> Value {
        json!({
            "task": "a task",
            "messages": [{"role": "user", "content": "do it"}, {"role": "tool", "content": "done"}],
            "dry_run": false,
            "allow_partial": true,
            "on_invalid": "fail",
            "evidence": "warn",
            "roles": ["progress", "verbatim"],
            "mode": "propose",
            "key_id": "k-1",
            "record": {
                "task_id": "t-1", "intent": "i", "summary": "s", "outcome": {"ok": true, "share": 0.1}, "epic": "e",
                "goal": "g", "blocker": "b",
            },
        })
    }

    #[test]
    fn a_queued_request_is_read_as_it_was() {
        let mut plain = literal();
        for absent in ["evidence", "key_id", "record"] {
            plain.as_object_mut().unwrap().remove(absent);
        }
        plain["mode"] = json!("apply");
        for stored in [literal(), plain] {
            assert_eq!(json!(read_stored::<UpdateInput>(&stored).unwrap()), stored);
        }
        for stored in [
            json!({"if_match": null, "if_none_match": "any"}),
            json!({"if_match": {"list": ["a", "b"]}, "if_none_match": null}),
        ] {
            assert_eq!(json!(read_stored::<Preconditions>(&stored).unwrap()), stored);
        }
    }

    #[test]
    fn a_member_that_cannot_be_read_is_an_error_and_no_default() {
        for (member, value) in [
            ("/task", json!(null)),
            ("/messages/1", json!("done")),
            ("/messages/1/content", json!(null)),
            ("/dry_run", json!(0)),
            ("/on_invalid", json!("ignore")),
            ("/roles", json!(["progress", "summary"])),
            ("/roles", json!(["progress", "progress"])),
            ("/mode", json!("apply later")),
            ("/mode", json!("apply")),
            ("/key_id", json!("not a key id")),
            ("/record", json!(null)),
            ("/record/task_id", json!("not an id")),
            ("/record/outcome", json!(null)),
            ("/record/goal", json!(null)),
            ("/ttl", json!(60)),
            ("/messages/0/ttl", json!(60)),
            ("/record/ttl", json!(60)),
        ] {
            let mut stored = literal();
            let (parent, name) = member.rsplit_once('/').unwrap();
            match stored.pointer_mut(parent).unwrap() {
                Value::Array(entries) => entries[name.parse::<usize>().unwrap()] = value,
                parent => parent[name] = value,
            }
            assert!(read_stored::<UpdateInput>(&stored).is_err(), "{stored}");
        }
        for member in "task messages dry_run allow_partial on_invalid roles mode key_id".split(' ') {
            let mut stored = literal();
            stored.as_object_mut().unwrap().remove(member);
            assert!(read_stored::<UpdateInput>(&stored).is_err(), "{member}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_never_no_precondition() {
        for stored in [
            json!(null),
            json!({}),
            json!({"if_match": null}),
            json!({"if_match": "a", "if_none_match": null}),
            json!({"if_match": {"list": [1]}, "if_none_match": null}),
            json!({"if_match": null, "if_none_match": false}),
            json!({"if_match": null, "if_none_match": null, "if_unmodified_since": "x"}),
        ] {
            assert!(read_stored::<Preconditions>(&stored).is_err(), "{stored}");
        }
    }
}
