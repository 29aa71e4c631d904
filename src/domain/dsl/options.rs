//! Leniencies of the parser.

/// The leniencies that real models need, by name. All are on by default and off in [`Options::strict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Text before the first header, between items, and after the last item. If off, each such line is an
    /// `unknown_header`, because a header or an item is expected there.
    pub text_around: bool,
    /// A code fence around the whole answer, or around each section.
    pub fence_around_answer: bool,
    /// Headers in bold, in backticks, or as Markdown headings.
    pub decorated_headers: bool,
    /// Headers in another case.
    pub header_case: bool,
    /// Headers with a blank or dash for the underscore, and the other way round.
    pub header_blanks: bool,
    /// Headers with the colon outside their decoration, or without a colon.
    pub colon_placement: bool,
    /// `*`, `•`, `1.` and `1)` as bullets.
    pub other_bullets: bool,
    /// Any indentation, including none. If off, section headers must be in column 0, list headers in column
    /// 2, bullets in column 4.
    pub any_indentation: bool,
    /// Ids written as `[KL-3]`, `**KL-3**`, `` `KL-3` `` or `kl-3`; `KL-1: because`, `because:`, and several
    /// ids in one item.
    pub decorated_ids: bool,
    /// An item on the same line as its list header, and additions without a list header. An archiving always
    /// needs its `ARCHIVE`.
    pub missing_list_headers: bool,
    /// Not a leniency: the model stopped at its token limit, so the last item is discarded.
    pub stopped_at_limit: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            text_around: true,
            fence_around_answer: true,
            decorated_headers: true,
            header_case: true,
            header_blanks: true,
            colon_placement: true,
            other_bullets: true,
            any_indentation: true,
            decorated_ids: true,
            missing_list_headers: true,
            stopped_at_limit: false,
        }
    }
}

impl Options {
    /// All leniencies off: only the canonical form of [`print()`](super::print()) is accepted.
    #[must_use]
    pub fn strict() -> Self {
        Self {
            text_around: false,
            fence_around_answer: false,
            decorated_headers: false,
            header_case: false,
            header_blanks: false,
            colon_placement: false,
            other_bullets: false,
            any_indentation: false,
            decorated_ids: false,
            missing_list_headers: false,
            stopped_at_limit: false,
        }
    }
}
