//! Messages taken apart: sentences with the list they stand in, and fenced code with what leads to it. What is
//! quoted, pasted or written by a program is left out here, so that nobody speaks through it.

use super::apart::{set_apart, set_off, whole_code};
use super::code::{Code, Form};
use super::foreign::{heading_standing, is_foreign, is_mail_header, title};
use super::sentence::{Sentence, Standing, Voice};
use super::shown::{Shown, is_tool};
use super::split::{list_item, sentences};
use super::text::one_line;
use crate::llm::ConversationMessage;

/// Of a longer sentence, a log or data in one line, only the beginning is looked at.
const MAX_SENTENCE_BYTES: usize = 2_000;

/// Everything the rules read of a conversation.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) sentences: Vec<Sentence>,
    pub(super) codes: Vec<Code>,
    pub(super) shown: Shown,
    /// Messages that are output of tools.
    pub(super) outputs: Vec<usize>,
}

impl Transcript {
    pub(super) fn of(task: &str, messages: &[ConversationMessage]) -> Self {
        let mut transcript = Self::default();
        transcript.read(Voice::Task, 0, task);
        for (index, message) in messages.iter().enumerate() {
            if let Some(voice) = Voice::of(&message.role) {
                transcript.read(voice, index + 1, &message.content);
            } else if is_tool(&message.role) {
                transcript.shown.read(index + 1, &message.content);
                transcript.outputs.push(index + 1);
            }
        }
        transcript
    }

    fn read(&mut self, voice: Voice, message: usize, content: &str) {
        let mut prose = Prose {
            voice,
            message,
            standing: None,
            paragraph: String::new(),
            item: None,
            pasted: false,
            header: false,
            key: false,
            begins_small: content.trim_start().starts_with(char::is_lowercase),
            out: &mut self.sentences,
        };
        let mut lead = "";
        let mut fence: Option<Fence<'_>> = None;
        for line in content.split('\n') {
            match fence.as_mut() {
                Some(open) if open.is_closed_by(line) => {
                    self.codes.push(Code {
                        voice,
                        message,
                        info: open.info.to_owned(),
                        lead: one_line(lead),
                        form: Form::Fence,
                        body: open.body(),
                    });
                    fence = None;
                }
                Some(open) => open.lines.push(line),
                None => {
                    fence = Fence::opened_by(line);
                    if fence.is_some() {
                        prose.end_paragraph();
                    } else if let Some(inside) = whole_code(line) {
                        self.codes.push(Code {
                            voice,
                            message,
                            info: String::new(),
                            lead: one_line(lead),
                            form: Form::Line,
                            body: inside.to_owned(),
                        });
                        prose.line(line);
                    } else {
                        prose.line(line);
                        lead = if line.trim().is_empty() { lead } else { line };
                    }
                }
            }
        }
        prose.end_paragraph();
        match voice {
            _ if fence.is_some() => {}
            Voice::User => self.codes.extend(set_apart(message, content)),
            Voice::Assistant => self.codes.extend(set_off(message, content)),
            Voice::Task => {}
        }
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
    /// Set once a mail or the like was pasted: the rest of the message is not its sender's.
    pasted: bool,
    /// Whether the line before was a mail's `From:` or the like.
    header: bool,
    /// Set between the first and the last line of a key in PEM form.
    key: bool,
    /// Whether the message begins with a small letter.
    begins_small: bool,
    out: &'o mut Vec<Sentence>,
}

impl Prose<'_> {
    /// Reads one line outside code.
    fn line(&mut self, line: &str) {
        let line = line.trim();
        if self.key || line.contains("-----BEGIN ") {
            self.end_paragraph();
            self.key = !line.contains("-----END ");
            return;
        }
        let header = is_mail_header(line);
        self.pasted |= header && self.header;
        self.header = header;
        if self.pasted || header || line.is_empty() || is_foreign(line) {
            self.end_paragraph();
        } else if let Some(title) = title(line) {
            self.end_paragraph();
            self.standing = heading_standing(&title);
        } else if let Some((text, checked)) = list_item(line) {
            self.end_paragraph();
            let boxed = checked.map(|done| if done { Standing::Done } else { Standing::Left });
            self.item = Some(boxed.or(self.standing));
            self.paragraph.push_str(text);
        } else if !self.paragraph.is_empty() && continues(&self.paragraph, line) {
            self.paragraph.push(' ');
            self.paragraph.push_str(line);
        } else {
            self.end_paragraph();
            self.paragraph.push_str(line);
        }
    }

    /// Cuts what was read since the last end into sentences.
    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let item = self.item.take();
        if paragraph.is_empty() {
            return;
        }
        if item.is_none() {
            self.standing = None;
        }
        let paragraph = one_line(&paragraph).replace("**", "");
        for (index, text) in sentences(&paragraph, self.begins_small).into_iter().enumerate() {
            let text = &text[..text.floor_char_boundary(MAX_SENTENCE_BYTES.min(text.len()))];
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
    !before.ends_with(['.', '!', '?', ':', ';', '。', '：'])
        && line.starts_with(|c: char| c.is_lowercase() || "(`\"".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(role: &str, content: &str) -> Transcript {
        let role = role.to_owned();
        let content = content.to_owned();
        Transcript::of("", &[ConversationMessage { role, content }])
    }

    fn texts(content: &str) -> Vec<String> {
        let sentences = read("assistant", content).sentences.into_iter();
        sentences.map(|sentence| sentence.text).collect()
    }

    #[test]
    fn lists_know_what_stands_above_them() {
        let transcript = read(
            "assistant",
            "## Done\n- a one\n- b two\n\n**Next steps:**\n1. c three. More.\n\nProse.\n- d\n- [x] e\n",
        );
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
    fn what_nobody_said_is_left_out() {
        for foreign in [
            "> always deploy",
            "| a | b |",
            "$ rm -rf /",
            "<p>Remember this</p>",
            "12:04:51 payd[811]: always late",
            "2026-11-20T10:00:00Z ERROR never mind",
            "ERROR gateway: always retry",
            "id=7 state=never try=1",
            "at org.example.Main.run(Main.java:4)",
            "From: a@example.org\nSubject: you must\n\nRemember the coupon.",
        ] {
            assert_eq!(texts(foreign), Vec::<String>::new(), "{foreign}");
        }
        assert_eq!(
            texts("It is at 17:00, a < b.\nFrom: me"),
            ["It is at 17:00, a < b."]
        );
    }

    #[test]
    fn closed_fences_are_code_and_the_rest_of_an_open_one_is_nothing() {
        let transcript = read(
            "assistant",
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
    fn standing_instructions_and_tools_have_no_voice() {
        for role in ["system", "developer", "tool", "function", "x"] {
            let transcript = read(role, "Always be brief because it is a rule.\n```\nx\n```");
            assert!(
                transcript.sentences.is_empty() && transcript.codes.is_empty(),
                "{role}"
            );
        }
    }
}
