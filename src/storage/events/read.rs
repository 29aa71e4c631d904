//! Reads events, resolves a client's position, and deletes old events in small batches.

use super::EventKind;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// How many characters of an event's id a position contains, here and in the statements that read events.
const MARK: usize = 8;

/// A position: an event's number and the end of its id. Clients send it back as `Last-Event-ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The number, 1 or more; 0 is before the first.
    pub sequence: i64,
    mark: String,
}

impl Place {
    fn of(sequence: i64, event_id: &str) -> Self {
        let start = event_id.len().saturating_sub(MARK);
        Self {
            sequence,
            mark: event_id.get(start..).unwrap_or_default().to_owned(),
        }
    }

    /// Before the first event.
    #[must_use]
    pub fn beginning() -> Self {
        Self {
            sequence: 0,
            mark: String::new(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sequence == 0 {
            return f.write_str("0");
        }
        write!(f, "{}-{}", self.sequence, self.mark)
    }
}

/// The text is not a position. The message may be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be the id of an event of this stream as it was sent, or 0 for all that are kept")]
pub struct NotAPlace;

impl FromStr for Place {
    type Err = NotAPlace;

    fn from_str(text: &str) -> Result<Self, NotAPlace> {
        if text == "0" {
            return Ok(Self::beginning());
        }
        let (number, mark) = text.split_once('-').ok_or(NotAPlace)?;
        let place = Self {
            sequence: number.parse().map_err(|_| NotAPlace)?,
            mark: mark.to_owned(),
        };
        let hexadecimal = mark.len() == MARK && mark.bytes().all(|b| b.is_ascii_hexdigit());
        let is_written_so = place.sequence > 0 && place.to_string() == text;
        (hexadecimal && is_written_so).then_some(place).ok_or(NotAPlace)
    }
}

/// Something that happened in a vault. It names things and never quotes a document.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Event {
    /// Its place in the stream: what to send as `Last-Event-ID` to go on behind it.
    #[schema(examples("12-9f0c44aa"))]
    pub id: String,
    /// Its number, which its place begins with.
    #[serde(skip)]
    pub sequence: i64,
    /// What happened.
    pub kind: EventKind,
    /// When.
    pub time: DateTime<Utc>,
    /// The vault.
    #[schema(value_type = String)]
    pub vault_id: VaultId,
    /// The memory.
    #[schema(value_type = String)]
    pub memory_id: MemoryId,
    /// The version that was made.
    pub version: Option<i64>,
    /// That version's id.
    pub context_id: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// What made the version: `put`, `update`, `operations` and so on.
    pub source: Option<String>,
    /// The run it belongs to.
    pub update_id: Option<String>,
    /// More, by kind: of an update its `step`, with the `role` that was asked, or the `status` it ended with.
    #[schema(required)]
    pub details: Option<Value>,
}

impl Event {
    /// Its position.
    #[must_use]
    pub fn place(&self) -> Place {
        let (_, mark) = self.id.split_once('-').unwrap_or_default();
        Place {
            sequence: self.sequence,
            mark: mark.to_owned(),
        }
    }
}

/// The range of a vault's numbered events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamState {
    /// The newest event's position.
    pub last: Place,
    /// The number of the newest event that was purged; 0 if none was.
    pub purged: i64,
}

impl Storage {
    /// The range of a vault's numbered events; the beginning for a vault without events.
    ///
    /// # Errors
    /// Database errors.
    pub async fn stream_state(&self, vault: &VaultId) -> Result<StreamState, StorageError> {
        let row = sqlx::query!(
            "SELECT last_sequence, last_event_id, purged_sequence FROM event_streams WHERE vault_id = $1",
            vault.as_str(),
        )
        .fetch_optional(&mut self.reader_for(Class::Events).await?)
        .await?;
        Ok(match row {
            Some(row) => StreamState {
                last: Place::of(
                    row.last_sequence,
                    row.last_event_id.as_deref().unwrap_or_default(),
                ),
                purged: row.purged_sequence,
            },
            None => StreamState {
                last: Place::beginning(),
                purged: 0,
            },
        })
    }

