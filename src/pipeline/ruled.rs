//! The built-in rules in place of models, for the roles that have none.

use super::reading::{Reading, checked};
use super::report::ModelReport;
use super::role::{RoleOutcome, sent};
use super::{Pipeline, Step, UpdateRequest};
use crate::domain::evidence::Strictness;
use crate::domain::memory::Limits;
use crate::domain::operation::Role;
use crate::fair;
use crate::llm::{models, rules};
use crate::storage::{HeadSnapshot, StorageError};
use std::collections::BTreeMap;
use std::time::Instant;

impl Pipeline {
    /// Applies the rules once, for all of these roles.
    pub(super) async fn apply_rules(
        &self,
        request: &UpdateRequest,
        snapshot: &HeadSnapshot,
        roles: &[Role],
        limits: &Limits,
    ) -> Result<BTreeMap<Role, RoleOutcome>, StorageError> {
        if roles.is_empty() {
            return Ok(BTreeMap::new());
        }
        let begun = Instant::now();
        for role in roles {
            request.steps.send(Step::Asked {
                role: *role,
                round: 0,
            });
        }
        let input = sent(request);
        let bytes = input.bytes() + snapshot.text.len();
        let heard = || rules::operations(&snapshot.text, &request.input.task, &request.input.messages);
        let mut operations = fair::on_cpu(bytes, heard).await;
        operations.retain(|operation| operation.role().is_some_and(|role| roles.contains(&role)));
        // The input is indexed once for the operations of all roles.
        let mut reading = Reading::default();
        if !operations.is_empty() {
            let case = self.case(request, &input, snapshot);
            let place = (&request.vault, &request.memory);
            reading = checked(&self.storage, place, operations, case, limits).await?;
            if case.strictness != Strictness::Off {
                reading.name_replaced(&snapshot.text);
            }
        }
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut outcomes = BTreeMap::new();
        for role in roles {
            request.steps.send(Step::Answered {
                role: *role,
                round: 0,
                attempts: 1,
                millis,
                failed: false,
            });
            let outcome = RoleOutcome {
                reading: reading.take(*role),
                by_rules: true,
                report: ModelReport {
                    model: models::RULES.to_owned(),
                    attempts: 1,
                    millis,
                    ..ModelReport::default()
                },
                ..RoleOutcome::default()
            };
            outcomes.insert(*role, outcome);
        }
        Ok(outcomes)
    }
}
