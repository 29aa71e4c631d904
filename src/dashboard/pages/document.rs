//! A document as HTML: records as entries with their age and evidence, all other text as Markdown.

use crate::dashboard::excerpt::{fitting, weight};
use crate::dashboard::failure::Failure;
use crate::dashboard::markdown;
use crate::dashboard::visit::Visit;
use crate::domain::document::{Record, closing_fence, outline, record_ranges, records};
use crate::http::responses::RecordBody;
use axum::http::StatusCode;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of bytes of a document that become one piece of HTML.
const PIECE_BYTES: usize = 8_000;

/// Bytes of the tags of a record.
const ENTRY_BYTES: usize = 500;

/// What is known of the records of a document.
#[derive(Default)]
pub(super) struct About {
    /// The records that the service knows, by id.
    pub(super) known: HashMap<String, RecordBody>,
    /// Records added after this version are marked.
    pub(super) since: Option<i64>,
}

/// A page of a document.
pub(super) struct Document {
    pub(super) blocks: Vec<Block>,
    /// The byte offset of the next page.
    pub(super) next: Option<usize>,
}

/// Text between records, or records that follow each other.
pub(super) enum Block {
    /// HTML, in which the text of the document is escaped.
    Text(String),
    Records(Vec<Entry>),
}

/// A record, as the document says it.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) record: Record,
    pub(super) known: Option<RecordBody>,
    pub(super) is_new: bool,
}

enum Piece<'t> {
    Text(Cow<'t, str>),
    /// Text of a section in which each line has its own meaning.
    Lines(Cow<'t, str>),
    Record(Record),
}

impl Document {
    /// The page that begins at a byte offset.
    pub(super) fn of(text: &str, from: usize, mut about: About) -> Self {
        let mut above = 1;
        let pieces = pieces(text).into_iter().filter(|(start, _)| *start >= from);
        let blocks = pieces.filter_map(|(start, piece)| {
            let block = match piece {
                Piece::Text(text) | Piece::Lines(text) if text.trim().is_empty() => return None,
                Piece::Text(text) => Block::Text(markdown::render(&text, &mut above)),
                Piece::Lines(text) => Block::Text(markdown::render(&in_paragraphs(&text), &mut above)),
                Piece::Record(record) => Block::Records(vec![about.entry(record)]),
            };
            Some((start, block))
        });
        let (page, next) = fitting(blocks, |(_, block)| block.bytes());
        let mut blocks: Vec<Block> = Vec::new();
        for (_, block) in page {
            match (blocks.last_mut(), block) {
                (Some(Block::Records(list)), Block::Records(more)) => list.extend(more),
                (_, block) => blocks.push(block),
            }
        }
        Self {
            blocks,
            next: next.map(|(start, _)| start),
        }
    }
}

impl Block {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(html) => html.len(),
            Self::Records(entries) => entries.iter().map(Entry::bytes).sum(),
        }
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        let Record { label, reason, .. } = &self.record;
        let evidence = self.known.iter().flat_map(|known| &known.evidence);
        let quotes = evidence.map(|passage| passage.quote.as_str());
        let texts = label.iter().chain(reason).map(String::as_str).chain(quotes);
        ENTRY_BYTES + weight(&self.record.content) + texts.map(weight).sum::<usize>()
    }
}

impl About {
    fn entry(&mut self, record: Record) -> Entry {
        let id = record.id.to_string();
        let known = self.known.remove(&id);
        let is_new = |(known, since): (&RecordBody, i64)| known.created_version > since;
        Entry {
            is_new: known.as_ref().zip(self.since).is_some_and(is_new),
            known,
            id,
            record,
        }
    }
}

/// The records of a document and the text between them, in order, with their offsets.
fn pieces(text: &str) -> Vec<(usize, Piece<'_>)> {
    let mut whole: Vec<(Range<usize>, Option<Record>)> = Vec::new();
    for ((_, range), record) in record_ranges(text).into_iter().zip(records(text)) {
        whole.push((range, Some(record)));
    }
    for section in outline(text) {
        if section
            .managed
            .is_some_and(|managed| managed.record_kind().is_none())
        {
            whole.push((section.body, None));
        }
    }
    whole.sort_by_key(|(range, _)| range.start);
    let mut pieces = Vec::new();
    let mut at = 0;
    for (range, record) in whole {
        cut(&mut pieces, text, at..range.start, Piece::Text);
        at = range.end;
        match record {
            Some(record) => pieces.push((range.start, Piece::Record(record))),
            None => cut(&mut pieces, text, range, Piece::Lines),
        }
    }
    cut(&mut pieces, text, at..text.len(), Piece::Text);
    pieces
}

/// The lines of a section as paragraphs and lists, which Markdown would join.
fn in_paragraphs(text: &str) -> String {
    if text.contains("```") || text.contains("~~~") {
        return text.to_owned();
    }
    let mut apart = String::new();
    for line in text.lines() {
        if !line.starts_with([' ', '\t', '-', '*', '+']) {
            apart.push('\n');
        }
        apart.push_str(line);
        apart.push('\n');
    }
    apart
}

