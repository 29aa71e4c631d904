//! Reads the task and the messages once: sentences that hold a marker, listed items, and fenced texts.

use super::markers::{CHECK_BOXES, Kind, Mark, markers};
use crate::domain::document::Fence;
use crate::llm::ConversationMessage;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// How far the end of a quotation is looked for, in bytes.
const QUOTATION_BYTES: usize = 1_000;
/// What of a sentence is searched for markers, in bytes. A longer one is no statement: none of it could be kept.
const SENTENCE_BYTES: usize = 2_000;
/// Of a session with more statements only the last are heard: what is compared with each other stays bounded.
const MAX_STATEMENTS: usize = 1_000;
/// A message that withdraws something with at most this many words withdraws the message before.
const ASIDE_WORDS: usize = 5;
/// Pairs of quotation marks. What stands between them is not said by the speaker.
const QUOTATION_MARKS: [(char, char); 8] = [
    ('"', '"'),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
];
/// Abbreviations that end with a full stop and end no sentence.
const ABBREVIATIONS: [&str; 14] = [
    "e.g", "i.e", "z.b", "d.h", "u.a", "etc", "vs", "ca", "bzw", "approx", "nr", "dr", "mr", "p.ej",
];

/// More than the longest of them.
const ABBREVIATION_BYTES: usize = 8;

/// A line of a program: "TypeError: …", "ERROR [main] …", "at foo (bar.js:10)", "Tool output: …".
static OUTPUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^ (?: \S* (?i: error | exception | violation ) (?: \[\w+\] )? (?: : | \ \[ ) | warning:\ 
        | (?: thread\ .* )? panicked\ at\  | at\ \S+\ \( | Traceback | (?: \w+\  )? (?i: output ): )",
    )
    .expect("a form")
});

/// Who says something. Tools, systems and other roles are not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
}

/// A sentence with a marker, or an item of a list.
#[derive(Debug)]
pub(super) struct Statement<'t> {
    /// 0 for the task, otherwise the number of the message, from 1.
    pub(super) message: usize,
    pub(super) speaker: Speaker,
    pub(super) text: &'t str,
    /// The text in lower case with quotations blanked, byte for byte as long.
    pub(super) folded: String,
    pub(super) marks: Vec<Mark>,
    /// What the list above or a check box says about the item, and the language of that.
    pub(super) listed: Option<(Kind, usize)>,
    /// Whether it is a question.
    pub(super) asks: bool,
    /// The sentence before it in its paragraph.
    pub(super) before: Option<&'t str>,
    /// The position of the sentence in its message.
    pub(super) start: usize,
}

/// A closed fenced text of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct FencedText<'t> {
    pub(super) message: usize,
    /// The words after the opening fence.
    pub(super) info: &'t str,
    pub(super) code: &'t str,
    pub(super) start: usize,
}

/// What a session says.
#[derive(Debug, Default)]
pub(super) struct Session<'t> {
    pub(super) statements: Vec<Statement<'t>>,
    pub(super) fences: Vec<FencedText<'t>>,
}

impl<'t> Session<'t> {
    /// Reads the task, as a first message of the user, and the messages. Linear.
    pub(super) fn read(task: &'t str, messages: &'t [ConversationMessage]) -> Self {
        let mut session = Self::default();
        // The last message of the user and of the assistant so far, and whether the latter ends with a question.
        let (mut user, mut assistant, mut asked) = (None, None, false);
        let task = std::iter::once((Speaker::User, task));
        let spoken = messages.iter().map(|message| {
            let speaker = match message.role.as_str() {
                "user" => Some(Speaker::User),
                "assistant" => Some(Speaker::Assistant),
                _ => None,
            };
            (speaker, message.content.as_str())
        });
        let all = task.map(|(speaker, text)| (Some(speaker), text)).chain(spoken);
        for (number, (speaker, text)) in all.enumerate() {
            let Some(speaker) = speaker else { continue };
            let mut message = Message::read(number, speaker, text);
            message.withdraw(&mut session, user.filter(|_| speaker == Speaker::User));
            message.deny(&mut session, assistant, asked);
            match speaker {
                Speaker::User => user = Some(number),
                Speaker::Assistant => {
                    assistant = Some(number);
                    asked = text.trim_end().ends_with(['?', '？']);
                }
            }
            session.statements.append(&mut message.statements);
            session.fences.append(&mut message.fences);
        }
        let surplus = session.statements.len().saturating_sub(MAX_STATEMENTS);
        session.statements.drain(..surplus);
        session
    }

