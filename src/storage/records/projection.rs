//! The records of a memory, derived from its versions.

use crate::domain::changelog::left_out_by;
use crate::domain::history::{Rebuild, RecordEvent, RecordLife, VersionMark};
use crate::domain::ids::RecordId;
use crate::domain::window::{Task, TaskDetails};
use crate::storage::contexts::Source;
use crate::storage::write::{operation_details, task_facts_of_operations};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

/// A version as far as records follow from it.
pub(in crate::storage) struct ProjectedVersion<'v> {
    pub(in crate::storage) mark: VersionMark,
    /// The operation that created it.
    pub(in crate::storage) source: Source,
    /// `None` if it was redacted.
    pub(in crate::storage) text: Option<&'v str>,
    pub(in crate::storage) operations: Option<&'v Value>,
}

/// The records of the versions so far.
pub(in crate::storage) struct Projection {
    rebuild: Rebuild,
    tasks: HashMap<RecordId, Task>,
}

/// What follows from all versions.
pub(in crate::storage) struct Projected {
    /// The records by id.
    pub(in crate::storage) lives: Vec<RecordLife>,
    /// Their changes by version and id.
    pub(in crate::storage) events: Vec<RecordEvent>,
    /// The reported facts of tasks.
    pub(in crate::storage) tasks: HashMap<RecordId, Task>,
}

impl Projection {
    /// Begins with what is stored, which counts where versions are missing.
    pub(in crate::storage) fn new(lives: Vec<RecordLife>, events: Vec<RecordEvent>) -> Self {
        Self {
            rebuild: Rebuild::new(lives, events),
            tasks: HashMap::new(),
        }
    }

    /// Adds the next version.
    pub(in crate::storage) fn version(&mut self, version: &ProjectedVersion<'_>) {
        let mut details = operation_details(version.operations);
        let is_whole = matches!(version.source, Source::Put | Source::Restore);
        details.left_out = is_whole.then(|| left_out_by(version.mark.version));
        self.rebuild.version(&version.mark, version.text, &details);
        self.tasks.extend(task_facts_of_operations(version.operations));
    }

    pub(in crate::storage) fn finish(self) -> Projected {
        let (lives, events) = self.rebuild.finish();
        Projected {
            lives,
            events,
            tasks: self.tasks,
        }
    }
}

impl Projected {
    /// The facts of a task that have columns of their own.
    pub(in crate::storage) fn details(&self, id: RecordId) -> DetailColumns<'_> {
        let task = self.tasks.get(&id);
        task.map(|task| DetailColumns::from(&task.details))
            .unwrap_or_default()
    }
}

/// The values of the columns.
#[derive(Debug, Default, Serialize)]
pub(in crate::storage) struct DetailColumns<'t> {
    pub(in crate::storage) outcome: Option<&'t Value>,
    pub(in crate::storage) epic: Option<&'t str>,
    pub(in crate::storage) details: Option<Value>,
}

impl<'t> From<&'t TaskDetails> for DetailColumns<'t> {
    fn from(details: &'t TaskDetails) -> Self {
        let mut others = details.members();
        for name in ["outcome", "epic"] {
            others.remove(name);
        }
        Self {
            outcome: details.outcome.as_ref(),
            epic: details.epic.as_deref(),
            details: (!others.is_empty()).then_some(Value::Object(others)),
        }
    }
}
