//! Messages taken apart: sentences with the list they stand in, and fenced code with what leads to it.

use super::words::{folded, one_line};
use crate::llm::ConversationMessage;

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Assistant,
    User,
    /// Output of tools, and every role with another name.
    Tool,
    /// Standing instructions; nothing is learned from them.
    System,
}

impl Voice {
    fn of(role: &str) -> Self {
        match role.trim().to_lowercase().as_str() {
            "assistant" | "ai" | "model" | "agent" => Self::Assistant,
            "user" | "human" => Self::User,
            "system" | "developer" => Self::System,
            _ => Self::Tool,
        }
    }
}

/// What the heading above a list, or a check box, says about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Done,
    Current,
    Left,
}

/// A sentence on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) voice: Voice,
    /// Which message it stands in, from 0.
    pub(super) message: usize,
    pub(super) text: String,
    /// Only items of lists have one.
    pub(super) standing: Option<Standing>,
}

/// The inside of a closed code fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) voice: Voice,
    /// What stands behind the opening fence.
    pub(super) info: String,
    /// The last line of prose before it in the same message; may be empty.
    pub(super) lead: String,
    /// Byte for byte, without the fence's own indentation and without the last line end.
    pub(super) body: String,
}

/// Everything the rules read of a conversation.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) sentences: Vec<Sentence>,
    pub(super) codes: Vec<Code>,
}

impl Transcript {
    pub(super) fn of(messages: &[ConversationMessage]) -> Self {
        let mut transcript = Self::default();
        for (index, message) in messages.iter().enumerate() {
            let voice = Voice::of(&message.role);
            if voice != Voice::System {
                transcript.read(voice, index, &message.content);
            }
        }
        transcript
    }

    /// The sentences of a text that is no message.
    pub(super) fn of_task(task: &str) -> Vec<Sentence> {
        let mut transcript = Self::default();
        transcript.read(Voice::Assistant, 0, task);
        transcript.sentences
    }

    fn read(&mut self, voice: Voice, message: usize, content: &str) {
        let mut prose = Prose {
            voice,
            message,
            standing: None,
            paragraph: String::new(),
            item: None,
            out: &mut self.sentences,
        };
        let mut lead = "";
        let mut fence: Option<Fence<'_>> = None;
        for line in content.split('\n') {
            match fence.as_mut() {
                Some(open) if open.is_closed_by(line) => {
                    let code = Code {
                        voice,
                        info: open.info.to_owned(),
                        lead: one_line(lead),
                        body: open.body(),
                    };
                    self.codes.push(code);
                    fence = None;
                }
                Some(open) => open.lines.push(line),
                None => {
                    fence = Fence::opened_by(line);
                    if fence.is_some() {
                        prose.end_paragraph();
                    } else {
                        prose.line(line);
                        lead = if line.trim().is_empty() { lead } else { line };
                    }
                }
            }
        }
        prose.end_paragraph();
    }
}

struct Fence<'a> {
    mark: &'a str,
    indent: usize,
    info: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches([' ', '\t']);
        let character = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = text.len() - text.trim_start_matches(character).len();
        let info = text[length..].trim();
        let opens = length >= 3 && !(character == '`' && info.contains('`'));
        opens.then(|| Self {
            mark: &text[..length],
            indent: line.len() - text.len(),
            info,
            lines: Vec::new(),
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.starts_with(self.mark)
            && self
                .mark
                .chars()
                .next()
                .is_some_and(|c| text.trim_matches(c).is_empty())
    }

    fn body(&self) -> String {
        let outdented = self.lines.iter().map(|line| {
            let blanks = line.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
            &line[blanks.min(self.indent)..]
        });
        let body = outdented.collect::<Vec<_>>().join("\n");
        // With CRLF line ends, the last one is not the code's either.
        body.strip_suffix('\r').map(str::to_owned).unwrap_or(body)
    }
}

/// Lines of prose on their way to sentences.
struct Prose<'o> {
    voice: Voice,
    message: usize,
    /// What the heading above says.
    standing: Option<Standing>,
    paragraph: String,
    /// Set while the paragraph is an item of a list.
    item: Option<Option<Standing>>,
    out: &'o mut Vec<Sentence>,
}

impl Prose<'_> {
    fn line(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('|') || line.starts_with('$') {
            self.end_paragraph();
        } else if let Some(title) = title(line) {
            self.end_paragraph();
            self.standing = heading_standing(&title);
        } else if let Some((text, checked)) = list_item(line) {
            self.end_paragraph();
            self.item = Some(checked.or(self.standing));
            self.paragraph.push_str(text);
        } else if !self.paragraph.is_empty() && continues(&self.paragraph, line) {
            self.paragraph.push(' ');
            self.paragraph.push_str(line);
        } else {
            self.end_paragraph();
            self.paragraph.push_str(line);
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let item = self.item.take();
        if paragraph.is_empty() {
            return;
        }
        if item.is_none() {
            self.standing = None;
        }
        for (index, text) in sentences(&one_line(&paragraph)).into_iter().enumerate() {
            // Only the first sentence of an item is the item; the others explain it.
            let standing = item.flatten().filter(|_| index == 0);
            self.out.push(Sentence {
                voice: self.voice,
                message: self.message,
                text: text.to_owned(),
                standing,
            });
        }
    }
}

/// Whether a line goes on with the sentence of the line before.
fn continues(before: &str, line: &str) -> bool {
    !before.ends_with(['.', '!', '?', ':', ';'])
        && line.starts_with(|c: char| c.is_lowercase() || "(`\"".contains(c))
}

