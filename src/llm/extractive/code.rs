//! A text in a message that is stored verbatim.

use super::sentence::Voice;

/// How a text is separated from the prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In a code fence.
    Fence,
    /// In backticks on a line of its own.
    Line,
    /// A paragraph in quotation marks.
    Quotation,
    /// The text after a line that ends in a colon, up to the end of the message.
    Rest,
}

/// The content of a closed code fence, or of another separate text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) voice: Voice,
    pub(super) message: usize,
    /// The info string of the fence.
    pub(super) info: String,
    /// The last line of prose before it in the same message; may be empty.
    pub(super) lead: String,
    pub(super) form: Form,
    /// The exact text, without the fence's own indentation and without the last line end.
    pub(super) body: String,
}
