//! Messages taken apart: sentences with the list they stand in, and fenced code with what leads to it.

use super::prose::Prose;
use super::words::one_line;
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
        let mut prose = Prose::new(voice, message, &mut self.sentences);
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
