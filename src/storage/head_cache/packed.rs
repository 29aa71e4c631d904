//! A head in its cached form: its text is compressed where that saves memory.
//!
//! Texts are compressed with LZ4 when they are cached and decompressed for each reader, which takes two microseconds for
//! 4 kB: the same bytes hold half as many documents again.

use super::CachedHead;
use crate::storage::{Context, ContextMetadata};
use lz4_flex::block;
use std::sync::Arc;

/// Larger texts are not compressed, because their readers share them: many concurrent readers would each need a copy.
const LARGEST: usize = 64 << 10;

/// The cached form of a head. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct PackedHead {
    /// The head; its text is empty if it is compressed.
    head: CachedHead,
    /// The compressed text, behind its size.
    compressed: Option<Arc<[u8]>>,
}

impl PackedHead {
    pub(super) fn pack(mut head: CachedHead) -> Self {
        let text = &head.context.text;
        let compressed = (text.len() <= LARGEST)
            .then(|| block::compress_prepend_size(text.as_bytes()))
            .filter(|compressed| compressed.len() < text.len());
        if compressed.is_some() {
            head.context = with_text(&head, String::new());
        }
        Self {
            head,
            compressed: compressed.map(Arc::from),
        }
    }

    /// Decompresses it; `None` if that fails, which only a hardware fault could cause.
    pub(super) fn unpack(mut self) -> Option<CachedHead> {
        if let Some(compressed) = self.compressed {
            let text = block::decompress_size_prepended(&compressed).ok()?;
            self.head.context = with_text(&self.head, String::from_utf8(text).ok()?);
        }
        Some(self.head)
    }

    /// Whether it is already this head, with at least the same additional data.
    pub(super) fn is(&self, head: &CachedHead) -> bool {
        self.metadata() == head.metadata() && (self.head.origins.is_some() || head.origins.is_none())
    }

    pub(super) fn metadata(&self) -> &ContextMetadata {
        self.head.metadata()
    }

    /// Bytes of its text in this form and of the origins of its lines.
    pub(super) fn bytes(&self) -> usize {
        self.head.bytes() + self.compressed.as_ref().map_or(0, |text| text.len())
    }
}

/// The context of a head, with another text.
fn with_text(head: &CachedHead, text: String) -> Arc<Context> {
    Arc::new(Context {
        metadata: head.metadata().clone(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::head;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_compressed_where_that_saves_memory_and_no_reader_shares_it() {
        let text = "- the pool starves under load: sort the batch by key\n".repeat(80);
        let packed = PackedHead::pack(head(7, &text));
        assert!(packed.bytes() * 4 < text.len(), "{}", packed.bytes());
        assert_eq!(packed.metadata().version, 7);
        for text in ["", "short", &text.repeat(20)] {
            let packed = PackedHead::pack(head(1, text));
            assert_eq!(packed.bytes(), text.len());
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
