//! A sentence in the form in which cues are searched: lower case, single blanks around words and marks, with
//! code and quotations masked.

/// Replaces a piece of code or a short quotation.
pub(super) const MASK: char = '§';
/// A quotation with more words than this is somebody else's statement, not a name.
const NAME_WORDS: usize = 3;
/// The same limit in characters, for languages without blanks.
const NAME_CHARS: usize = 14;
/// Maximum distance in bytes to the end of a quotation, so that many unclosed ones keep the time linear. An
/// apostrophe rarely opens a quotation.
const QUOTED_WITHIN: usize = 2_000;
const QUOTED_BY_APOSTROPHES_WITHIN: usize = 300;

/// A sentence and its folded form.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The original text on one line.
    pub(super) text: String,
    /// The folded form: begins and ends with a blank; words and marks are separated by single blanks. Runs of
    /// Chinese and Japanese characters are unchanged, since they have no blanks.
    pub(super) folded: String,
    /// The offset in `text` of each byte of `folded`.
    origin: Vec<u32>,
    /// Whether it contains a long quotation of somebody else.
    pub(super) quotes: bool,
}

impl Line {
    pub(super) fn of(text: &str) -> Self {
        let mut quotes = false;
        let mut line = Folding {
            folded: String::with_capacity(text.len() + 8),
            origin: Some(Vec::with_capacity(text.len() + 8)),
        };
        line.push(' ', 0);
        let mut skip_to = 0;
        let mut previous = ' ';
        for (at, c) in text.char_indices() {
            if at < skip_to {
                continue;
            }
            if let Some(inside) = quotation(&text[at..], c, previous) {
                let quoted = &text[at + c.len_utf8()..at + c.len_utf8() + inside];
                quotes |= c != '`' && is_long(quoted);
                line.blank(at);
                line.push(MASK, at);
                let close = text[at + c.len_utf8() + inside..].chars().next();
                skip_to = at + c.len_utf8() + inside + close.map_or(0, char::len_utf8);
                line.blank(skip_to);
                previous = ' ';
                continue;
            }
            let next = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
            line.fold(narrow(c), at, previous, narrow(next));
            previous = c;
        }
        line.blank(text.len());
        Self {
            text: text.to_owned(),
            folded: line.folded,
            origin: line.origin.unwrap_or_default(),
            quotes,
        }
    }

    /// The original text after an offset of the folded form.
    pub(super) fn after(&self, folded_at: usize) -> &str {
        &self.text[self.place(folded_at)..]
    }

    /// The original text between two offsets of the folded form.
    pub(super) fn between(&self, start: usize, end: usize) -> &str {
        let (from, to) = (self.place(start), self.place(end));
        &self.text[from..to.max(from)]
    }

    fn place(&self, folded_at: usize) -> usize {
        let at = self
            .origin
            .get(folded_at)
            .and_then(|at| usize::try_from(*at).ok());
        at.unwrap_or(self.text.len()).min(self.text.len())
    }

    /// The folded words and marks with their offsets.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut at = 0;
        self.folded.split(' ').filter_map(move |word| {
            let start = at;
            at += word.len() + 1;
            (!word.is_empty()).then_some((start, word))
        })
    }

    pub(super) fn is_question(&self) -> bool {
        let end = self.folded.trim_end_matches([' ', ')', '"', '」', MASK]);
        end.ends_with('?')
            || end.trim_end_matches(['。', ' ']).ends_with("ですか")
            || end.trim_end_matches(['。', ' ']).ends_with("ますか")
            || end.trim_end_matches(['。', ' ']).ends_with("でしょうか")
            || end.trim_end_matches(['。', ' ']).ends_with("ませんか")
    }
}

/// The folded form of a text, with code and quotations not masked.
pub(super) fn folded_through(text: &str) -> String {
    let mut folding = Folding {
        folded: String::with_capacity(text.len() + 8),
        origin: None,
    };
    folding.push(' ', 0);
    let mut previous = ' ';
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let c = match c {
            '`' | '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」' | '『' | '』' => ' ',
            c => c,
        };
        let next = rest.clone().next().unwrap_or(' ');
        folding.fold(narrow(c), 0, previous, narrow(next));
        previous = c;
    }
    folding.blank(0);
    folding.folded
}

/// A folded text being built.
struct Folding {
    folded: String,
    /// The offset of each byte, if requested.
    origin: Option<Vec<u32>>,
}

