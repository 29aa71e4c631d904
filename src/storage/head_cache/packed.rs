//! A head in its cached form: compressed where that saves memory.
//!
//! Texts are compressed with LZ4 when they are cached, and decompressed for each reader: two microseconds for 4 kB.
//! Compressing a text some time after it was cached would leave holes that the allocator does not release.

use crate::domain::document::{Origins, Run};
use crate::domain::ids::RecordId;
use crate::storage::search::vectors::RecordOrigin;
use crate::storage::{Context, ContextMetadata};
use lz4_flex::block;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Larger texts are not compressed, because their readers share them: many concurrent readers would each need a copy.
const LARGEST: usize = 64 << 10;

/// The cached form of a head. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) enum PackedHead {
    /// Compressed.
    Compressed(Arc<Compressed>),
    /// Not compressed: too large, or compression saves nothing.
    Plain(CachedHead),
}

/// A head with a compressed text.
#[derive(Debug)]
pub(super) struct Compressed {
    metadata: ContextMetadata,
    /// The size of the uncompressed text in bytes.
    size: usize,
    text: Box<[u8]>,
    origins: Option<Arc<Origins>>,
    records: Arc<KnownRecords>,
}

impl PackedHead {
    pub(super) fn pack(head: CachedHead) -> Self {
        let text = &head.context.text;
        if text.len() > LARGEST {
            return Self::Plain(head);
        }
        let compressed = block::compress(text.as_bytes());
        if compressed.len() >= text.len() {
            return Self::Plain(head);
        }
        Self::Compressed(Arc::new(Compressed {
            metadata: head.context.metadata.clone(),
            size: text.len(),
            text: compressed.into_boxed_slice(),
            origins: head.origins,
            records: head.records,
        }))
    }

    /// Decompresses it; `None` if that fails, which only a hardware fault could cause.
    pub(super) fn unpack(self) -> Option<CachedHead> {
        let packed = match self {
            Self::Plain(head) => return Some(head),
            Self::Compressed(packed) => packed,
        };
        let text = block::decompress(&packed.text, packed.size).ok()?;
        let context = Context {
            metadata: packed.metadata.clone(),
            text: String::from_utf8(text).ok()?,
        };
        Some(CachedHead {
            context: Arc::new(context),
            origins: packed.origins.clone(),
            records: packed.records.clone(),
        })
    }

    /// Whether it is already this head, with at least the same additional data.
    pub(super) fn is(&self, head: &CachedHead) -> bool {
        let origins = match self {
            Self::Plain(head) => &head.origins,
            Self::Compressed(packed) => &packed.origins,
        };
        *self.metadata() == head.context.metadata && (origins.is_some() || head.origins.is_none())
    }

    pub(super) fn metadata(&self) -> &ContextMetadata {
        match self {
            Self::Plain(head) => &head.context.metadata,
            Self::Compressed(packed) => &packed.metadata,
        }
    }

    /// Bytes of its text and of the origins of its lines.
    pub(super) fn bytes(&self) -> usize {
        let (text, origins) = match self {
            Self::Plain(head) => (head.context.text.len(), &head.origins),
            Self::Compressed(packed) => (packed.text.len(), &packed.origins),
        };
        let runs = origins.as_ref().map_or(0, |origins| origins.runs().len());
        text + runs * size_of::<Run>()
    }
}

/// A newest version in the form that its readers and its writer use. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::storage) struct CachedHead {
    /// The version, without its log.
    pub(in crate::storage) context: Arc<Context>,
    /// The origins of its lines; `None` if not cached.
    pub(in crate::storage) origins: Option<Arc<Origins>>,
    /// The origins of some of its records.
    pub(in crate::storage) records: Arc<KnownRecords>,
}

impl CachedHead {
    /// A head without any record origins.
    pub(in crate::storage) fn new(context: Context, origins: Option<Origins>) -> Self {
        Self {
            context: Arc::new(context),
            origins: origins.map(Arc::new),
            records: Arc::default(),
        }
    }
}

/// Maximum number of records for each head.
const MOST: usize = 4;

/// Maximum bytes that an entry may quote; longer ones are not cached.
const MOST_QUOTED: usize = 256;

/// The cached records of one head.
#[derive(Debug, Default)]
pub(in crate::storage) struct KnownRecords(Mutex<Vec<(RecordId, RecordOrigin)>>);

impl KnownRecords {
    /// The origin of a record, if cached.
    pub(in crate::storage) fn get(&self, id: RecordId) -> Option<RecordOrigin> {
        let known = self.known();
        let (_, origin) = known.iter().find(|(known, _)| *known == id)?;
        Some(origin.clone())
    }

    /// Caches an origin, if the limits allow.
    pub(in crate::storage) fn keep(&self, id: RecordId, origin: &RecordOrigin) {
        let mut known = self.known();
        let quoted: usize = origin.evidence.iter().map(|evidence| evidence.quote.len()).sum();
        if known.len() < MOST && quoted <= MOST_QUOTED && known.iter().all(|(known, _)| *known != id) {
            known.push((id, origin.clone()));
        }
    }

    fn known(&self) -> MutexGuard<'_, Vec<(RecordId, RecordOrigin)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::head;
    use super::*;
    use proptest::prelude::*;

    fn is_compressed(head: &PackedHead) -> bool {
        matches!(head, PackedHead::Compressed(_))
    }

    #[test]
    fn a_text_is_compressed_where_that_saves_room_and_no_reader_shares_it() {
        let text = "- the pool starves under load: sort the batch by key\n".repeat(80);
        let packed = PackedHead::pack(head(7, &text));
        assert!(
            is_compressed(&packed) && packed.bytes() * 4 < text.len(),
            "{}",
            packed.bytes()
        );
        assert_eq!(packed.metadata().version, 7);
        for text in ["", "short", &text.repeat(20)] {
            let packed = PackedHead::pack(head(1, text));
            assert!(
                !is_compressed(&packed) && packed.bytes() == text.len(),
                "{}",
                text.len()
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_unpacked_is_what_was_packed(
            pieces in prop::collection::vec(prop_oneof![Just("a line of words\n".to_owned()), "\\PC{0,40}"], 0..200)
        ) {
            let head = head(1, &pieces.concat());
            let unpacked = PackedHead::pack(head.clone()).unpack().unwrap();
            prop_assert_eq!(unpacked.context, head.context);
        }
    }
}
