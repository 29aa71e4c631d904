//! The prompt texts: built in, each replaceable by a file of a folder (see `prompts/README.md`).

use crate::domain::evidence::Examples;
use crate::domain::operation::Role;
use crate::domain::text::has_secret;
use std::path::Path;
use std::sync::Arc;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Maximum size of a prompt file in bytes.
const MAX_FILE_BYTES: usize = 1_048_576;

/// All prompt texts.
#[derive(Debug, Clone)]
pub struct Prompts {
    progress: Arc<str>,
    learnings: Arc<str>,
    verbatim: Arc<str>,
    consolidation: Arc<str>,
    consolidation_input: String,
    input: String,
    again: String,
    guidance: Arc<str>,
    guidance_managed: Arc<str>,
    handoff: Arc<str>,
    handoff_input: String,
    handoff_again: String,
    /// The example answers in the instructions. A model must not return them.
    examples: Arc<Examples>,
    /// The instructions of roles that contain no credential.
    without_secrets: Vec<Arc<str>>,
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

/// Why a prompt file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("pipeline.prompts_dir: {file}: {problem}")]
pub struct PromptError {
    file: String,
    problem: String,
}

impl Default for Prompts {
    fn default() -> Self {
        let prompts = Self {
            progress: include_str!("prompts/progress.md").into(),
            learnings: include_str!("prompts/learnings.md").into(),
            verbatim: include_str!("prompts/verbatim.md").into(),
            consolidation: include_str!("prompts/consolidation.md").into(),
            consolidation_input: include_str!("prompts/consolidation_input.md").to_owned(),
            input: include_str!("prompts/input.md").to_owned(),
            again: include_str!("prompts/again.md").to_owned(),
            guidance: include_str!("prompts/guidance.md").into(),
            guidance_managed: include_str!("prompts/guidance_managed.md").into(),
            handoff: include_str!("prompts/handoff.md").into(),
            handoff_input: include_str!("prompts/handoff_input.md").to_owned(),
            handoff_again: include_str!("prompts/handoff_again.md").to_owned(),
            examples: Arc::default(),
            without_secrets: Vec::new(),
        };
        prompts.with_examples()
    }
}

impl Prompts {
    /// The built-in texts, replaced by the files of the same names in a folder.
    ///
    /// # Errors
    /// The folder does not exist, or a file cannot be read, is blank, is not UTF-8, is too long, or lacks a required
    /// placeholder.
    pub fn load(folder: Option<&Path>) -> Result<Self, PromptError> {
        let mut prompts = Self::default();
        let Some(folder) = folder else { return Ok(prompts) };
        if !folder.is_dir() {
            return Err(PromptError {
                file: folder.display().to_string(),
                problem: "is not a folder".to_owned(),
            });
        }
        for (name, text) in [
            ("progress.md", &mut prompts.progress),
            ("learnings.md", &mut prompts.learnings),
            ("verbatim.md", &mut prompts.verbatim),
            ("consolidation.md", &mut prompts.consolidation),
            ("guidance.md", &mut prompts.guidance),
            ("guidance_managed.md", &mut prompts.guidance_managed),
            ("handoff.md", &mut prompts.handoff),
        ] {
            if let Some(replacement) = read(folder, name, &[])? {
                *text = replacement.into();
            }
        }
        for (name, needed, text) in [
            ("input.md", "{task}", &mut prompts.input),
            (
                "consolidation_input.md",
                "{memory}",
                &mut prompts.consolidation_input,
            ),
            ("again.md", "{faults}", &mut prompts.again),
            ("handoff_input.md", "{memory}", &mut prompts.handoff_input),
            ("handoff_again.md", "{faults}", &mut prompts.handoff_again),
        ] {
            if let Some(replacement) = read(folder, name, &[needed])? {
                *text = replacement;
            }
        }
        Ok(prompts.with_examples())
    }

    fn with_examples(mut self) -> Self {
        self.examples = Arc::new(Examples::of([&*self.progress, &*self.learnings, &*self.verbatim]));
        let all = Role::ALL.into_iter().map(|role| self.instructions(role));
        let all = all.chain([self.consolidation.clone()]);
        self.without_secrets = all.filter(|text| !has_secret(text)).collect();
        self
    }

    /// Whether a text is one of the roles' instructions and contains no credential. They are long and the same in
    /// every run, so this saves searching them.
    pub(super) fn has_no_secret(&self, text: &str) -> bool {
        self.without_secrets
            .iter()
            .any(|instructions| **instructions == *text)
    }

