//! What a caller asks of the pipeline, already checked for form by the route.

use crate::domain::dsl::requests::OperationRequest;
use crate::domain::ids::{ActorId, KeyId, MemoryId, UpdateId, VaultId};
use crate::domain::operation::Role;
use crate::domain::window::SessionRecord;
use crate::llm::ConversationMessage;
use crate::storage::Preconditions;
use crate::storage::idempotency::IdempotencyClaim;
use std::collections::BTreeSet;
use strum::{Display, EnumDiscriminants, EnumString, IntoStaticStr, VariantNames};

use super::steps::Steps;

/// What to do about items that stay faulty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Display, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum OnInvalid {
    /// Drop and report them, apply the rest.
    #[default]
    Drop,
    /// Save nothing; keep the run for a person.
    Fail,
}

impl OnInvalid {
    /// The name used in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What becomes of the operations.
#[derive(Debug, Clone, PartialEq, Eq, Default, EnumDiscriminants)]
#[strum_discriminants(
    name(ModeKind),
    doc = "What becomes of the operations, without by whom.",
    derive(EnumString, VariantNames),
    strum(serialize_all = "snake_case")
)]
pub enum Mode {
    /// They are saved.
    #[default]
    Apply,
    /// They are kept until somebody approves them.
    Propose {
        /// The key that proposes them and so never approves them; `None` at a service that asks for none.
        key: Option<KeyId>,
    },
}

/// A request for `/update`.
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The vault.
    pub vault: VaultId,
    /// The memory; it is made if it does not exist.
    pub memory: MemoryId,
    /// Who asks.
    pub actor: ActorId,
    /// Conditions on the head, tested when it is captured and again when the version is saved.
    pub preconditions: Preconditions,
    /// What was just done or is being done.
    pub task: String,
    /// The conversation around it, oldest first.
    pub messages: Vec<ConversationMessage>,
    /// Do everything but save.
    pub dry_run: bool,
    /// Save what the other roles say when a role's model fails.
    pub allow_partial: bool,
    /// What to do about items that stay faulty.
    pub on_invalid: OnInvalid,
    /// The roles to ask.
    pub roles: BTreeSet<Role>,
    /// Whether it is saved or proposed.
    pub mode: Mode,
    /// What the session ends with, written in the same version.
    pub record: Option<SessionRecord>,
    /// Who is told of its steps.
    pub steps: Steps,
    /// The claim of the idempotency key under which it is saved.
    pub idempotency: Option<IdempotencyClaim>,
}

/// A request for `/operations`.
#[derive(Debug, Clone)]
pub struct OperationsRequest {
    /// The vault.
    pub vault: VaultId,
    /// The memory; it is made if it does not exist.
    pub memory: MemoryId,
    /// Who asks.
    pub actor: ActorId,
    /// Conditions on the head.
    pub preconditions: Preconditions,
    /// What is to be done.
    pub input: OperationsInput,
    /// Do everything but save.
    pub dry_run: bool,
    /// What to do about faulty items.
    pub on_invalid: OnInvalid,
    /// Additions a section takes; any number if `None`.
    pub max_additions: Option<usize>,
    /// The invalid run that this text finishes by hand.
    pub resolves: Option<UpdateId>,
    /// Whether it is saved or proposed.
    pub mode: Mode,
    /// The claim of the idempotency key under which it is saved.
    pub idempotency: Option<IdempotencyClaim>,
}

/// Operations in one of the two forms that callers write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationsInput {
    /// The DSL text that models write.
    Text(String),
    /// A list of them.
    List(Vec<OperationRequest>),
}
