//! A text of a message that is kept as it stands.

use super::sentence::Voice;

/// How a piece of text stands apart from what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In a fence.
    Fence,
    /// In backticks on a line of its own.
    Line,
    /// A paragraph in quotation marks.
    Quotation,
    /// What stands behind a line that ends in a colon, up to the end of the message.
    Rest,
}

/// The inside of a closed code fence, or another text that stands apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) voice: Voice,
    pub(super) message: usize,
    /// What stands behind the opening fence.
    pub(super) info: String,
    /// The last line of prose before it in the same message; may be empty.
    pub(super) lead: String,
    pub(super) form: Form,
    /// Byte for byte, without the fence's own indentation and without the last line end.
    pub(super) body: String,
}