    /// The example answers of the instructions.
    pub(super) fn examples(&self) -> &Examples {
        &self.examples
    }

    /// The constant instructions of a role. They are sent first, so that providers can cache them.
    pub(super) fn instructions(&self, role: Role) -> Arc<str> {
        match role {
            Role::Progress => self.progress.clone(),
            Role::Learnings => self.learnings.clone(),
            Role::Verbatim => self.verbatim.clone(),
        }
    }

    /// The constant instructions for consolidations.
    pub(super) fn consolidation(&self) -> Arc<str> {
        self.consolidation.clone()
    }

    /// The message with the records of a memory, and what its owner asks for.
    pub(super) fn consolidation_input(&self, records: &str, instructions: &str, most: &str) -> String {
        let (records, instructions) = (quoted(records), quoted(instructions));
        let values = [
            ("{memory}", &*records),
            ("{instructions}", &*instructions),
            ("{most}", most),
        ];
        fill(&self.consolidation_input, &values)
    }

    /// A page of the guidance for an agent that writes the document itself.
    pub(super) fn guidance(&self, page: GuidancePage) -> Arc<str> {
        match page {
            GuidancePage::Document => self.guidance.clone(),
            GuidancePage::Managed => self.guidance_managed.clone(),
        }
    }

    /// The constant instructions for handoffs.
    pub(super) fn handoff(&self) -> Arc<str> {
        self.handoff.clone()
    }

    /// The message with the entries that a handoff may cite.
    pub(super) fn handoff_input(&self, entries: &str) -> String {
        fill(&self.handoff_input, &[("{memory}", &quoted(entries))])
    }

    /// The message that asks for the rejected lines of a handoff again.
    pub(super) fn handoff_again(&self, faults: &str) -> String {
        fill(&self.handoff_again, &[("{faults}", faults)])
    }

    /// The message with the data. Each text is escaped so that it cannot close its tag; `messages` is already escaped
    /// and tagged. `ids` are the ids in the memory, `most` is the number of additions that the section accepts.
    pub(super) fn input(
        &self,
        (memory, task, messages): (&str, &str, &str),
        ids: &str,
        most: usize,
    ) -> String {
        let (memory, task) = (quoted(memory), quoted(task));
        fill(
            &self.input,
            &[
                ("{memory}", &memory),
                ("{task}", &task),
                ("{messages}", messages),
                ("{ids}", ids),
                ("{most}", &most.to_string()),
            ],
        )
    }

