//! The origins of a version's lines: `memory_contexts.line_origins`.

use crate::domain::document::{Origins, Run};
use crate::fair;
use crate::storage::contexts::{Context, ContextMetadata};
use crate::storage::{Class, Storage, StorageError};
use futures::TryStreamExt;
use std::collections::{BTreeSet, HashMap};

/// Maximum number of runs of lines that are stored. More would be as large as the text.
const MOST_RUNS: usize = 4_096;

/// A version with the origins of its lines.
#[derive(Debug, Clone)]
pub struct Blame {
    /// The version itself.
    pub context: Context,
    /// The version that introduced each line.
    pub origins: Origins,
    /// Those versions by number, without texts. Pruned versions are missing.
    pub versions: HashMap<i64, ContextMetadata>,
}

/// The stored form: version, number of lines, version …; `None` if there are too many.
pub(in crate::storage) fn to_stored(origins: &Origins) -> Option<Vec<i64>> {
    let runs = origins.runs();
    let lines = |run: &Run| i64::try_from(run.lines).ok();
    let pairs = runs.iter().map(|run| Some([run.version, lines(run)?]));
    (runs.len() <= MOST_RUNS).then(|| Some(pairs.collect::<Option<Vec<_>>>()?.concat()))?
}

/// Parses the stored form; `None` if the number of lines does not match the text, so that the origins are computed
/// again.
pub(in crate::storage) fn from_stored(stored: &[i64], text: &str) -> Option<Origins> {
    let run = |pair: &[i64]| {
        let lines = usize::try_from(*pair.get(1)?).ok()?;
        let version = *pair.first()?;
        Some(Run { version, lines })
    };
    let runs = stored.chunks(2).map(run).collect::<Option<Vec<_>>>()?;
    let origins = Origins::from_runs(runs);
    (origins.lines() == Origins::of_first(text, 0).lines()).then_some(origins)
}

impl Storage {
    /// Finds the version that introduced each line of a version.
    ///
    /// # Errors
    /// Database errors.
    pub async fn blame(&self, context: Context) -> Result<Blame, StorageError> {
        let origins = self.origins(&context).await?;
        let versions: BTreeSet<_> = origins.runs().iter().map(|run| run.version).collect();
        let versions: Vec<_> = versions.into_iter().collect();
        let metadata = &context.metadata;
        let of = (&metadata.vault_id, &metadata.memory_id);
        let versions = self.metadata(of, Some(&versions), None, i64::MAX).await?;
        let versions = versions
            .into_iter()
            .map(|version| (version.version, version))
            .collect();
        Ok(Blame {
            context,
            origins,
            versions,
        })
    }

    /// The stored origins of the version. If there are none, they are computed from the nearest earlier version that
    /// has some, or from the oldest version. The texts in between are read one after another, at most two in memory.
    /// Redacted versions are skipped.
    async fn origins(&self, context: &Context) -> Result<Origins, StorageError> {
        let metadata = &context.metadata;
        let (vault, memory) = (metadata.vault_id.as_str(), metadata.memory_id.as_str());
        let mut reader = self.reader_for(Class::Search).await?;
        let mut versions = sqlx::query!(
            "SELECT version, context, line_origins FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version <= $3 AND redacted_at IS NULL
               AND version >= COALESCE((
                       SELECT max(version) FROM memory_contexts
                       WHERE vault_id = $1 AND memory_id = $2 AND version <= $3 AND redacted_at IS NULL
                         AND line_origins IS NOT NULL
                   ), 0)
             ORDER BY version",
            vault,
            memory,
            metadata.version,
        )
        .fetch(&mut reader);
        let (mut origins, mut before, mut is_stored) = (Origins::default(), String::new(), false);
        while let Some(row) = versions.try_next().await? {
            let stored = row.line_origins;
            let stored = stored.and_then(|stored| from_stored(&stored, &row.context));
            is_stored = stored.is_some();
            origins = match stored {
                Some(stored) => stored,
                None => {
                    let bytes = before.len() + row.context.len();
                    fair::on_cpu(bytes, || origins.after(&before, &row.context, row.version)).await
                }
            };
            before = row.context;
        }
        drop(versions);
        // Released before another connection is acquired.
        drop(reader);
        if !is_stored {
            self.keep_origins(metadata, &origins).await;
        }
        Ok(origins)
    }

    /// Stores computed origins: later versions are saved without theirs where those of the newest version are unknown. If that
    /// fails, as on a read-only database, they are computed again next time.
    async fn keep_origins(&self, version: &ContextMetadata, origins: &Origins) {
        let Some(stored) = to_stored(origins) else { return };
        let keep = || {
            sqlx::query!(
                "UPDATE memory_contexts
                 SET line_origins = $4
                 WHERE vault_id = $1 AND memory_id = $2 AND version = $3 AND line_origins IS NULL",
                version.vault_id.as_str(),
                version.memory_id.as_str(),
                version.version,
                &stored,
            )
        };
        let kept = self.execute(Class::Write, "db.memory_contexts.keep_origins", keep);
        if let Err(error) = kept.await {
            tracing::debug!(%error, "the origins of lines could not be kept");
        }
    }
}