    /// The number after which a client with this position continues and has missed nothing. `None` if its position was purged or
    /// is invalid: it must read the memories themselves, and continue after the newest event.
    ///
    /// # Errors
    /// Database errors.
    pub async fn resume_events(
        &self,
        vault: &VaultId,
        stream: &StreamState,
        place: &Place,
    ) -> Result<Option<i64>, StorageError> {
        if place.sequence == 0 {
            // "All retained events" misses nothing by definition.
            return Ok(Some(stream.purged));
        }
        if *place == stream.last {
            return Ok(Some(place.sequence));
        }
        let found = sqlx::query_scalar!(
            "SELECT event_id FROM events WHERE vault_id = $1 AND sequence = $2",
            vault.as_str(),
            place.sequence,
        )
        .fetch_optional(&mut self.reader_for(Class::Events).await?)
        .await?;
        let is_found = found.is_some_and(|id| Place::of(place.sequence, &id) == *place);
        Ok(is_found.then_some(place.sequence))
    }

    /// The numbered events of a vault after a number, in order, at most `limit`; optionally of one memory or of some
    /// kinds.
    ///
    /// # Errors
    /// Database errors.
    pub async fn events_after(
        &self,
        vault: &VaultId,
        sequence: i64,
        memory: Option<&str>,
        kinds: Option<&[String]>,
        limit: i64,
    ) -> Result<Vec<Event>, StorageError> {
        Ok(sqlx::query_as!(
            Event,
            r#"SELECT sequence || '-' || right(event_id, 8) AS "id!", sequence AS "sequence!", kind, created_at AS time,
                      vault_id, memory_id, version, context_id, actor_id AS actor, source, update_id, details
               FROM events
               WHERE vault_id = $1 AND sequence > $2 AND ($3::text IS NULL OR memory_id = $3)
                 AND ($4::text[] IS NULL OR kind = ANY ($4))
               ORDER BY sequence
               LIMIT $5"#,
            vault.as_str(),
            sequence,
            memory,
            kinds,
            limit,
        )
        .fetch_all(&mut self.reader_for(Class::Events).await?)
        .await?)
    }

    /// Events before a number, newest first; otherwise as [`Self::events_after`].
    ///
    /// # Errors
    /// Database errors.
    pub async fn events_before(
        &self,
        vault: &VaultId,
        sequence: i64,
        memory: Option<&str>,
        kinds: Option<&[String]>,
        limit: i64,
    ) -> Result<Vec<Event>, StorageError> {
        Ok(sqlx::query_as!(
            Event,
            r#"SELECT sequence || '-' || right(event_id, 8) AS "id!", sequence AS "sequence!", kind, created_at AS time,
                      vault_id, memory_id, version, context_id, actor_id AS actor, source, update_id, details
               FROM events
               WHERE vault_id = $1 AND sequence < $2 AND ($3::text IS NULL OR memory_id = $3)
                 AND ($4::text[] IS NULL OR kind = ANY ($4))
               ORDER BY sequence DESC
               LIMIT $5"#,
            vault.as_str(),
            sequence,
            memory,
            kinds,
            limit,
        )
        .fetch_all(&mut self.reader_for(Class::Events).await?)
        .await?)
    }
}

/// Maximum events numbered in one transaction.
const BATCH: i64 = 1_000;