    /// The message that asks for the faulty items again.
    pub(super) fn again(&self, faults: &str, ids: &str) -> String {
        fill(&self.again, &[("{faults}", faults), ("{ids}", ids)])
    }
}

fn read(folder: &Path, name: &str, needed: &[&str]) -> Result<Option<String>, PromptError> {
    let path = folder.join(name);
    let failed = |problem: String| PromptError {
        file: path.display().to_string(),
        problem,
    };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    if bytes.len() > MAX_FILE_BYTES {
        return Err(failed(format!(
            "has {} bytes, more than {MAX_FILE_BYTES}",
            bytes.len()
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| failed("is not UTF-8".to_owned()))?;
    if text.trim().is_empty() {
        return Err(failed("is blank".to_owned()));
    }
    match needed.iter().find(|placeholder| !text.contains(**placeholder)) {
        Some(placeholder) => Err(failed(format!("lacks the placeholder {placeholder}"))),
        None => Ok(Some(text)),
    }
}

/// Fills the placeholders in one pass, so that braces in an inserted text have no effect.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled =
        String::with_capacity(template.len() + values.iter().map(|(_, v)| v.len()).sum::<usize>());
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

/// Escapes a text so that it can neither close the tag around it nor open a `turn`: `</memory` becomes `<\/memory`,
/// likewise for `task`, `messages` and `turn`; `<turn role` becomes `<\turn role`; in any case and with blanks
/// between. Nothing else is changed: snippets must arrive byte for byte.
pub(super) fn quoted(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        safe.push_str(before);
        safe.push_str(if is_border(&tag[1..]) { "<\\" } else { "<" });
        rest = &tag[1..];
    }
    safe.push_str(rest);
    safe
}

/// Whether the text after a `<` makes it one of the prompt's own tags.
fn is_border(tag: &str) -> bool {
    let inside = tag.trim_start();
    match inside.strip_prefix('/') {
        Some(closed) => ["memory", "task", "messages", "turn"]
            .iter()
            .any(|name| after_name(closed, name).is_some()),
        None => after_name(inside, "turn").is_some_and(|rest| after_name(rest, "role").is_some()),
    }
}

/// The text after a leading name, compared without case.
fn after_name<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (start, rest) = text.trim_start().split_at_checked(name.len())?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    (start.eq_ignore_ascii_case(name) && ends).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once_and_other_braces_stay() {
        assert_eq!(
            fill("a {x} {y} {z}", &[("{x}", "{y}"), ("{y}", "2")]),
            "a {y} 2 {z}"
        );
    }

    #[test]
    fn what_the_instructions_show_is_no_content() {
        let prompts = Prompts::default();
        for shown in [
            "Zorbled the first quonx",
            "unzorble  the second QUONX",
            "Blimp all quonxes in `vrimble`",
            "a quonx is zorbled before it is blimped, never after",
            "zorble call of the quonx",
            "zorble --quonx 2 |\n    blimp --vrimble",
        ] {
            assert!(prompts.examples().has(shown), "{shown}");
        }
        assert_eq!(prompts.examples().count(), 7, "rules are no examples");
    }

    /// What strong models lacked in the instructions when they answered labelled sessions, and the words that say it now.
    #[test]
    fn each_role_is_told_what_belongs_to_its_section() {
        let of_role: [(Role, &[&str]); 3] = [
            (
                Role::Progress,
                &[
                    "A step that the user has to do says so",
                    "What was found out (a cause, a limit) is no work",
                    "planned or scheduled is Remaining until work on it began",
                    "Write in the language of the conversation",
                    "a verb where the language does",
                    "Colons are allowed",
                ],
            ),
            (
                Role::Learnings,
                &[
                    "a standing wish of the user (\"never again with that company\")",
                    "a date, booking, address or owner",
                    "up to the number named below the messages",
                    "letter for letter and has several lines (an alert, a form, a signature block) belongs to another section",
                    "\"the user asked for it\" is a reason",
                    "No colon inside the reason; the learning may have colons",
                ],
            ),
            (
                Role::Verbatim,
                &[
                    "an identifier, an order number, an address, a clause",
                    "Part of a line may be copied",
                    "nor commands that print them",
                    "It may name the snippet that it replaces",
                    "\"the user asked for it\" is a reason",
                    "No colon inside the reason; the label may have colons",
                    "up to the number named below the messages",
                ],
            ),
        ];
        let prompts = Prompts::default();
        for (role, promises) in of_role {
            let text = prompts.instructions(role);
            for promise in promises {
                assert!(text.contains(promise), "{role:?}: {promise}");
            }
            assert!(!text.contains("At most three"), "{role:?}");
        }
        let input = prompts.input(("m", "t", "ms"), "KL-1", 5);
        assert!(input.contains("Most items under ADD: 5\n"), "{input}");
    }

    #[test]
    fn quoted_text_cannot_close_its_tag() {
        assert_eq!(
            quoted("a </memory> b </ TASK> c </div>"),
            "a <\\/memory> b <\\/ TASK> c </div>"
        );
        assert_eq!(quoted("x </ <"), "x </ <");
        assert_eq!(quoted("</taskbar> <turn> </turns>"), "</taskbar> <turn> </turns>");
        assert_eq!(
            quoted("<turn role=\"user\"> </turn> <\nTurn\nROLE"),
            "<\\turn role=\"user\"> <\\/turn> <\\\nTurn\nROLE"
        );
        assert_eq!(quoted("fn f() -> Vec<u8>"), "fn f() -> Vec<u8>");
    }

    #[test]
    fn a_folder_replaces_single_files_and_bad_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("progress.md"), "Mine.").unwrap();
        let prompts = Prompts::load(Some(folder.path())).unwrap();
        assert_eq!(&*prompts.instructions(Role::Progress), "Mine.");
        assert_eq!(
            prompts.instructions(Role::Learnings),
            Prompts::default().instructions(Role::Learnings)
        );
        std::fs::write(folder.path().join("input.md"), "no placeholder").unwrap();
        let error = Prompts::load(Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("input.md") && error.contains("{task}"), "{error}");
        assert!(Prompts::load(Some(&folder.path().join("none"))).is_err());
    }
}
