//! A head as the cache holds it: compressed where that saves room.
//!
//! Texts are compressed with LZ4 when they are put in, and made anew for each reader: two microseconds for four
//! kilobytes. What is compressed only after it was kept leaves the allocator with holes that it does not give back.

use super::cached_head::CachedHead;
use super::known_records::KnownRecords;
use crate::domain::document::{Origins, Run};
use crate::storage::{Context, ContextMetadata};
use lz4_flex::block;
use std::sync::Arc;

/// A larger text is held as it is, since its readers share it: many at once would each have a copy.
const LARGEST: usize = 64 << 10;

/// What the cache holds of a memory. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) enum PackedHead {
    /// Compressed.
    Compressed(Arc<Compressed>),
    /// As readers get it: too large, or no smaller when it is compressed.
    Plain(CachedHead),
}

/// A head whose text is compressed.
#[derive(Debug)]
pub(super) struct Compressed {
    metadata: ContextMetadata,
    /// The size of the text.
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

    /// As readers get it; `None` if it cannot be read, which nothing but a fault of the machine explains.
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

    /// Whether it is this head already, and tells as much of it.
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

    /// How many bytes its text and the origins of its lines take.
    pub(super) fn bytes(&self) -> usize {
        let (text, origins) = match self {
            Self::Plain(head) => (head.context.text.len(), &head.origins),
            Self::Compressed(packed) => (packed.text.len(), &packed.origins),
        };
        let runs = origins.as_ref().map_or(0, |origins| origins.runs().len());
        text + runs * size_of::<Run>()
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
        let said = "- the pool starves under load: sort the batch by key\n".repeat(80);
        let packed = PackedHead::pack(head(7, &said));
        assert!(
            is_compressed(&packed) && packed.bytes() * 4 < said.len(),
            "{}",
            packed.bytes()
        );
        assert_eq!(packed.metadata().version, 7);
        for text in ["", "short", &said.repeat(20)] {
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
