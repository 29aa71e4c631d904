//! `working-memory embeddings`: shows the state of the index for searches by meaning, and rebuilds it.
#![expect(clippy::print_stdout, reason = "a command line tells its user what it found")]

use super::offline::{Access, on_database};
use crate::storage::Storage;
use clap::{Args, Subcommand};
use serde_json::json;
use std::error::Error;
use std::path::PathBuf;

/// Arguments of `embeddings`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the folder,
/// also while a service runs it.
#[derive(Debug, Args)]
pub struct Embeddings {
    #[command(subcommand)]
    command: EmbeddingsCommand,
    /// Read this file instead of `working-memory.toml`.
    #[arg(long, global = true, value_name = "FILE", env = "WORKING_MEMORY_CONFIG")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum EmbeddingsCommand {
    /// Show for which models there are vectors, and how many memories have none yet.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a running service embed every memory again: texts that the model rejected are sent again, existing vectors
    /// are kept.
    Rebuild,
}

impl Embeddings {
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        let access = match self.command {
            EmbeddingsCommand::Status { .. } => Access::Read,
            EmbeddingsCommand::Rebuild => Access::Write,
        };
        let work = async |storage: &Storage| match self.command {
            EmbeddingsCommand::Status { json } => status(storage, json).await,
            EmbeddingsCommand::Rebuild => rebuild(storage).await,
        };
        on_database(self.config.as_deref(), access, Some("stopped"), work).await
    }
}

async fn status(storage: &Storage, as_json: bool) -> Result<(), Box<dyn Error>> {
    let spaces = storage.embedding_spaces().await?;
    let answering = spaces.answering().map(|space| space.id.clone());
    let mut all = Vec::new();
    for (index, space) in spaces.0.iter().enumerate() {
        let progress = storage.embedding_progress(&space.id).await?;
        let settings = &space.settings;
        let is_answering = answering.as_ref() == Some(&space.id);
        if as_json {
            all.push(json!({
                "model": settings.model,
                "dimensions": settings.dimensions,
                "document_prefix": settings.document_prefix,
                "query_prefix": settings.query_prefix,
                "activated_at": space.activated_at,
                "ready_at": space.ready_at,
                "current": index == 0,
                "answering": is_answering,
                "passages": progress.passages,
                "refused": progress.refused,
                "memories": progress.memories,
                "pending": if index == 0 { Some(progress.pending) } else { None },
            }));
            continue;
        }
        let state = match (index == 0, is_answering) {
            (true, true) => "embeds and answers",
            (true, false) => "is being built; queries use the previous one until it is complete",
            (false, true) => "answers",
            (false, false) => "left over",
        };
        println!("{} ({} dimensions): {state}", settings.model, settings.dimensions);
        println!(
            "  {} passages, {} rejected by the model",
            progress.passages, progress.refused
        );
        if index == 0 {
            println!("  {} of {} memories wait", progress.pending, progress.memories);
        }
    }
    if as_json {
        println!("{}", json!({"spaces": all}));
    } else if spaces.0.is_empty() {
        println!("no embeddings: set embeddings.base_url and embeddings.model, and start the service");
    }
    Ok(())
}

async fn rebuild(storage: &Storage) -> Result<(), Box<dyn Error>> {
    if !storage.rebuild_embeddings().await? {
        return Err(
            "there are no embeddings: set embeddings.base_url and embeddings.model, and start the service"
                .into(),
        );
    }
    println!(
        "all memories are marked; a running service embeds them again (working-memory embeddings status)"
    );
    Ok(())
}