/// Splits a text at empty lines outside of code fences into pieces of limited size; a longer line is split. A fence that is open
/// where a piece ends begins the next one, too.
fn cut<'t>(
    pieces: &mut Vec<(usize, Piece<'t>)>,
    text: &'t str,
    range: Range<usize>,
    piece: fn(Cow<'t, str>) -> Piece<'t>,
) {
    let (mut at, mut fence) = (range.start, String::new());
    while at < range.end {
        let rest = &text[at..range.end];
        let length = if rest.len() <= PIECE_BYTES {
            rest.len()
        } else {
            length_of_piece(rest, !fence.is_empty())
        };
        let mut part = Cow::from(&rest[..length]);
        if !fence.is_empty() {
            part = Cow::from(fence + &part);
        }
        fence = closing_fence(&part).unwrap_or_default();
        pieces.push((at, piece(part)));
        at += length;
    }
}

fn length_of_piece(rest: &str, mut fenced: bool) -> usize {
    let window = &rest[..rest.floor_char_boundary(PIECE_BYTES)];
    let mut between = None;
    let mut any_line = None;
    let mut at = 0;
    for line in window.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        at += line.len();
        if line.ends_with('\n') {
            any_line = Some(at);
            if trimmed.trim_end().is_empty() && !fenced {
                between = Some(at);
            }
        }
    }
    between.or(any_line).unwrap_or(window.len())
}

/// The byte offset of the requested page: `?from=`.
pub(super) fn start(visit: &Visit, text: &str) -> Result<usize, Failure> {
    let Some(from) = visit.param("from") else {
        return Ok(0);
    };
    let place = from.parse().ok().filter(|place| text.is_char_boundary(*place));
    place.ok_or_else(|| {
        Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!(
                "from must be a byte of the document at which a character begins, at most {}",
                text.len()
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::filters;
    use crate::dashboard::layout::Page;
    use askama::Template;

    #[derive(Template)]
    #[template(
        source = "{% import \"macros.html\" as m %}{% include \"pages/document.html\" %}",
        ext = "html"
    )]
    struct View {
        page: Page,
        document: Document,
    }

    fn all(text: &str) -> (String, usize) {
        let (mut from, mut pages, mut whole) = (0, 0, String::new());
        loop {
            let document = Document::of(text, from, About::default());
            let next = document.next;
            let page = Page::plain("");
            let html = View { page, document }.render().unwrap();
            assert!(html.len() < 120_000, "{}", html.len());
            whole.push_str(&html);
            pages += 1;
            match next {
                Some(next) => {
                    assert!(next > from);
                    from = next;
                }
                None => return (whole, pages),
            }
        }
    }

    #[test]
    fn records_are_entries_and_all_else_is_markdown() {
        let text = "# Notes\n*a*\n\n# Key Learnings\nprose\n- KL-1 because <b>x</b>: one & <i>two</i>\n- KL-2 because y: three\n\n# End\n";
        let (html, pages) = all(text);
        assert_eq!(pages, 1);
        assert_eq!(html.matches("<li class=\"record\"").count(), 2, "{html}");
        assert_eq!(html.matches("<ul class=\"records\">").count(), 1, "{html}");
        assert!(html.contains("one &#38; &#60;i&#62;two&#60;/i&#62;"), "{html}");
        assert!(
            html.contains("<em>a</em>") && html.contains("<h2>End</h2>") && html.contains("<p>prose</p>")
        );
        assert!(!html.contains("<b>") && !html.contains("<i>"));
    }

    #[test]
    fn goal_blocker_and_progress_are_lines() {
        let text = "# Active Context\nGoal: one\nBlocker: none\n\n# Current Progress\nCompleted:\n  - a\n  - b\nIn Progress:\n  - c\n";
        let (html, _) = all(text);
        for part in [
            "<p>Goal: one</p>",
            "<p>Blocker: none</p>",
            "<p>In Progress:</p>",
            "<li>b</li>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn code_that_is_longer_than_a_piece_stays_code_and_what_follows_does_not() {
        let lines = format!("{}\n# no heading\n", "x".repeat(99)).repeat(200);
        for fence in ["```", "~~~~"] {
            let (html, _) = all(&format!(
                "# Notes\n{fence}sh\n{lines}{fence}\n**bold**\n\n# End\n"
            ));
            assert_eq!(html.matches("<h").count(), 2, "{html}");
            assert_eq!(html.matches("# no heading").count(), 200);
            assert!(html.contains("<strong>bold</strong>"), "{html}");
        }
    }

    #[test]
    fn a_long_document_goes_on_on_another_page_and_loses_nothing() {
        let line = "a".repeat(100_000);
        let (html, pages) = all(&line);
        assert!(pages >= 2);
        assert_eq!(html.matches('a').count(), line.len());
        let (html, _) = all(&"&<".repeat(50_000));
        assert_eq!(html.matches("&lt;").count(), 50_000);
        let paragraphs = "word word\n\n".repeat(9_000);
        assert_eq!(all(&paragraphs).0.matches("<p>").count(), 9_000);
        let many_bytes = "ñ漢🙂".repeat(9_000);
        assert_eq!(all(&many_bytes).0.matches("🙂").count(), 9_000);
    }
}