impl Storage {
    /// Numbers all committed events of a vault that have no number. May run on any number of instances at the same
    /// time: a lock serialises them.
    ///
    /// # Errors
    /// Database errors.
    pub async fn sequence_events(&self, vault: &VaultId) -> Result<(), StorageError> {
        loop {
            let waiting = sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT 1 FROM events WHERE vault_id = $1 AND sequence IS NULL) AS "waiting!""#,
                vault.as_str(),
            )
            .fetch_one(&mut self.reader_for(Class::Events).await?)
            .await?;
            if !waiting || self.sequence_batch(vault).await? < BATCH {
                return Ok(());
            }
        }
    }

    async fn sequence_batch(&self, vault: &VaultId) -> Result<i64, StorageError> {
        self.transaction_for(
            Class::Events,
            "db.events.sequence",
            |mut transaction| async move {
                // Locks the row, which is made for the first events of a vault.
                let last = sqlx::query_scalar!(
                    "INSERT INTO event_streams (vault_id, last_sequence, purged_sequence) VALUES ($1, 0, 0)
                     ON CONFLICT (vault_id) DO UPDATE SET last_sequence = event_streams.last_sequence
                     RETURNING last_sequence",
                    vault.as_str(),
                )
                .fetch_one(&mut transaction)
                .await?;
                // A separate statement after the lock, so that it sees what the previous holder of the lock numbered.
                let numbered = sqlx::query!(
                    r#"WITH waiting AS (
                         SELECT event_id, row_number() OVER (ORDER BY insert_order, created_at, event_id) AS place
                         FROM events
                         WHERE vault_id = $1 AND sequence IS NULL
                         ORDER BY place
                         LIMIT $3
                       )
                       UPDATE events SET sequence = $2 + waiting.place
                       FROM waiting
                       WHERE events.vault_id = $1 AND events.event_id = waiting.event_id
                       RETURNING events.event_id, events.sequence AS "sequence!""#,
                    vault.as_str(),
                    last,
                    BATCH,
                )
                .fetch_all(&mut transaction)
                .await?;
                let Some(newest) = numbered.iter().max_by_key(|event| event.sequence) else {
                    return Ok((transaction.rollback().await?, 0));
                };
                sqlx::query!(
                    "UPDATE event_streams SET last_sequence = $2, last_event_id = $3 WHERE vault_id = $1",
                    vault.as_str(),
                    newest.sequence,
                    newest.event_id,
                )
                .execute(&mut transaction)
                .await?;
                Ok::<_, StorageError>((transaction, newest.sequence - last))
            },
        )
        .await
    }
}

/// Maximum events deleted in one transaction.
const PURGED_AT_ONCE: i64 = 500;

impl Storage {
    /// The next vault with events after `after` in the database's order; `None` after the last one. A single index step
    /// over all vaults.
    ///
    /// # Errors
    /// Database errors.
    pub async fn next_vault_with_events(
        &self,
        after: Option<&VaultId>,
    ) -> Result<Option<VaultId>, StorageError> {
        Ok(sqlx::query_scalar!(
            "SELECT vault_id FROM events
             WHERE vault_id > $1
             ORDER BY vault_id
             LIMIT 1",
            after.map_or("", VaultId::as_str),
        )
        .fetch_optional(&mut self.reader_for(Class::Maintenance).await?)
        .await?)
    }

    /// Deletes a vault's events up to the first that is not older than `before`, and returns their number. Events
    /// without a number stay. May run on any number of instances at the same time.
    ///
    /// # Errors
    /// Database errors.
    pub async fn purge_events(&self, vault: &VaultId, before: DateTime<Utc>) -> Result<u64, StorageError> {
        let mut total = 0;
        loop {
            let end = sqlx::query_scalar!(
                "SELECT max(sequence) FROM (
                     SELECT sequence, bool_and(created_at < $2) OVER (ORDER BY sequence) AS is_old
                     FROM (SELECT sequence, created_at FROM events
                           WHERE vault_id = $1 AND sequence > 0
                           ORDER BY sequence
                           LIMIT $3) AS oldest
                 ) AS oldest
                 WHERE is_old",
                vault.as_str(),
                before,
                PURGED_AT_ONCE,
            )
            .fetch_one(&mut self.reader_for(Class::Maintenance).await?)
            .await?;
            let Some(end) = end else { return Ok(total) };
            let delete = self.transaction_for(Class::Sweep, "db.events.purge", |mut transaction| async move {
                sqlx::query!(
                    "UPDATE event_streams SET purged_sequence = $2 WHERE vault_id = $1 AND purged_sequence < $2",
                    vault.as_str(),
                    end,
                )
                .execute(&mut transaction)
                .await?;
                let done = sqlx::query!(
                    "DELETE FROM events WHERE vault_id = $1 AND sequence <= $2",
                    vault.as_str(),
                    end,
                )
                .execute(&mut transaction)
                .await?;
                Ok::<_, StorageError>((transaction, done.rows_affected()))
            });
            total += delete.await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = Place::of(12, "019aa4e2-0000-7000-8000-0000deadbeef");
        assert_eq!(place.to_string(), "12-deadbeef");
        assert_eq!("12-deadbeef".parse(), Ok(place));
        assert_eq!("0".parse(), Ok(Place::beginning()));
        let all = "|1|-1|01-deadbeef|1-|1-dead|1-deadbeeg|x-deadbeef|99999999999999999999-deadbeef|\
                +1-deadbeef";
        for bad in all.split('|') {
            assert_eq!(bad.parse::<Place>(), Err(NotAPlace), "{bad}");
        }
    }
}
