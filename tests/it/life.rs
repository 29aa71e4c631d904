//! The invariants of a memory: after any operations in any order, its versions are contiguous, its ids are never reused, and
//! its records match its documents.

use crate::harness::{Database, Scripted, Step as Says, TestClock, task_of};
use crate::transfer::program::{exported_of, imported};
use futures::stream::{self, StreamExt};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as ProptestConfig, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;
use working_memory::clock::Clock;
use working_memory::config::Config;
use working_memory::config::limits::Guard;
use working_memory::config::retention::RetentionConfig;
use working_memory::domain::document::{Record, records};
use working_memory::domain::history::RecordLife;
use working_memory::domain::ids::{ActorId, ContextId, MemoryId, RecordId, VaultId};
use working_memory::llm::{Models, Retry, RoleModel};
use working_memory::pipeline::prompts::Prompts;
use working_memory::pipeline::report::UpdateStatus;
use working_memory::pipeline::{
    OnInvalid, OperationsInput, OperationsRequest, Pipeline, Target, UpdateInput, UpdateRequest,
};
use working_memory::storage::records::RecordFilter;
use working_memory::storage::transfer::OnConflict;
use working_memory::storage::{
    ContextRef, Missing, PoolOptions, Preconditions, Put, PutJob, Rebuilt, RestoreJob, Storage, WriteError,
};

const SEQUENCES: usize = 1_000;
const AT_ONCE: usize = 6;

/// An operation on a memory. Versions are counted back from the newest, so that most of them exist.
#[derive(Debug, Clone)]
enum Step {
    Put(String),
    /// The models return this text.
    Update(String),
    Operations(String),
    Restore(i64),
    Redact(i64),
    Delete,
    /// Export it, delete it, and import it again.
    Transfer,
}

fn learning() -> impl Strategy<Value = String> {
    (0..6_i64, 0..4).prop_map(|(number, content)| match number {
        0 => format!("- a bullet without an id, number {content}\n"),
        _ => format!("- KL-{number} because told: the lesson no-{content}\n"),
    })
}

fn document() -> impl Strategy<Value = String> {
    (0..4, vec(learning(), 0..4), vec(1..4_i64, 0..2)).prop_map(|(note, learnings, snippets)| {
        let learnings: String = learnings.concat();
        let snippets: String = snippets
            .into_iter()
            .map(|number| {
                format!("- VC-{number} because next: label {number} =>\n  make\n  \ttest-{number}\n")
            })
            .collect();
        format!("note-{note} of this text\n# Key Learnings\n{learnings}\n# Verbatim Context\n{snippets}")
    })
}

/// Lines that mean something to the parser, in places where they do not.
fn noise() -> impl Strategy<Value = String> {
    let lines = vec(select(NOISE), 0..4).prop_map(|lines| lines.concat());
    prop_oneof![2 => Just(String::new()), 1 => lines]
}

const NOISE: &[&str] = &[
    "CURRENT_PROGRESS:\n",
    "  Completed:\n",
    "KEY_LEARNINGS:\n",
    "VERBATIM_CONTEXT:\n",
    "  ADD:\n",
    "  ARCHIVE:\n",
    "  EDIT:\n",
    "    - because std::fs blocks: use tokio\n",
    "    - because : nothing\n",
    "    - no reason\n",
    "    - because snip: label =>\n        two\n        \tlines\n\n",
    "    - because snip: fence =>\n      ```\n      - because inside: x\n      ```\n",
    "    - KL-2, KL-3 because gone\n",
    "    - KL-01 because odd\n",
    "    - VC-1 because gone\n",
    "    - KL-40 because gone\n",
    "    - T-1 because gone\n",
    "```\n",
    "prose in between\r\n",
];

fn operations() -> impl Strategy<Value = String> {
    let parts = (vec(0..5, 0..3), vec(1..7_i64, 0..3), any::<bool>(), noise());
    parts.prop_map(|(added, archived, progress, noise)| {
        let added: String = added
            .into_iter()
            .map(|content| format!("    - because told: the lesson no-{content}\n"))
            .collect();
        let archived: String = archived
            .into_iter()
            .map(|number| format!("    - KL-{number} because it is over\n"))
            .collect();
        let progress = if progress {
            "CURRENT_PROGRESS:\n  In Progress:\n    - going on with it\n"
        } else {
            ""
        };
        format!("{progress}KEY_LEARNINGS:\n  ADD:\n{added}  ARCHIVE:\n{archived}{noise}")
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => document().prop_map(Step::Put),
        3 => operations().prop_map(Step::Operations),
        2 => operations().prop_map(Step::Update),
        3 => (0..4_i64).prop_map(Step::Restore),
        3 => (0..4_i64).prop_map(Step::Redact),
        1 => Just(Step::Delete),
        2 => Just(Step::Transfer),
    ]
}

/// One version as the test recorded it.
struct Remembered {
    text: String,
    redacted: bool,
}

/// One memory, and what must be true of it.
struct Life<'a> {
    storage: &'a Storage,
    pipeline: &'a Pipeline,
    vault: VaultId,
    memory: MemoryId,
    actor: ActorId,
    /// The versions since the memory was last deleted.
    versions: Vec<Remembered>,
    /// All context ids, also from before deletions.
    given: HashSet<ContextId>,
}

