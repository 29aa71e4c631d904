//! The invariants of a memory: after any operations in any order, its versions are contiguous, its ids are never reused, and
//! its records match its documents.

use crate::harness::{Answer, Memory, Scripted, Service, Step as Says, task_of};
use crate::transfer::program::{exported_of, imported};
use futures::stream::{self, StreamExt};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as ProptestConfig, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;
use working_memory::domain::document::{Record, records};
use working_memory::domain::ids::{MemoryId, RecordId, VaultId};
use working_memory::llm::{Models, Retry, RoleModel};
use working_memory::storage::Rebuilt;
use working_memory::storage::transfer::OnConflict;

/// The number of sequences, unless `LIVES` says another; `make test-nightly` runs 1,000.
const SEQUENCES: usize = 200;
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
struct Life {
    vault: VaultId,
    id: MemoryId,
    memory: Memory,
    /// The versions since the memory was last deleted.
    versions: Vec<Remembered>,
    /// All entity tags, also from before deletions.
    given: HashSet<String>,
}

impl Life {
    async fn take(&mut self, step: &Step) {
        let known: BTreeSet<RecordId> = self
            .versions
            .iter()
            .flat_map(|version| records(&version.text))
            .map(|record| record.id)
            .collect();
        match step {
            Step::Put(text) => {
                let put = self.memory.put(text).await;
                self.follow(&put).await;
            }
            Step::Operations(text) => {
                let answer = self.memory.applied(text).await;
                self.follow_answer(&answer, &known).await;
            }
            Step::Update(text) => {
                let answer = self.memory.updated(json!({ "task": text })).await;
                self.follow_answer(&answer, &known).await;
            }
            Step::Restore(back) => {
                let restored = self.memory.restore(&self.version(*back)).await;
                match (restored.status, self.index(*back)) {
                    (404, None) => {}
                    (410, Some(index)) => assert!(self.versions[index].redacted),
                    (_, index) => {
                        let text = self.versions[index.unwrap()].text.clone();
                        self.follow(&restored).await;
                        assert_eq!(self.versions.last().unwrap().text, text);
                    }
                }
            }
            Step::Redact(back) => {
                let redacted = self.memory.redact(&self.version(*back)).await;
                match (redacted.status, self.index(*back)) {
                    (404, None) => {}
                    (409, Some(_)) => assert_eq!(*back, 0),
                    (_, index) => {
                        assert_eq!(redacted.is(200).json()["redacted"], true);
                        self.versions[index.unwrap()].redacted = true;
                    }
                }
            }
            Step::Delete => {
                let deleted = self.memory.delete().await;
                // Runs that changed nothing are deleted, too.
                if deleted.status != 204 {
                    deleted.missing();
                    assert!(self.versions.is_empty());
                }
                self.versions.clear();
            }
            Step::Transfer if self.versions.is_empty() => {}
            Step::Transfer => {
                let storage = self.memory.service().storage();
                let file = exported_of(storage, &self.vault, Some(&self.id)).await;
                self.memory.delete().await.is(204);
                let into = Some(self.vault.as_str());
                let done = imported(storage, &file, into, OnConflict::Fail).await;
                assert_eq!(done.unwrap().created, 1);
                let again = exported_of(storage, &self.vault, Some(&self.id)).await;
                assert_eq!(again, file, "the same bytes again");
            }
        }
    }

    fn head(&self) -> i64 {
        i64::try_from(self.versions.len()).unwrap()
    }

    /// The version so far back; 0, which no memory has, before the first.
    fn version(&self, back: i64) -> String {
        (self.head() - back).max(0).to_string()
    }

    fn index(&self, back: i64) -> Option<usize> {
        usize::try_from(self.head() - back - 1).ok()
    }

