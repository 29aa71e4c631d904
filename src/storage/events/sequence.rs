//! Numbers committed events.

use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::database::transaction::{Ending, Transaction};
use crate::storage::events::EventKind;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};

/// Maximum events numbered in one transaction.
const BATCH: i64 = 1_000;

struct Waiting {
    event_id: String,
    memory_id: MemoryId,
    kind: EventKind,
    version: Option<i64>,
    #[expect(dead_code, reason = "the database orders by it")]
    created_at: DateTime<Utc>,
}

impl Storage {
    /// Numbers all committed events of a vault that have no number. May run on any number of instances at the same
    /// time: a lock serialises them.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.events.sequence", skip_all)]
    pub async fn sequence_events(&self, vault: &VaultId) -> Result<(), StorageError> {
        loop {
            let waiting = sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT 1 FROM events WHERE vault_id = $1 AND sequence IS NULL) AS "waiting!""#,
                vault.as_str(),
            )
            .fetch_one(&mut *self.event_reader().await?)
            .await?;
            if !waiting || self.sequence_batch(vault).await? < BATCH {
                return Ok(());
            }
        }
    }

    async fn sequence_batch(&self, vault: &VaultId) -> Result<i64, StorageError> {
        self.event_transaction("db.events.sequence", |transaction| sequence(transaction, vault))
            .await
    }
}

/// Returns the number of events it numbered.
async fn sequence(mut transaction: Transaction, vault: &VaultId) -> Result<Ending<i64>, StorageError> {
    sqlx::query!(
        "INSERT INTO event_streams (vault_id, last_sequence, purged_sequence) VALUES ($1, 0, 0)
             ON CONFLICT (vault_id) DO NOTHING",
        vault.as_str(),
    )
    .execute(&mut *transaction)
    .await?;
    let last = sqlx::query_scalar!(
        "SELECT last_sequence FROM event_streams WHERE vault_id = $1 FOR UPDATE",
        vault.as_str(),
    )
    .fetch_one(&mut *transaction)
    .await?;
    // A separate statement after the lock, so that it sees what the previous holder of the lock numbered.
    let mut waiting = sqlx::query_as!(
        Waiting,
        "SELECT event_id, memory_id, kind, version, created_at FROM events
             WHERE vault_id = $1 AND sequence IS NULL
             ORDER BY created_at, event_id
             LIMIT $2",
        vault.as_str(),
        BATCH,
    )
    .fetch_all(&mut *transaction)
    .await?;
    order_versions(&mut waiting);
    let Some(newest) = waiting.last() else {
        return Ok(transaction.roll_back_with(0));
    };
    let count = i64::try_from(waiting.len()).unwrap_or(BATCH);
    let ids: Vec<&str> = waiting.iter().map(|event| event.event_id.as_str()).collect();
    let numbers: Vec<i64> = (last + 1..=last + count).collect();
    sqlx::query!(
        "UPDATE events SET sequence = given.sequence
             FROM unnest($2::text[], $3::bigint[]) AS given (event_id, sequence)
             WHERE events.vault_id = $1 AND events.event_id = given.event_id AND events.sequence IS NULL",
        vault.as_str(),
        &ids as &[&str],
        &numbers,
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query!(
        "UPDATE event_streams SET last_sequence = $2, last_event_id = $3 WHERE vault_id = $1",
        vault.as_str(),
        last + count,
        newest.event_id,
    )
    .execute(&mut *transaction)
    .await?;
    Ok(transaction.commit_with(count))
}

/// Sorts the versions of each memory by number, because instances with different clocks may give two of them the same
/// time. The positions that a memory's versions occupy stay the same.
fn order_versions(events: &mut [Waiting]) {
    let mut places: std::collections::BTreeMap<&MemoryId, Vec<usize>> = std::collections::BTreeMap::new();
    for (place, event) in events.iter().enumerate() {
        if event.kind == EventKind::Version {
            places.entry(&event.memory_id).or_default().push(place);
        }
    }
    let mut moves = Vec::new();
    for mut places in places.into_values() {
        let ordered = places.clone();
        places.sort_by_key(|place| events[*place].version);
        moves.extend(ordered.into_iter().zip(places).filter(|(to, from)| to != from));
    }
    let moved: Vec<(usize, String, Option<i64>)> = moves
        .into_iter()
        .map(|(to, from)| (to, events[from].event_id.clone(), events[from].version))
        .collect();
    for (to, event_id, version) in moved {
        events[to].event_id = event_id;
        events[to].version = version;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str, memory: &str, kind: EventKind, version: Option<i64>) -> Waiting {
        Waiting {
            event_id: id.to_owned(),
            memory_id: memory.parse().unwrap(),
            kind,
            version,
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn versions_of_one_memory_stand_in_the_order_of_their_numbers() {
        let mut events = vec![
            event("c", "one", EventKind::Version, Some(3)),
            event("x", "two", EventKind::Version, Some(1)),
            event("s", "one", EventKind::Update, None),
            event("a", "one", EventKind::Version, Some(1)),
            event("b", "one", EventKind::Version, Some(2)),
        ];
        order_versions(&mut events);
        let ids: Vec<_> = events.iter().map(|event| event.event_id.as_str()).collect();
        assert_eq!(ids, ["a", "x", "s", "b", "c"]);
    }
}