/// The text of a heading, of a line in bold, or of a short line that ends in a colon.
fn title(line: &str) -> Option<String> {
    let heading = line
        .starts_with('#')
        .then(|| line.trim_start_matches('#'))
        .filter(|rest| rest.starts_with(' '));
    let bold = line
        .trim_end_matches(':')
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    let label = line
        .strip_suffix(':')
        .filter(|rest| rest.len() <= 40 && list_item(line).is_none());
    let text = heading.or(bold.filter(|text| !text.contains("**"))).or(label)?;
    Some(folded(text.trim().trim_matches(['*', ':'])))
}

fn heading_standing(title: &str) -> Option<Standing> {
    let names = |words: &[&str]| {
        words
            .iter()
            .any(|word| title.starts_with(word) || title.ends_with(word))
    };
    if names(&[
        "not done",
        "remaining",
        "left",
        "to do",
        "todo",
        "todos",
        "to-do",
        "next",
        "next steps",
        "outstanding",
    ]) || names(&[
        "follow-up",
        "follow-ups",
        "pending",
        "still open",
        "open items",
        "next step",
    ]) {
        Some(Standing::Left)
    } else if names(&[
        "in progress",
        "current",
        "currently",
        "ongoing",
        "working on",
        "doing now",
    ]) {
        Some(Standing::Current)
    } else if names(&[
        "done",
        "completed",
        "finished",
        "accomplished",
        "what i did",
        "what changed",
        "changes made",
    ]) {
        Some(Standing::Done)
    } else {
        None
    }
}

/// The text of a list item and what its check box says.
fn list_item(line: &str) -> Option<(&str, Option<Standing>)> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if number.len() < line.len() {
        number.strip_prefix(". ").or(number.strip_prefix(") "))
    } else {
        None
    };
    let text = ["- ", "* ", "+ ", "• "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or(numbered);
    let (text, is_item) = text.map_or((line, false), |text| (text.trim_start(), true));
    for (mark, standing) in [
        ("[x] ", Standing::Done),
        ("[X] ", Standing::Done),
        ("[ ] ", Standing::Left),
        ("✅", Standing::Done),
        ("✔", Standing::Done),
    ] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some((rest.trim_start_matches('\u{fe0f}').trim_start(), Some(standing)));
        }
    }
    is_item.then_some((text, None))
}

/// Cuts a paragraph into sentences: behind an end mark and a blank where no small letter follows, at a
/// semicolon, and where a clause says what is next. Text in backticks is not cut.
fn sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_code = false;
    let mut previous = ' ';
    for (at, c) in paragraph.char_indices() {
        if c == '`' {
            in_code = !in_code && paragraph[at + 1..].contains('`');
        }
        if c == ' ' && !in_code {
            let (said, rest) = (&paragraph[start..at], &paragraph[at + 1..]);
            let ends = matches!(previous, '.' | '!' | '?')
                && !rest.starts_with(char::is_lowercase)
                && !is_abbreviation(said);
            let next = previous == ',' && (rest.starts_with("next ") || rest.starts_with("now "));
            if ends || next || previous == ';' {
                found.push(said.trim_end_matches([';', ',']));
                start = at + 1;
            }
        }
        previous = c;
    }
    found.push(&paragraph[start..]);
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

fn is_abbreviation(said: &str) -> bool {
    ["e.g.", "i.e.", "vs.", "cf.", "etc.", "approx."]
        .iter()
        .any(|short| said.ends_with(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Transcript {
        let role = "assistant".to_owned();
        Transcript::of(&[ConversationMessage {
            role,
            content: content.to_owned(),
        }])
    }

    fn texts(content: &str) -> Vec<String> {
        read(content)
            .sentences
            .into_iter()
            .map(|sentence| sentence.text)
            .collect()
    }

    #[test]
    fn prose_is_cut_into_sentences() {
        assert_eq!(
            texts(
                "I fixed src/lib.rs, e.g. The parser; it works. Next: docs!\nAdded tests\nfor it. `a. B` stays."
            ),
            [
                "I fixed src/lib.rs, e.g. The parser",
                "it works.",
                "Next: docs!",
                "Added tests for it.",
                "`a. B` stays."
            ]
        );
    }

    #[test]
    fn lists_know_what_stands_above_them() {
        let transcript =
            read("## Done\n- a one\n- b two\n\n**Next steps:**\n1. c three. More.\n\nProse.\n- d\n- [x] e\n");
        let standings: Vec<_> = transcript
            .sentences
            .iter()
            .map(|s| (s.text.as_str(), s.standing))
            .collect();
        assert_eq!(
            standings,
            [
                ("a one", Some(Standing::Done)),
                ("b two", Some(Standing::Done)),
                ("c three.", Some(Standing::Left)),
                ("More.", None),
                ("Prose.", None),
                ("d", None),
                ("e", Some(Standing::Done)),
            ]
        );
    }

    #[test]
    fn closed_fences_are_code_and_the_rest_of_an_open_one_is_nothing() {
        let transcript = read(
            "In `a.rs`:\n\n  ```rust a.rs\n  x\n\n    y \n  ```\n~~~\r\n```\r\n~~~\r\nhi\n```\nnever. closed\n",
        );
        assert_eq!(transcript.codes.len(), 2);
        assert_eq!(transcript.codes[0].info, "rust a.rs");
        assert_eq!(transcript.codes[0].lead, "In `a.rs`:");
        assert_eq!(transcript.codes[0].body, "x\n\n  y ");
        assert_eq!(transcript.codes[1].body, "```");
        assert_eq!(texts("a b\n```\nnever. closed"), ["a b"]);
    }

    #[test]
    fn standing_instructions_are_not_read() {
        let role = "system".to_owned();
        let content = "Always be brief because it is a rule.\n```\nx\n```".to_owned();
        let transcript = Transcript::of(&[ConversationMessage { role, content }]);
        assert!(transcript.sentences.is_empty() && transcript.codes.is_empty());
    }
}