    /// Records the newest version if the answer is that one was created.
    async fn follow(&mut self, answer: &Answer) {
        if answer.status == 201 {
            self.remember().await;
        } else {
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    }

    async fn remember(&mut self) {
        let latest = self.memory.get("context").await.is(200);
        let version = (self.head() + 1).to_string();
        assert_eq!(latest.header("x-context-version"), version);
        assert!(self.given.insert(latest.part("etag")), "an id given twice");
        self.versions.push(Remembered {
            text: latest.text().to_owned(),
            redacted: false,
        });
    }

    async fn follow_answer(&mut self, answer: &Value, known: &BTreeSet<RecordId>) {
        let newest = |life: &Self| life.versions.last().map(|version| version.text.clone());
        let before = newest(self).unwrap_or_default();
        let operations = answer["operations"].as_array().unwrap();
        for added in operations.iter().filter(|operation| operation["op"] == "add") {
            let id: RecordId = added["id"].as_str().unwrap().parse().unwrap();
            assert!(!known.contains(&id), "{id} given again");
        }
        if answer["status"] == "applied" {
            self.remember().await;
        }
        let after = newest(self).unwrap_or_default();
        let after: BTreeMap<RecordId, Record> = records(&after)
            .into_iter()
            .map(|record| (record.id, record))
            .collect();
        // A record that is gone was archived by its id, with a reason; the others are as they were.
        for record in records(&before) {
            let id = record.id.to_string();
            let archive = operations
                .iter()
                .find(|operation| operation["op"] == "archive" && operation["id"] == id);
            match (after.get(&record.id), archive) {
                (Some(now), None) => assert_eq!(*now, record),
                (None, Some(archive)) => assert_ne!(archive["reason"].as_str().unwrap().trim(), ""),
                (now, archive) => panic!("{id}: {now:?}, {}", archive.is_some()),
            }
        }
    }

    /// The entries of a list of the memory; none if there is no memory.
    async fn list(&self, below: &str) -> Vec<Value> {
        let list = self.memory.get(below).await;
        if self.versions.is_empty() {
            list.missing();
            return Vec::new();
        }
        list.is(200).json()["items"].as_array().unwrap().clone()
    }

    /// The numbers of the versions, and whether each is redacted; the oldest first.
    async fn stored(&self) -> Vec<(i64, bool)> {
        let versions = self.list("contexts?limit=500").await;
        let stored = versions.iter().rev().map(|version| {
            let number = version["version"].as_i64().unwrap();
            (number, version["redacted"] == true)
        });
        stored.collect()
    }

    async fn holds(&self) {
        let versions = self.versions.iter().map(|version| version.redacted);
        assert_eq!(self.stored().await, (1..).zip(versions).collect::<Vec<_>>());
        let stored = self.list("records?status=all&limit=500").await;
        let stored: BTreeMap<RecordId, Told> = stored.iter().map(Told::of).collect();
        assert_eq!(stored, self.told());
    }

    /// Records and their history match the versions, and a value that no version contains any more is preserved.
    async fn is_rebuilt_as_it_is(&self) {
        let storage = self.memory.service().storage();
        let rebuilt = storage.rebuild_records(Some(&self.vault), Some(&self.id)).await;
        let memories = u64::from(!self.versions.is_empty());
        assert_eq!(rebuilt.unwrap(), Rebuilt { memories, mended: 0 }, "{}", self.id);
    }

    /// After retention: the newest versions exist, the first versions of active records, and nothing else.
    async fn keeps_the_newest(&self, count: usize) {
        let told = self.told();
        let births = told
            .values()
            .filter(|record| record.ended.is_none())
            .map(|record| record.created);
        let expected: BTreeSet<i64> = births.chain((1..=self.head()).rev().take(count)).collect();
        let stored = self.stored().await;
        let numbers: BTreeSet<i64> = stored.iter().map(|(number, _)| *number).collect();
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
    fn of(stored: &Value) -> (RecordId, Self) {
        let text = |name: &str| stored[name].as_str().map(str::to_owned);
        let told = Self {
            label: text("label"),
            reason: text("reason"),
            content: text("content").unwrap(),
            created: stored["created_version"].as_i64().unwrap(),
            ended: stored["ended_version"].as_i64(),
        };
        (text("record_id").unwrap().parse().unwrap(), told)
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
    let service = Service::with_models(echoing()).await;
    // A fixed seed: the same sequences in every run.
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let count = std::env::var("LIVES").map_or(SEQUENCES, |lives| lives.parse().unwrap());
    let sequences: Vec<Vec<Step>> = (0..count)
        .map(|_| vec(step(), 3..=9).new_tree(&mut runner).unwrap().current())
        .collect();

    let lives: Vec<Life> = stream::iter(sequences.iter().enumerate())
        .map(async |(number, steps)| {
            let id = format!("memory-{number}");
            let mut life = Life {
                vault: "acme".parse().unwrap(),
                memory: service.memory(&id),
                id: id.parse().unwrap(),
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
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;

    assert!(service.prune(2, true).await > 0);
    for life in &lives {
        life.keeps_the_newest(2).await;
        life.is_rebuilt_as_it_is().await;
    }
}
