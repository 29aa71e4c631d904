//! Builds search results: extracts, and where in the document they are.

use super::{Hit, SearchMatch};
use crate::domain::document::location_of;
use crate::domain::ids::{ContextId, VaultId};
use crate::domain::search::{Query, extract};
use crate::fair;
use crate::storage::{Class, Storage, StorageError};
use futures::TryStreamExt;

/// Extracts are taken from this many characters at the beginning of a document.
const EXTRACT_FROM_CHARS: i32 = 200_000;

impl Storage {
    /// The results for these matches, in the same order; without memories that no longer exist.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memory_contexts.shown", skip_all, fields(documents = found.len()))]
    pub async fn search_results(
        &self,
        vault: &VaultId,
        query: &Query,
        found: &[SearchMatch],
    ) -> Result<Vec<Hit>, StorageError> {
        let memories: Vec<&str> = found.iter().map(|found| found.memory.as_str()).collect();
        let versions: Vec<i64> = found.iter().map(|found| found.version).collect();
        let mut hits = Vec::with_capacity(found.len());
        let mut reader = self.reader_for(Class::Search).await?;
        // Reads one text at a time, so that a page of large documents is not in memory as a whole. Characters are
        // counted only if a text may exceed the limit.
        let mut rows = sqlx::query!(
            r#"SELECT shown.place AS "place!", c.context_id AS "context_id: ContextId", c.creation_time,
                      CASE WHEN c.bytes <= $4 THEN c.context ELSE left(c.context, $4) END AS "context!"
               FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS shown (memory_id, version, place)
               JOIN memory_contexts c ON c.memory_id = shown.memory_id AND c.version = shown.version
               WHERE c.vault_id = $1
               ORDER BY shown.place"#,
            vault.as_str(),
            &memories as &[&str],
            &versions,
            EXTRACT_FROM_CHARS,
        )
        .fetch(&mut reader);
        while let Some(row) = rows.try_next().await? {
            let place = usize::try_from(row.place - 1).unwrap_or(usize::MAX);
            let Some(found) = found.get(place) else { continue };
            let look = || {
                let (extract, byte) = extract(&row.context, query);
                let location = byte.map(|byte| location_of(&row.context, byte));
                (extract, location.unwrap_or_default())
            };
            let (extract, (record, section)) = fair::on_cpu(row.context.len(), look).await;
            hits.push(Hit {
                memory: found.memory.clone(),
                version: found.version,
                context_id: row.context_id,
                creation_time: row.creation_time,
                rank: found.rank,
                extract,
                by_text: true,
                score: None,
                record,
                section,
                origin: None,
            });
        }
        Ok(hits)
    }
}
