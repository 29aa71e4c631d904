//! Search by meaning: `search_vectors`, written by the indexer behind that of full text, read by searches.
//!
//! Which memories have still to be embedded stands in `memories.embedded_version`, which follows `indexed_version`.
//! Nothing here is text: a passage is told by its hash, and found again in what its memory says when it is looked for.
//! So whatever is archived, redacted or deleted is so for searches in the same moment.

mod nearest;
mod origins;
mod pending;
mod record_origin;
mod save;
mod sources;
mod spaces;

pub use nearest::{Near, Nearest, PassageFilter};
pub use pending::Progress;
pub use record_origin::RecordOrigin;
pub use save::{Kept, Saved};
pub use sources::{SourceRecord, Sources};
pub use spaces::{Space, SpaceSettings, Spaces};

pub(in crate::storage) use save::forget_vectors;

use crate::domain::ids::{RecordId, RecordKind};

/// How many bytes the hash of a passage takes.
const HASH_BYTES: usize = size_of::<crate::domain::search::PassageHash>();

/// One byte a passage: its record's kind from 1 on, 0 for free text; whether the record was archived when it was
/// embedded; and whether the model refused it, so that it has no vector.
const KIND: u8 = 0b0000_0111;
const ARCHIVED: u8 = 0b1000_0000;
const REFUSED: u8 = 0b0100_0000;

fn kind_flag(kind: Option<RecordKind>) -> u8 {
    match kind {
        None => 0,
        Some(RecordKind::Learning) => 1,
        Some(RecordKind::Verbatim) => 2,
        Some(RecordKind::Task) => 3,
        Some(RecordKind::Decision) => 4,
    }
}

/// The record that a flag and a number stand for.
fn record_of(flag: u8, number: i64) -> Option<RecordId> {
    let kinds = RecordKind::ALL.into_iter();
    let mut of_flag = kinds.filter(|kind| kind_flag(Some(*kind)) == flag & KIND);
    of_flag.next().map(|kind| RecordId::new(kind, number))
}
