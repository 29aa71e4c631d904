//! Semantic search: `search_vectors`, written by the embedding task after full-text indexing, and read by searches.
//!
//! `memories.embedded_version`, which follows `indexed_version`, tells which memories must still be embedded. No text
//! is stored here: a passage is identified by its hash and looked up in its memory at search time. So archiving,
//! redaction and deletion take effect on searches at once.

mod nearest;
mod save;
mod sources;
mod spaces;

pub use nearest::{Near, Nearest, PassageFilter};
pub use save::StoredVector;
pub use sources::{RecordOrigin, Sources};
pub use spaces::{Progress, Space, SpaceSettings, Spaces};

pub(in crate::storage) use save::forget_vectors;

use crate::domain::ids::{RecordId, RecordKind};

/// Length of a passage's hash in bytes.
const HASH_BYTES: usize = size_of::<crate::domain::search::PassageHash>();

/// One byte for each passage: the kind of its record from 1 on, 0 for free text; whether the record was archived when
/// it was embedded; and whether the model refused it, so that it has no vector.
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

/// The record identified by a flag byte and a number.
fn record_of(flag: u8, number: i64) -> Option<RecordId> {
    let kinds = RecordKind::ALL.into_iter();
    let mut of_flag = kinds.filter(|kind| kind_flag(Some(*kind)) == flag & KIND);
    of_flag.next().map(|kind| RecordId::new(kind, number))
}
