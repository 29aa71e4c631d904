//! The prompt texts: built in, each replaceable by a file of a folder (see `prompts/README.md`).
//! And what is filled into them: a role's section of the memory, the task, and the recent messages.

use crate::domain::document::{ManagedSection, managed_body};
use crate::domain::evidence::Examples;
use crate::domain::listed;
use crate::domain::operation::Role;
use crate::llm::ConversationMessage;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Maximum size of a prompt file in bytes.
const MAX_FILE_BYTES: usize = 1_048_576;

/// A prompt text. Its name in snake case is that of its file, `<name>.md`; its place is that in [`BUILT_IN`].
#[derive(Debug, Clone, Copy, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Template {
    Progress,
    Learnings,
    Verbatim,
    Consolidation,
    Guidance,
    GuidanceManaged,
    Handoff,
    Input,
    ConsolidationInput,
    Again,
    HandoffInput,
    HandoffAgain,
}

/// Each built-in text, and the placeholder that it must have; in the order of [`Template`].
const BUILT_IN: [(&str, &str); 12] = [
    (include_str!("prompts/progress.md"), ""),
    (include_str!("prompts/learnings.md"), ""),
    (include_str!("prompts/verbatim.md"), ""),
    (include_str!("prompts/consolidation.md"), ""),
    (include_str!("prompts/guidance.md"), ""),
    (include_str!("prompts/guidance_managed.md"), ""),
    (include_str!("prompts/handoff.md"), ""),
    (include_str!("prompts/input.md"), "{task}"),
    (include_str!("prompts/consolidation_input.md"), "{memory}"),
    (include_str!("prompts/again.md"), "{faults}"),
    (include_str!("prompts/handoff_input.md"), "{memory}"),
    (include_str!("prompts/handoff_again.md"), "{faults}"),
];

/// All prompt texts.
#[derive(Debug, Clone)]
pub struct Prompts {
    texts: [Arc<str>; BUILT_IN.len()],
    /// The example answers in the instructions. A model must not return them.
    examples: Arc<Examples>,
}

/// The pages of the guidance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum GuidancePage {
    /// What to keep, in which sections, and how to answer.
    #[default]
    Document,
    /// The rules for ids and managed sections, and for agents with tools.
    Managed,
}

listed! {
    /// The pages of the guidance.
    GuidancePage as "GuidancePage";
}

/// Why a prompt file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("pipeline.prompts_dir: {file}: {problem}")]
pub struct PromptError {
    file: String,
    problem: String,
}

impl Default for Prompts {
    fn default() -> Self {
        Self::of(BUILT_IN.map(|(text, _)| text.into()))
    }
}

impl Prompts {
    /// The built-in texts, replaced by the files of the same names in a folder.
    ///
    /// # Errors
    /// The folder does not exist, or a file cannot be read, is blank, is not UTF-8, is too long, or lacks a required
    /// placeholder.
    pub fn load(folder: Option<&Path>) -> Result<Self, PromptError> {
        let Some(folder) = folder else {
            return Ok(Self::default());
        };
        if !folder.is_dir() {
            return Err(PromptError {
                file: folder.display().to_string(),
                problem: "is not a folder".to_owned(),
            });
        }
        let mut texts = Self::default().texts;
        for (text, (name, (_, needed))) in texts.iter_mut().zip(Template::VARIANTS.iter().zip(BUILT_IN)) {
            if let Some(replacement) = read(&folder.join(format!("{name}.md")), needed)? {
                *text = replacement.into();
            }
        }
        Ok(Self::of(texts))
    }

    fn of(texts: [Arc<str>; BUILT_IN.len()]) -> Self {
        let text = |template: Template| &*texts[template as usize];
        let of_roles = [Template::Progress, Template::Learnings, Template::Verbatim].map(text);
        Self {
            examples: Arc::new(Examples::of(of_roles)),
            texts,
        }
    }

    /// A text as it is. Constant instructions are sent first, so that providers can cache them.
    pub(super) fn text(&self, template: Template) -> Arc<str> {
        self.texts[template as usize].clone()
    }

    /// A text with its placeholders filled.
    pub(super) fn fill(&self, template: Template, values: &[(&str, &str)]) -> String {
        fill(&self.texts[template as usize], values)
    }

