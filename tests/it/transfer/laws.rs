//! Property tests of the storage functions, over histories of any shape.

use super::program::{exported, imported};
use crate::harness::{Database, TestClock};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::sync::Arc;
use std::time::Duration;
use working_memory::domain::document;
use working_memory::domain::ids::{ActorId, MemoryId, VaultId};
use working_memory::storage::records::RecordFilter;
use working_memory::storage::transfer::OnConflict;
use working_memory::storage::{Guard, PoolOptions, Preconditions, PutJob, Storage};

fn storage(database: &Database) -> Storage {
    let options = PoolOptions {
        url: database.url(),
        max_connections: 2,
        prepared_statements: true,
        acquire_timeout: Duration::from_secs(10),
        deadlines: working_memory::storage::Deadlines::default(),
        head_cache_bytes: 0,
        gather_puts: false,
    };
    Storage::connect_lazy(&options, Arc::new(TestClock::new())).unwrap()
}

/// A document with some of a few records, in any state, and any other text.
fn document() -> impl Strategy<Value = String> {
    let record = (1..6_i64, "[a-c]{1,3}").prop_map(|(number, text)| format!("- KL-{number} {text}\n"));
    let snippet = (1..4_i64, "[a-c ]{0,3}").prop_map(|(number, text)| format!("- VC-{number} l => {text}\n"));
    let free = "[^\\x00]{0,12}";
    (
        free,
        prop::collection::vec(record, 0..5),
        prop::collection::vec(snippet, 0..3),
    )
        .prop_map(|(free, records, snippets)| {
            let (records, snippets) = (records.concat(), snippets.concat());
            format!("x{free}\n\n# Key Learnings\n{records}\n# Verbatim Context\n{snippets}")
        })
}

#[test]
fn any_history_is_imported_byte_for_byte_and_append_ends_with_its_newest_text() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let database = runtime.block_on(Database::create());
    let vaults = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    });
    let histories = (
        prop::collection::vec(document(), 1..8),
        prop::collection::vec(document(), 1..4),
    );
    let law = |(theirs, mine): (Vec<String>, Vec<String>)| {
        vaults.set(vaults.get() + 1);
        runtime.block_on(holds(&database, vaults.get(), &theirs, &mine));
        Ok(())
    };
    runner.run(&histories, law).unwrap();
}

async fn holds(database: &Database, number: u32, theirs: &[String], mine: &[String]) {
    let storage = storage(database);
    let (source, copy, other) = (format!("s{number}"), format!("c{number}"), format!("o{number}"));
    put(&storage, &source, theirs).await;
    let file = exported(&storage, &source).await;
    imported(&storage, &file, Some(&copy), OnConflict::Fail)
        .await
        .unwrap();
    let again = String::from_utf8(exported(&storage, &copy).await).unwrap();
    let same = again.replacen(&format!("\"{copy}\""), &format!("\"{source}\""), 1);
    assert_eq!(same.as_bytes(), file);

    put(&storage, &other, mine).await;
    imported(&storage, &file, Some(&other), OnConflict::Append)
        .await
        .unwrap();
    let after = exported(&storage, &other).await;
    let head = latest(&storage, &other).await;
    assert_eq!(Some(&head), theirs.last());
    // The records match the documents: an import of the result verifies every record.
    imported(&storage, &after, Some(&format!("r{number}")), OnConflict::Fail)
        .await
        .unwrap();
    let active = document::records(&head).len();
    let (vault, memory) = ids(&other);
    let all = storage
        .list_records(&vault, &memory, RecordFilter::default(), None, 500)
        .await
        .unwrap()
        .items;
    assert_eq!(all.iter().filter(|record| record.end.is_none()).count(), active);
    imported(&storage, &file, Some(&other), OnConflict::Append)
        .await
        .unwrap();
    assert_eq!(exported(&storage, &other).await, after, "nothing a second time");
    storage.close().await;
}

fn ids(vault: &str) -> (VaultId, MemoryId) {
    (vault.parse().unwrap(), "m".parse().unwrap())
}

async fn put(storage: &Storage, vault: &str, texts: &[String]) {
    let (vault, memory) = ids(vault);
    for text in texts {
        storage
            .put_context(PutJob {
                vault: vault.clone(),
                memory: memory.clone(),
                text: text.clone(),
                actor: ActorId::anonymous(),
                preconditions: Preconditions::default(),
                guard: Guard::Off,
                idempotency: None,
            })
            .await
            .unwrap();
    }
}

async fn latest(storage: &Storage, vault: &str) -> String {
    let (vault, memory) = ids(vault);
    storage
        .latest_context(&vault, &memory)
        .await
        .unwrap()
        .unwrap()
        .text
}
