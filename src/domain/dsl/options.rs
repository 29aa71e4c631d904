//! What is forgiven when an answer is read.

/// What is forgiven: each leniency that real models need, by name. All are on by default and off in
/// [`Options::strict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Text before the first header, between items, and after the last item. Where it is off, each such
    /// line is an `unknown_header`: it stands where a header or an item has to.
    pub text_around: bool,
    /// A code fence around the whole answer, or around each section.
    pub fence_around_answer: bool,
    /// Headers in bold, in backticks, or as Markdown headings.
    pub decorated_headers: bool,
    /// Headers in another case.
    pub header_case: bool,
    /// Headers with a blank or dash for the underscore, and the other way round.
    pub header_blanks: bool,
    /// Headers with the colon outside of their decoration, or without one.
    pub colon_placement: bool,
    /// `*`, `•`, `1.` and `1)` as bullets.
    pub other_bullets: bool,
    /// Any indentation, down to none. Where it is off, section headers stand in column 0, list headers
    /// in column 2, bullets in column 4.
    pub any_indentation: bool,
    /// Ids written `[KL-3]`, `**KL-3**`, `` `KL-3` `` or `kl-3`; `KL-1: because`, `because:`, and
    /// several ids in one item.
    pub decorated_ids: bool,
    /// An item behind its list header on the same line, and additions of a section without a list header.
    /// An archiving always needs its `ARCHIVE`.
    pub missing_list_headers: bool,
    /// Not a leniency: the model stopped at its token limit, so the last item is not trusted.
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
    /// Forgives nothing: only the canonical form of [`print()`](super::print()) is read.
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