impl Life<'_> {
    async fn take(&mut self, step: &Step) {
        let always = Preconditions::default();
        let nth = |back: i64| ContextRef::Version(self.head() - back);
        let known: BTreeSet<RecordId> = self
            .versions
            .iter()
            .flat_map(|version| records(&version.text))
            .map(|record| record.id)
            .collect();
        match step {
            Step::Put(text) => {
                let put = self.storage.put_context(PutJob {
                    vault: self.vault.clone(),
                    memory: self.memory.clone(),
                    text: text.clone(),
                    actor: self.actor.clone(),
                    preconditions: Preconditions::default(),
                    guard: Guard::Off,
                    idempotency: None,
                });
                self.follow(matches!(put.await.unwrap(), Put::Created(..))).await;
            }
            Step::Operations(text) => {
                let answer = self
                    .pipeline
                    .apply_operations(self.operations(text))
                    .await
                    .unwrap();
                self.follow_answer(answer.status, &answer.operations, &known)
                    .await;
            }
            Step::Update(text) => {
                let answer = self.pipeline.update(self.update(text)).await.unwrap();
                self.follow_answer(answer.status, &answer.operations, &known)
                    .await;
            }
            Step::Restore(back) => {
                let job = RestoreJob {
                    vault: self.vault.clone(),
                    memory: self.memory.clone(),
                    reference: nth(*back),
                    actor: self.actor.clone(),
                    reason: None,
                    preconditions: Preconditions::default(),
                    limit: usize::MAX,
                    idempotency: None,
                };
                let restored = self.storage.restore_context(&job).await;
                match restored {
                    Ok(put) => {
                        let text = self.versions[self.index(*back).unwrap()].text.clone();
                        self.follow(matches!(put, Put::Created(..))).await;
                        assert_eq!(self.versions.last().unwrap().text, text);
                    }
                    Err(WriteError::NotFound(Missing::Version)) => assert!(self.index(*back).is_none()),
                    Err(WriteError::Redacted { .. }) => {
                        assert!(self.versions[self.index(*back).unwrap()].redacted)
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            Step::Redact(back) => {
                let reference = nth(*back);
                let redacted = self
                    .storage
                    .redact_context(&self.vault, &self.memory, &reference, &self.actor, "law", &always)
                    .await;
                match redacted {
                    Ok(metadata) => {
                        assert!(metadata.redaction.is_some());
                        let index = self.index(*back).unwrap();
                        self.versions[index].redacted = true;
                    }
                    Err(WriteError::NotFound(Missing::Version)) => assert!(self.index(*back).is_none()),
                    Err(WriteError::IsHead { .. }) => assert_eq!(*back, 0),
                    Err(other) => panic!("{other}"),
                }
            }
            Step::Delete => {
                match self
                    .storage
                    .delete_memory(&self.vault, &self.memory, &always)
                    .await
                {
                    Ok(()) => {}
                    Err(WriteError::NotFound(Missing::Memory)) => assert!(self.versions.is_empty()),
                    Err(other) => panic!("{other}"),
                }
                self.versions.clear();
            }
            Step::Transfer if self.versions.is_empty() => {}
            Step::Transfer => {
                let file = exported_of(self.storage, &self.vault, Some(&self.memory)).await;
                let deleted = self.storage.delete_memory(&self.vault, &self.memory, &always);
                deleted.await.unwrap();
                let into = Some(self.vault.as_str());
                let done = imported(self.storage, &file, into, OnConflict::Fail).await;
                assert_eq!(done.unwrap().created, 1);
                let again = exported_of(self.storage, &self.vault, Some(&self.memory)).await;
                assert_eq!(again, file, "the same bytes again");
            }
        }
    }

    fn head(&self) -> i64 {
        i64::try_from(self.versions.len()).unwrap()
    }

    fn index(&self, back: i64) -> Option<usize> {
        usize::try_from(self.head() - back - 1).ok()
    }

    fn target(&self) -> Target {
        let of = (self.vault.clone(), self.memory.clone(), self.actor.clone());
        Target::new(of.0, of.1, of.2, Preconditions::default())
    }

    fn operations(&self, text: &str) -> OperationsRequest {
        OperationsRequest {
            to: self.target(),
            input: OperationsInput::Text(text.to_owned()),
            dry_run: false,
            on_invalid: OnInvalid::Drop,
            max_additions: None,
            resolves: None,
            idempotency: None,
            mode: working_memory::pipeline::Mode::Apply,
        }
    }

    fn update(&self, text: &str) -> UpdateRequest {
        UpdateRequest {
            to: self.target(),
            input: UpdateInput {
                task: text.to_owned(),
                messages: Vec::new(),
                dry_run: false,
                allow_partial: false,
                on_invalid: OnInvalid::Drop,
                evidence: None,
                roles: working_memory::domain::operation::Role::ALL.into_iter().collect(),
                mode: working_memory::pipeline::Mode::Apply,
                record: None,
                consolidation: false,
            },
            watcher: None,
            idempotency: None,
        }
    }

    /// Records the newest version if one was created.
    async fn follow(&mut self, made: bool) {
        if made {
            let latest = self
                .storage
                .latest_context(&self.vault, &self.memory)
                .await
                .unwrap()
                .unwrap();
            assert_eq!(latest.metadata.version, self.head() + 1);
            assert!(self.given.insert(latest.metadata.context_id), "an id given twice");
            self.versions.push(Remembered {
                text: latest.text,
                redacted: false,
            });
        }
    }

    async fn follow_answer(
        &mut self,
        status: UpdateStatus,
        operations: &[working_memory::pipeline::report::OperationReport],
        known: &BTreeSet<RecordId>,
    ) {
        let before = self
            .versions
            .last()
            .map_or("", |version| &version.text)
            .to_owned();
        for added in operations.iter().filter(|operation| operation.op == "add") {
            let id: RecordId = added.id.as_deref().unwrap().parse().unwrap();
            assert!(!known.contains(&id), "{id} given again");
        }
        self.follow(status == UpdateStatus::Applied).await;
        let after = self.versions.last().map_or("", |version| &version.text);
        let after: BTreeMap<RecordId, Record> = records(after)
            .into_iter()
            .map(|record| (record.id, record))
            .collect();
        // A record that is gone was archived by its id, with a reason; the others are as they were.
        for record in records(&before) {
            let id = record.id.to_string();
            let archive = operations
                .iter()
                .find(|operation| operation.op == "archive" && operation.id.as_ref() == Some(&id));
            match (after.get(&record.id), archive) {
                (Some(now), None) => assert_eq!(*now, record),
                (None, Some(archive)) => {
                    assert!(
                        archive
                            .reason
                            .as_ref()
                            .is_some_and(|reason| !reason.trim().is_empty())
                    );
                }
                (now, archive) => panic!("{id}: {now:?}, {}", archive.is_some()),
            }
        }
    }

    async fn holds(&self) {
        let all = self
            .storage
            .list_contexts(&self.vault, &self.memory, None, 1_000)
            .await
            .unwrap()
            .items;
        let numbers: Vec<i64> = all.iter().rev().map(|version| version.version).collect();
        assert_eq!(numbers, (1..=self.head()).collect::<Vec<_>>());
        for (stored, version) in all.iter().rev().zip(&self.versions) {
            assert_eq!(stored.redaction.is_some(), version.redacted);
        }
        let stored = self
            .storage
            .list_records(&self.vault, &self.memory, RecordFilter::default(), None, 1_000)
            .await
            .unwrap()
            .items;
        let stored: BTreeMap<RecordId, Told> = stored
            .into_iter()
            .map(|stored| (stored.record.id, Told::of(stored)))
            .collect();
        assert_eq!(stored, self.told());
    }

    /// Records and their history match the versions, and a value that no version contains any more is preserved.
    async fn is_rebuilt_as_it_is(&self) {
        let rebuilt = self
            .storage
            .rebuild_records(Some(&self.vault), Some(&self.memory))
            .await
            .unwrap();
        let memories = u64::from(!self.versions.is_empty());
        assert_eq!(rebuilt, Rebuilt { memories, mended: 0 }, "{}", self.memory);
    }

    /// After retention: the newest versions exist, the first versions of active records, and nothing else.
    async fn keeps_the_newest(&self, count: i64) {
        let told = self.told();
        let births = told
            .values()
            .filter(|record| record.ended.is_none())
            .map(|record| record.created);
        let expected: BTreeSet<i64> = births
            .chain((1..=self.head()).rev().take(usize::try_from(count).unwrap()))
            .collect();
        let all = self
            .storage
            .list_contexts(&self.vault, &self.memory, None, 1_000)
            .await
            .unwrap()
            .items;
        let numbers: BTreeSet<i64> = all.iter().map(|version| version.version).collect();
        assert_eq!(numbers, expected);
    }

    /// The records that the documents describe.
    fn told(&self) -> BTreeMap<RecordId, Told> {
        let mut told: BTreeMap<RecordId, Told> = BTreeMap::new();
        for (version, remembered) in (1..).zip(&self.versions) {
            let here: BTreeMap<RecordId, Record> = records(&remembered.text)
                .into_iter()
                .map(|record| (record.id, record))
                .collect();
            for (id, record) in &mut told {
                if !here.contains_key(id) && record.ended.is_none() {
                    record.ended = Some(version);
                }
            }
            for (id, record) in here {
                let created = told.get(&id).map_or(version, |before| before.created);
                let (label, reason, content) = (record.label, record.reason, record.content);
                told.insert(
                    id,
                    Told {
                        label,
                        reason,
                        content,
                        created,
                        ended: None,
                    },
                );
            }
        }
        let held: HashSet<(RecordId, u8, String)> = self
            .versions
            .iter()
            .filter(|version| !version.redacted)
            .flat_map(|version| records(&version.text))
            .flat_map(|record| {
                let parts = [(0, record.label), (1, record.reason), (2, Some(record.content))];
                parts
                    .into_iter()
                    .filter_map(move |(part, text)| Some((record.id, part, text?)))
            })
            .collect();
        for (id, record) in &mut told {
            let kept = |part, text: &String| held.contains(&(*id, part, text.clone()));
            record.label = record.label.take().filter(|label| kept(0, label));
            record.reason = record.reason.take().filter(|reason| kept(1, reason));
            if !kept(2, &record.content) {
                record.content.clear();
            }
        }
        told
    }
}

/// What the documents say about a record.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    label: Option<String>,
    reason: Option<String>,
    content: String,
    created: i64,
    ended: Option<i64>,
}

impl Told {
    fn of(stored: RecordLife) -> Self {
        Self {
            label: stored.record.label,
            reason: stored.record.reason,
            content: stored.record.content,
            created: stored.born.version,
            ended: stored.end.map(|end| end.mark.version),
        }
    }
}

/// Models that return what the task says.
fn echoing() -> Models {
    Models::new(|role| {
        let model = Scripted::by_rule(role.name(), |request| Says::answer(&task_of(request)));
        RoleModel::new(Arc::new(model), Retry::new(Duration::from_secs(5), 0))
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_keeps_its_invariants_after_any_operations() {
    let database = Database::create().await;
    let clock: Arc<dyn Clock> = Arc::new(TestClock::new());
    let options = PoolOptions {
        url: database.url(),
        max_connections: u32::try_from(AT_ONCE).unwrap(),
        prepared_statements: true,
        acquire_timeout: Duration::from_secs(30),
        head_cache_bytes: 0,
        gather_puts: true,
    };
    let storage = Storage::connect_lazy(&options, clock.clone()).unwrap();
    let config = Config::default();
    let prompts = Prompts::load(None).unwrap();
    let pipeline = Pipeline::new(
        storage.clone(),
        (echoing(), None),
        prompts,
        clock.clone(),
        &config,
    );
    // A fixed seed: the same sequences in every run.
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let sequences: Vec<Vec<Step>> = (0..SEQUENCES)
        .map(|_| vec(step(), 3..=9).new_tree(&mut runner).unwrap().current())
        .collect();

    let lives: Vec<Life<'_>> = stream::iter(sequences.iter().enumerate())
        .map(|(number, steps)| {
            let (storage, pipeline) = (&storage, &pipeline);
            async move {
                let mut life = Life {
                    storage,
                    pipeline,
                    vault: "law".parse().unwrap(),
                    memory: format!("memory-{number}").parse().unwrap(),
                    actor: "law".parse().unwrap(),
                    versions: Vec::new(),
                    given: HashSet::new(),
                };
                for (place, step) in steps.iter().enumerate() {
                    let lived = std::panic::AssertUnwindSafe(async {
                        life.take(step).await;
                        life.holds().await;
                    });
                    if futures::FutureExt::catch_unwind(lived).await.is_err() {
                        panic!("sequence {number} breaks the law at step {place}: {steps:#?}");
                    }
                }
                life.is_rebuilt_as_it_is().await;
                life
            }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;

    let retention = RetentionConfig {
        max_versions: Some(2),
        ..RetentionConfig::default()
    };
    let pruned = storage.prune_versions(&retention, clock.now()).await.unwrap();
    assert!(pruned > 0);
    for life in &lives {
        life.keeps_the_newest(2).await;
        life.is_rebuilt_as_it_is().await;
    }
}