    /// Removes the statements of a message. It is one of the last, so that few move.
    fn forget(&mut self, message: usize) {
        let place = |number| {
            self.statements
                .partition_point(|statement| statement.message < number)
        };
        let range = place(message)..place(message + 1);
        self.statements.drain(range);
    }
}

/// One message while it is read.
struct Message<'t> {
    number: usize,
    speaker: Speaker,
    statements: Vec<Statement<'t>>,
    fences: Vec<FencedText<'t>>,
    /// The list that the last label introduced.
    label: Option<(Kind, usize)>,
    /// The last sentence of the paragraph, unless it is a question.
    before: Option<&'t str>,
    words: usize,
    /// Where the first sentence begins.
    first: Option<usize>,
    /// Where the last sentence ends that withdraws what was said, and the number of words up to there.
    withdrawn: Option<(usize, usize)>,
}

impl<'t> Message<'t> {
    fn read(number: usize, speaker: Speaker, text: &'t str) -> Self {
        let mut message = Self {
            number,
            speaker,
            statements: Vec::new(),
            fences: Vec::new(),
            label: None,
            before: None,
            words: 0,
            first: None,
            withdrawn: None,
        };
        let may_be_heard = markers().may_be_in(text);
        let mut open: Option<(Fence, &str, usize)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let trimmed = line.trim();
            if let Some((fence, info, from)) = open {
                if fence.is_closed_by(trimmed) {
                    message.fences.push(FencedText {
                        message: number,
                        info,
                        code: &text[from..start],
                        start: from,
                    });
                    open = None;
                }
            } else if let Some(fence) = Fence::opened_by(trimmed) {
                open = Some((fence, trimmed[fence.length..].trim(), at));
            } else if may_be_heard && !message.line(text, start..start + line.trim_end().len()) {
                break;
            }
        }
        message
    }

    /// Reads a line outside of fences. `false` if the rest of the message is somebody else's.
    fn line(&mut self, text: &'t str, range: Range<usize>) -> bool {
        let line = &text[range.clone()];
        let trimmed = line.trim_start();
        let start = range.end - trimmed.len();
        if trimmed.is_empty() || trimmed.starts_with(['>', '|', '<', '$']) || OUTPUT.is_match(trimmed) {
            self.before = None;
            return true;
        }
        if trimmed.starts_with('#') {
            (self.label, self.before) = (markers().label(&lowered(trimmed)), None);
            return true;
        }
        let (marker, checked) = item_of(trimmed);
        let content = start + marker..range.end;
        if marker > 0 {
            self.before = None;
            let listed = checked.map(|kind| (kind, 0)).or(self.label);
            if listed.is_some() {
                return self.sentence(text, content, listed);
            }
        } else {
            self.label = None;
            if trimmed.ends_with([':', '：']) {
                self.label = markers().label(&lowered(trimmed));
                if self.label.is_some() {
                    self.before = None;
                    return true;
                }
            }
        }
        let mut from = content.start;
        for length in sentences(&text[content]) {
            if !self.sentence(text, from..from + length, None) {
                return false;
            }
            from += length;
        }
        true
    }

    fn sentence(&mut self, text: &'t str, range: Range<usize>, listed: Option<(Kind, usize)>) -> bool {
        let sentence = text[range.clone()].trim();
        if sentence.is_empty() {
            return true;
        }
        let start = range.end - text[range.clone()].trim_start().len();
        let searched = &sentence[..sentence.floor_char_boundary(SENTENCE_BYTES)];
        let folded = lowered(searched);
        let marks = markers().marks(&folded);
        let has = |kind| marks.iter().any(|mark| mark.kind == kind);
        let asks = sentence.ends_with(['?', '？']) || sentence.ends_with("か。");
        self.first.get_or_insert(start);
        self.words += sentence.split_whitespace().count();
        if has(Kind::Foreign) {
            self.statements.clear();
            self.fences.clear();
            return false;
        }
        if has(Kind::Quote) {
            return false;
        }
        if has(Kind::Cancel) {
            self.withdrawn = Some((range.end, self.words));
        }
        let before = std::mem::replace(&mut self.before, (!asks).then_some(sentence));
        if searched.len() == sentence.len() && (!marks.is_empty() || listed.is_some()) {
            self.statements.push(Statement {
                message: self.number,
                speaker: self.speaker,
                text: sentence,
                folded,
                marks,
                listed,
                asks,
                before,
                start,
            });
        }
        true
    }

    /// A joke, a secret between friends, or a "scratch that" takes back what the message says before it; a short
    /// one also the speaker's message before.
    fn withdraw(&mut self, session: &mut Session<'_>, previous: Option<usize>) {
        let Some((end, words)) = self.withdrawn else {
            return;
        };
        self.statements.retain(|statement| statement.start >= end);
        if words <= ASIDE_WORDS
            && let Some(previous) = previous.filter(|number| *number > 0)
        {
            session.forget(previous);
        }
    }

    /// A denial takes back what the assistant's message before says; one of the assistant itself also what it
    /// reports as finished in the same message.
    fn deny(&mut self, session: &mut Session<'_>, assistant: Option<usize>, asked: bool) {
        let denies = |statement: &Statement<'_>| {
            let counts = |mark: &Mark| {
                let opens_message =
                    Some(statement.start) == self.first && markers().filler(&statement.folded) >= mark.start;
                let of_user = opens_message && !asked && self.speaker == Speaker::User;
                mark.kind == Kind::Denial && (!mark.opens || of_user)
            };
            statement.marks.iter().any(counts)
        };
        if !self.statements.iter().any(denies) {
            return;
        }
        if let Some(assistant) = assistant {
            session.forget(assistant);
        }
        if self.speaker == Speaker::Assistant {
            let reports = |mark: &Mark| mark.kind == Kind::Done;
            self.statements
                .retain(|statement| !statement.marks.iter().any(reports));
        }
    }
}

