//! Quotations of the input: short, exact, and without credentials.

use super::passage::{Evidence, Origin};
use crate::domain::text::{MASK, secrets};
use std::ops::Range;

/// Maximum length of a quotation in bytes.
const QUOTE_BYTES: usize = 200;

/// Number of bytes around a quotation that are searched for credentials.
const CONTEXT_BYTES: usize = 400;

/// Quotes a passage without surrounding blanks. From a longer passage it quotes the beginning or, if the
/// relevant word at `at` is later, the text from that word on.
///
/// Credentials are masked; `start` and `end` still refer to the original text.
pub(super) fn quote_of(origin: Origin, text: &str, range: Range<usize>, at: usize) -> Evidence {
    let passage = &text[range.clone()];
    let mut start = range.start + (passage.len() - passage.trim_start().len());
    let end = range.start + passage.trim_end().len();
    if end.saturating_sub(start) > QUOTE_BYTES && at >= start + QUOTE_BYTES * 3 / 4 {
        start = text.floor_char_boundary(at);
    }
    let start = start.min(end);
    let end = text.floor_char_boundary(end.min(start + QUOTE_BYTES)).max(start);
    // A credential that begins before or ends after the quotation must be detected too.
    let near = text.floor_char_boundary(start.saturating_sub(CONTEXT_BYTES))
        ..text.ceil_char_boundary((end + CONTEXT_BYTES).min(text.len()));
    let mut quote = String::with_capacity(end - start);
    let mut from = start;
    for secret in secrets(&text[near.clone()]) {
        let secret = near.start + secret.start..near.start + secret.end;
        if secret.end > from && secret.start < end {
            quote.push_str(&text[from..secret.start.max(from)]);
            quote.push_str(MASK);
            from = secret.end.min(end);
        }
    }
    quote.push_str(&text[from..end]);
    // A mask may be longer than the credential.
    quote.truncate(quote.floor_char_boundary(QUOTE_BYTES));
    Evidence {
        origin,
        start,
        end,
        quote,
        record: None,
    }
}