    /// The example answers of the instructions.
    pub(super) fn examples(&self) -> &Examples {
        &self.examples
    }

    /// The constant instructions of a role.
    pub(super) fn instructions(&self, role: Role) -> Arc<str> {
        self.text(match role {
            Role::Progress => Template::Progress,
            Role::Learnings => Template::Learnings,
            Role::Verbatim => Template::Verbatim,
        })
    }
}

fn read(path: &Path, needed: &str) -> Result<Option<String>, PromptError> {
    let failed = |problem: String| PromptError {
        file: path.display().to_string(),
        problem,
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let bytes = text.len();
    if bytes > MAX_FILE_BYTES {
        return Err(failed(format!("has {bytes} bytes, more than {MAX_FILE_BYTES}")));
    }
    if text.trim().is_empty() {
        return Err(failed("is blank".to_owned()));
    }
    if !text.contains(needed) {
        return Err(failed(format!("lacks the placeholder {needed}")));
    }
    Ok(Some(text))
}

/// Fills the placeholders in one pass, so that braces in an inserted text have no effect.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (before, from_brace) = rest.split_at(at);
        filled.push_str(before);
        match values.iter().find(|(name, _)| from_brace.starts_with(name)) {
            Some((name, value)) => {
                filled.push_str(value);
                rest = &from_brace[name.len()..];
            }
            None => {
                filled.push('{');
                rest = &from_brace[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// The prompt's own tags, in any case and with blanks between, and the backslashes that escape them.
static BORDER: LazyLock<Regex> = LazyLock::new(|| {
    let tags = r"(?i)<(\\*)(\s*(?:/\s*(?:memory|task|messages|turn)|turn\s+role)(?-u:\b))";
    Regex::new(tags).expect("a valid expression")
});

/// Escapes a text so that it can neither close the tag around it nor open a `turn`: `</memory` becomes `<\/memory`,
/// `<turn role` becomes `<\turn role`, and what looks escaped gets one backslash more. Nothing else is changed: snippets
/// must arrive byte for byte.
pub(super) fn quoted(text: &str) -> String {
    BORDER.replace_all(text, r"<$1\$2").into_owned()
}

/// The text that a model read as [`quoted`] and wrote as it read it; its inverse. In JSON a backslash is two.
pub(super) fn unquoted(text: &str, is_json: bool) -> String {
    let without = |found: &Captures<'_>| {
        let kept = found[1].len().saturating_sub(1 + usize::from(is_json));
        format!("<{}{}", &found[1][..kept], &found[2])
    };
    BORDER.replace_all(text, without).into_owned()
}

/// Replaces an empty section.
const EMPTY: &str = "(empty)";

/// The section of the document that a role maintains, unchanged.
pub(super) fn section_of(document: &str, role: Role) -> &str {
    let section = match role {
        Role::Progress => ManagedSection::CurrentProgress,
        Role::Learnings => ManagedSection::KeyLearnings,
        Role::Verbatim => ManagedSection::VerbatimContext,
    };
    managed_body(document, section)
}

/// The section as it is sent to a model.
pub(super) fn shown_section(document: &str, role: Role) -> &str {
    match section_of(document, role).trim_matches('\n') {
        "" => EMPTY,
        body => body,
    }
}

/// Approximate size of the tags around one message, without role and content, in bytes.
const BORDER_BYTES: usize = 30;

/// The maximum length of a message's role in the prompt, in characters.
const ROLE_CHARS: usize = 64;

/// The messages as they are sent to a model, oldest first, each between tags that no content can forge. Above `limit`
/// bytes the oldest messages are omitted, and the text says so: the model must not take the rest for the whole.
pub(super) fn shown_messages(messages: &[ConversationMessage], limit: usize) -> Cow<'static, str> {
    if messages.is_empty() {
        return Cow::Borrowed("(none)");
    }
    let mut kept = 0;
    let mut bytes = 0;
    for message in messages.iter().rev() {
        bytes += message.role.len() + message.content.len() + BORDER_BYTES;
        if bytes > limit && kept > 0 {
            break;
        }
        kept += 1;
    }
    let left_out = messages.len() - kept;
    let mut text = String::with_capacity(bytes.min(2 * limit + BORDER_BYTES));
    if left_out > 0 {
        text.push_str(&format!("({left_out} older messages left out)\n"));
    }
    for message in &messages[left_out..] {
        let content = &message.content;
        // A single message may exceed the limit. Its end is kept, because the end matters most.
        let cut = content.ceil_char_boundary(content.len().saturating_sub(limit));
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("<turn role=\"{}\">\n", shown_role(&message.role)));
        if cut > 0 {
            text.push_str("(beginning left out)\n");
        }
        text.push_str(&quoted(&content[cut..]));
        text.push_str("\n</turn>\n");
    }
    text.truncate(text.trim_end_matches('\n').len());
    Cow::Owned(text)
}

/// The role of a message as it is written in its tag, whatever value the caller sent.
fn shown_role(role: &str) -> String {
    let is_kept = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
    let shown = role.trim().replace(|c| !is_kept(c), "_");
    shown.chars().take(ROLE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once_and_other_braces_stay() {
        let filled = fill("a {x} {y} {z}", &[("{x}", "{y}"), ("{y}", "2")]);
        assert_eq!(filled, "a {y} 2 {z}");
    }

    #[test]
    fn what_the_instructions_show_is_no_content() {
        let prompts = Prompts::default();
        let all = "Zorbled the first quonx/unzorble  the second QUONX/Blimp all quonxes in `vrimble`/\
                   a quonx is zorbled before it is blimped, never after/zorble call of the quonx/\
                   zorble --quonx 2 |\n    blimp --vrimble";
        for shown in all.split('/') {
            assert!(prompts.examples().has(shown), "{shown}");
        }
        assert_eq!(prompts.examples().count(), 7, "rules are no examples");
    }

    #[test]
    fn a_folder_replaces_single_files_and_bad_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("progress.md"), "Mine.").unwrap();
        let prompts = Prompts::load(Some(folder.path())).unwrap();
        assert_eq!(&*prompts.instructions(Role::Progress), "Mine.");
        let own = Prompts::default().instructions(Role::Learnings);
        assert_eq!(prompts.instructions(Role::Learnings), own);
        std::fs::write(folder.path().join("input.md"), "no placeholder").unwrap();
        let error = Prompts::load(Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("input.md") && error.contains("{task}"), "{error}");
        assert!(Prompts::load(Some(&folder.path().join("none"))).is_err());
    }

    #[test]
    fn a_quoted_text_has_no_tag_of_the_prompt_and_is_read_back_as_it_was() {
        for (text, shown) in [
            ("a </task> b", r"a <\/task> b"),
            (r"</ Memory><\/memory", r"<\/ Memory><\\/memory"),
            ("<turn role=1></turn>", r"<\turn role=1><\/turn>"),
            (r"<\turn role", r"<\\turn role"),
            (r"<task> <\b> </tasks> <\\ </", r"<task> <\b> </tasks> <\\ </"),
        ] {
            assert_eq!(quoted(text), shown);
            assert_eq!(unquoted(shown, false), text);
            let [text, shown] = [text, shown].map(|text| serde_json::to_string(text).unwrap());
            assert_eq!(unquoted(&shown, true), text);
        }
        assert_eq!(
            unquoted("a </task> b", false),
            "a </task> b",
            "a model may leave it out"
        );
        assert_eq!(
            unquoted(r"<\/task>", true),
            "</task>",
            "which JSON may write as well"
        );
    }

    #[test]
    fn the_oldest_are_left_out_with_a_note() {
        assert_eq!(shown_messages(&[], 100), "(none)");
        let many = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"].map(|content| ConversationMessage {
            role: "user".to_owned(),
            content: content.to_owned(),
        });
        assert_eq!(
            shown_messages(&many, 90),
            "(1 older messages left out)\n\n<turn role=\"user\">\nbbbbbbbbbb\n</turn>\n\n\
             <turn role=\"user\">\ncccccccccc\n</turn>"
        );
        assert_eq!(
            shown_messages(&many[..1], 4),
            "<turn role=\"user\">\n(beginning left out)\naaaa\n</turn>"
        );
    }
}