/// The length of the bullet or number of a list item, 0 for none, and what its check box says.
fn item_of(line: &str) -> (usize, Option<Kind>) {
    let bullet = ["- ", "* ", "+ ", "• "]
        .into_iter()
        .find(|bullet| line.starts_with(bullet));
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length = match bullet {
        Some(bullet) => bullet.len(),
        None if (1..=3).contains(&digits)
            && [". ", ") "].iter().any(|end| line[digits..].starts_with(end)) =>
        {
            digits + 2
        }
        None => 0,
    };
    for (check_box, kind) in CHECK_BOXES {
        if line[length..].starts_with(check_box) {
            return (length + check_box.len(), Some(kind));
        }
    }
    (length, None)
}

/// The lengths of the sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = line.get(from..).filter(|rest| !rest.is_empty())?;
        let length = sentence(rest);
        from += length;
        Some(length)
    })
}

fn sentence(line: &str) -> usize {
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let next = at + c.len_utf8();
        if let Some(length) = quotation(&line[at..]) {
            at += length;
            continue;
        }
        let rest = &line[next..];
        let is_end = match c {
            '。' | '！' | '？' => true,
            '!' | '?' | ';' => rest.is_empty() || rest.starts_with(char::is_whitespace),
            '.' => {
                // A longer word is no abbreviation: a line without blanks is not searched from every full stop.
                let near = &line[line.floor_char_boundary(at.saturating_sub(ABBREVIATION_BYTES))..at];
                let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
                let is_short = ABBREVIATIONS.iter().any(|short| word.eq_ignore_ascii_case(short));
                let goes_on = rest.trim_start().starts_with(|c: char| c.is_ascii_lowercase());
                (rest.is_empty() || rest.starts_with(char::is_whitespace)) && !is_short && !goes_on
            }
            _ => false,
        };
        if is_end {
            return next;
        }
        at = next;
    }
    line.len()
}

/// The length of the quotation that a text begins with.
fn quotation(text: &str) -> Option<usize> {
    // Most characters are none of the marks.
    let first = text
        .chars()
        .next()
        .filter(|c| !c.is_ascii_alphanumeric() && *c != ' ')?;
    let end = text.floor_char_boundary(QUOTATION_BYTES);
    let within = &text[first.len_utf8()..end.max(first.len_utf8())];
    let closes = QUOTATION_MARKS.iter().filter(|(opening, _)| *opening == first);
    closes
        .filter_map(|(_, closing)| Some(within.find(*closing)? + closing.len_utf8()))
        .min()
        .map(|length| first.len_utf8() + length)
}

/// The quotations of a text, without their marks.
pub(super) fn quotations(text: &str) -> Vec<&str> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        match quotation(&text[at..]) {
            Some(length) => {
                let inside = &text[at + c.len_utf8()..at + length];
                let closing = inside.chars().next_back().map_or(0, char::len_utf8);
                found.push(&inside[..inside.len() - closing]);
                at += length;
            }
            None => at += c.len_utf8(),
        }
    }
    found
}

/// A text in lower case with its quotations blanked, byte for byte as long.
pub(super) fn lowered(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    while let Some(c) = text[folded.len()..].chars().next() {
        if let Some(length) = quotation(&text[folded.len()..]) {
            folded.extend(std::iter::repeat_n('\u{1a}', length));
            continue;
        }
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
            continue;
        }
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(lower), None) if lower.len_utf8() == c.len_utf8() => folded.push(lower),
            _ => folded.push(c),
        }
    }
    folded
}
