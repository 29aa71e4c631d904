//! Property test: after any operations, Current Context cites active records only, and every cited record existed.

use super::{refresh, section, supersede};
use crate::harness::{Memory, Service};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use working_memory::domain::document::records;
use working_memory::domain::handoff::{Subject, citations_in};
use working_memory::domain::ids::RecordId;

const SEQUENCES: usize = 40;

fn document() -> impl Strategy<Value = String> {
    (vec((1..6_i64, 0..3), 0..4), vec(1..5_i64, 0..3), vec(1..4_i64, 0..2), 0..3).prop_map(
        |(learnings, decisions, tasks, step)| {
            let learnings: String = learnings
                .into_iter()
                .map(|(number, said)| format!("- KL-{number} because told: no {said}?\n"))
                .collect();
            let decisions: String = decisions.into_iter().map(|n| format!("- D-{n} because so: way {n}\n")).collect();
            let tasks: String = tasks.into_iter().map(|n| format!("- T-{n} did: {n}\n")).collect();
            format!(
                "# Current Progress\n## In Progress\n- step {step}\n# Key Learnings\n{learnings}# Recent Tasks\n{tasks}# Decisions\n{decisions}"
            )
        },
    )
}

async fn holds(memory: &Memory, texts: &HashMap<i64, BTreeSet<RecordId>>, markdown: &str, head: i64) {
    let active: BTreeSet<RecordId> = texts[&head].clone();
    for line in section(markdown, "Current Context") {
        for citation in citations_in(line).1 {
            assert!(
                citation.record_id().is_some_and(|id| active.contains(&id)),
                "{line} in {markdown}"
            );
        }
    }
    let mut prose = 0;
    for line in markdown.lines().filter(|line| line.starts_with("- ")) {
        let citations = citations_in(line).1;
        prose += usize::from(!citations.is_empty());
        for citation in citations {
            match citation.subject {
                Subject::Record(id) => {
                    assert!(texts[&citation.version].contains(&id), "{line} in {markdown}")
                }
                Subject::Section(_) => assert_eq!(citation.version, head, "{line}"),
            }
        }
    }
    let bullets = markdown.lines().filter(|line| line.starts_with("- ")).count();
    assert_eq!(prose, bullets, "every line cites: {markdown}");
    assert_eq!(memory.read("handoff/status").await["status"], "fresh");
}

#[tokio::test]
async fn current_context_cites_active_records_and_every_citation_existed() {
    let service = Service::start().await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for number in 0..SEQUENCES {
        let id = format!("m-{number}");
        let memory = service.memory(&id);
        let mut texts = HashMap::new();
        let mut head = 0;
        let steps = vec((document(), 0..3_u64, any::<bool>()), 2..7)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        for (document, hours, restores) in steps {
            if restores && head > 1 {
                memory.restore(&(head - 1).to_string()).await;
            } else {
                memory.put(document).await;
            }
            let now = memory.get("context").await.is(200);
            head = now.header("x-context-version").parse().unwrap();
            let ids: BTreeSet<RecordId> = records(now.text()).into_iter().map(|record| record.id).collect();
            for decision in 1..4 {
                // A chain of replacements may contain archived records; its last one is active.
                supersede(&service, decision, &format!("D-{}", decision + 1)).await;
            }
            texts.insert(head, ids);
            service.clock.advance(Duration::from_secs(hours * 1_800));
            let made = refresh(&memory, "?force=true", None).await.is(201).json();
            holds(&memory, &texts, made["markdown"].as_str().unwrap(), head).await;
        }
    }
}