impl Folding {
    fn fold(&mut self, c: char, at: usize, previous: char, next: char) {
        if c.is_ascii_alphanumeric() {
            self.push(c.to_ascii_lowercase(), at);
        } else if c.is_whitespace() || c.is_control() {
            self.blank(at);
        } else if c.is_alphanumeric() || c == '_' {
            for small in c.to_lowercase() {
                self.push(small, at);
            }
        } else if matches!(c, '\'' | '’') && previous.is_alphanumeric() {
            self.push('\'', at);
        } else if "-./:+@#&,".contains(c)
            && (previous.is_ascii_alphanumeric() || (previous.is_alphanumeric() && c == '-'))
            && next.is_alphanumeric()
            && (!matches!(c, ',' | ':') || (previous.is_ascii_digit() && next.is_ascii_digit()))
        {
            self.push(c, at);
        } else {
            self.blank(at);
            self.push(c, at);
            self.blank(at + c.len_utf8());
        }
    }

    fn push(&mut self, c: char, at: usize) {
        self.folded.push(c);
        if let Some(origin) = &mut self.origin {
            origin.resize(self.folded.len(), u32::try_from(at).unwrap_or(u32::MAX));
        }
    }

    fn blank(&mut self, at: usize) {
        if !self.folded.ends_with(' ') {
            self.push(' ', at);
        }
    }
}

/// Converts full-width letters, digits and marks to their normal forms.
fn narrow(c: char) -> char {
    match c {
        '！'..='～' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        '\u{3000}' => ' ',
        '‐' | '‑' => '-',
        _ => c,
    }
}

/// Length in bytes of a quotation that begins here and is closed.
fn quotation(text: &str, open: char, previous: char) -> Option<usize> {
    let closing: &[char] = match open {
        '`' => &['`'],
        '"' => &['"'],
        '“' => &['”'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '「' => &['」'],
        '『' => &['』'],
        '‘' | '‚' => &['’', '‘'],
        '\'' => &['\''],
        _ => return None,
    };
    let inside = &text[open.len_utf8()..];
    let within = match open {
        '\'' | '‘' | '‚' => QUOTED_BY_APOSTROPHES_WITHIN,
        _ => QUOTED_WITHIN,
    };
    let inside = &inside[..inside.floor_char_boundary(within.min(inside.len()))];
    if matches!(open, '\'' | '‘') {
        let opens =
            (previous.is_whitespace() || previous == '(') && inside.starts_with(char::is_alphanumeric);
        let ends = |at: &usize| {
            let rest = &inside[*at..];
            let mark = rest.chars().next().map_or(1, char::len_utf8);
            !inside[..*at].ends_with(char::is_whitespace) && !rest[mark..].starts_with(char::is_alphanumeric)
        };
        return opens
            .then(|| inside.match_indices(closing).map(|(at, _)| at).find(ends))
            .flatten();
    }
    inside.find(closing)
}

fn is_long(quoted: &str) -> bool {
    let words = quoted.split_whitespace().count();
    words > NAME_WORDS || (words <= 1 && !quoted.is_ascii() && quoted.chars().count() > NAME_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_marks_stand_between_blanks() {
        for (text, folded) in [
            ("No, it's v0.14.2!", " no , it's v0.14.2 ! "),
            ("from 2 to 3 %", " from 2 to 3 % "),
            ("Bitte: «nie» mehr als 1,5 l", " bitte : § mehr als 1,5 l "),
            ("Run `always x`; say 'never mind you all'.", " run § ; say § . "),
            ("お迎えは１８時です。", " お迎えは18時です 。 "),
        ] {
            assert_eq!(Line::of(text).folded, folded);
        }
    }

    #[test]
    fn long_quotations_are_somebody_elses_words() {
        for (text, quotes) in [
            ("He said \"you must always seal it\".", true),
            ("The code 'coffee' goes.", false),
            ("宿は「山吹荘」です。", false),
            ("「必ず再起動してください。電源を切らないで」と出ます。", true),
            ("the students' books and the teachers' rooms", false),
        ] {
            assert_eq!(Line::of(text).quotes, quotes, "{text}");
        }
    }

    #[test]
    fn places_lead_back_to_what_was_written() {
        let line = Line::of("Now: Ärger İn Öl");
        let at = line.folded.find("ärger").expect("a word");
        assert_eq!(line.after(at), "Ärger İn Öl");
    }
}
