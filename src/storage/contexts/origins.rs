//! Where the lines of a version come from: `memory_contexts.line_origins`.

use crate::domain::document::{Origins, Run};
use crate::fair;
use crate::storage::contexts::{Context, ContextMetadata};
use crate::storage::{Class, Storage, StorageError};
use futures::TryStreamExt;
use std::collections::{BTreeSet, HashMap};

/// The longest origins that are kept, in runs of lines. Beyond it they would be as large as the text.
const MOST_RUNS: usize = 4_096;

/// A version with the versions that its lines come from.
#[derive(Debug, Clone)]
pub struct Blame {
    /// The version itself.
    pub context: Context,
    /// Which version brought each of its lines in.
    pub origins: Origins,
    /// Those versions by number, without their texts. One that is no longer kept is not there.
    pub versions: HashMap<i64, ContextMetadata>,
}

/// As they are kept: version, number of lines, version …; `None` if there are too many to keep.
pub(in crate::storage) fn to_stored(origins: &Origins) -> Option<Vec<i64>> {
    let runs = origins.runs();
    let lines = |run: &Run| i64::try_from(run.lines).ok();
    let pairs = runs.iter().map(|run| Some([run.version, lines(run)?]));
    (runs.len() <= MOST_RUNS).then(|| Some(pairs.collect::<Option<Vec<_>>>()?.concat()))?
}

/// As they were kept with a text; `None` if they are not about as many lines as it has, so that they are
/// derived again.
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
    /// Follows the lines of a version back to the versions that brought them in.
    ///
    /// # Errors
    /// Database errors.
    pub async fn blame(&self, context: Context) -> Result<Blame, StorageError> {
        let origins = self.origins(&context).await?;
        let versions: BTreeSet<_> = origins.runs().iter().map(|run| run.version).collect();
        let versions: Vec<_> = versions.into_iter().collect();
        let metadata = &context.metadata;
        let versions = self
            .versions(&metadata.vault_id, &metadata.memory_id, &versions)
            .await?
            .into_iter()
            .map(|version| (version.version, version))
            .collect();
        Ok(Blame {
            context,
            origins,
            versions,
        })
    }

    /// The origins kept with the version, or else derived from the nearest version before it that has some, or
    /// from the oldest one. The texts between are read one after another: two are in memory at a time. A version
    /// without a text, because it was taken out, is passed over.
    #[tracing::instrument(name = "db.memory_contexts.origins", skip_all)]
    async fn origins(&self, context: &Context) -> Result<Origins, StorageError> {
        let metadata = &context.metadata;
        let (vault, memory) = (metadata.vault_id.as_str(), metadata.memory_id.as_str());
        let nearest = sqlx::query!(
            r#"SELECT version, context, line_origins AS "line_origins!"
               FROM memory_contexts
               WHERE vault_id = $1 AND memory_id = $2 AND version <= $3 AND line_origins IS NOT NULL
                 AND redacted_at IS NULL
               ORDER BY version DESC
               LIMIT 1"#,
            vault,
            memory,
            metadata.version,
        )
        .fetch_optional(&mut *self.reader_for(Class::Search).await?)
        .await?;
        let known = nearest.and_then(|row| {
            let origins = from_stored(&row.line_origins, &row.context)?;
            Some((row.version, origins, row.context))
        });
        let (from, mut origins, mut before) = known.unwrap_or_default();
        if from == metadata.version {
            return Ok(origins);
        }
        let mut reader = self.reader_for(Class::Search).await?;
        let mut versions = sqlx::query!(
            "SELECT version, context
             FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version > $3 AND version <= $4 AND redacted_at IS NULL
             ORDER BY version",
            vault,
            memory,
            from,
            metadata.version,
        )
        .fetch(&mut *reader);
        while let Some(row) = versions.try_next().await? {
            let bytes = before.len() + row.context.len();
            origins = fair::on_cpu(bytes, || origins.after(&before, &row.context, row.version)).await;
            before = row.context;
        }
        drop(versions);
        // Given back before another is asked for.
        drop(reader);
        self.keep_origins(metadata, &origins).await;
        Ok(origins)
    }

    /// Keeps what was derived, so that it is derived once and the versions to come follow from it. Where it
    /// cannot be kept, as on a database that only reads, it is derived again the next time.
    #[tracing::instrument(name = "db.memory_contexts.keep_origins", skip_all)]
    async fn keep_origins(&self, version: &ContextMetadata, origins: &Origins) {
        let Some(stored) = to_stored(origins) else { return };
        if let Err(error) = self.try_keep_origins(version, &stored).await {
            tracing::debug!(%error, "the origins of lines could not be kept");
        }
    }

    async fn try_keep_origins(&self, version: &ContextMetadata, stored: &[i64]) -> Result<(), StorageError> {
        let keep = || {
            sqlx::query!(
                "UPDATE memory_contexts
                 SET line_origins = $4
                 WHERE vault_id = $1 AND memory_id = $2 AND version = $3 AND line_origins IS NULL",
                version.vault_id.as_str(),
                version.memory_id.as_str(),
                version.version,
                stored,
            )
        };
        self.execute("db.memory_contexts.keep_origins", keep).await?;
        Ok(())
    }
}
