//! What a role is shown: its own section of the memory, the task, and the recent messages.

use crate::domain::document::{self, ManagedSection};
use crate::domain::operation::Role;
use crate::llm::ConversationMessage;
use std::borrow::Cow;

/// What stands in place of a section that holds nothing.
const EMPTY: &str = "(empty)";

/// The section a role maintains, as it stands in the document.
pub(super) fn section_of(document: &str, role: Role) -> &str {
    let section = match role {
        Role::Progress => ManagedSection::CurrentProgress,
        Role::Learnings => ManagedSection::KeyLearnings,
        Role::Verbatim => ManagedSection::VerbatimContext,
    };
    document::outline(document)
        .into_iter()
        .find(|found| found.managed == Some(section))
        .map(|found| &document[found.body])
        .unwrap_or_default()
}

/// The section as a model reads it.
pub(super) fn memory(document: &str, role: Role) -> &str {
    match section_of(document, role).trim_matches('\n') {
        "" => EMPTY,
        body => body,
    }
}

/// The messages as a model reads them, oldest first. Of more than `limit` bytes the oldest are left out,
/// and the text says so: a model must not take the rest for the whole.
pub(super) fn messages(messages: &[ConversationMessage], limit: usize) -> Cow<'static, str> {
    if messages.is_empty() {
        return Cow::Borrowed("(none)");
    }
    let mut kept = 0;
    let mut bytes = 0;
    for message in messages.iter().rev() {
        bytes += message.role.len() + message.content.len();
        if bytes > limit && kept > 0 {
            break;
        }
        kept += 1;
    }
    let left_out = messages.len() - kept;
    let mut text = String::with_capacity(bytes + 16 * kept);
    if left_out > 0 {
        text.push_str(&format!("({left_out} older messages left out)\n\n"));
    }
    for message in &messages[left_out..] {
        let content = &message.content;
        // One message alone may be over the limit: its end is what counts most.
        let cut = content.ceil_char_boundary(content.len().saturating_sub(limit));
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push_str("\n\n");
        }
        text.push('[');
        text.push_str(&message.role);
        text.push_str("]\n");
        if cut > 0 {
            text.push_str("(beginning left out)\n");
        }
        text.push_str(&content[cut..]);
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, content: &str) -> ConversationMessage {
        ConversationMessage {
            role: role.to_owned(),
            content: content.to_owned(),
        }
    }

    #[test]
    fn messages_stand_one_after_another_with_their_roles() {
        assert_eq!(messages(&[], 100), "(none)");
        let two = [message("user", "Fix it."), message("assistant", "Done.")];
        assert_eq!(messages(&two, 100), "[user]\nFix it.\n\n[assistant]\nDone.");
    }

    #[test]
    fn the_oldest_are_left_out_and_it_is_said() {
        let many = [
            message("user", "aaaaaaaaaa"),
            message("user", "bbbbbbbbbb"),
            message("user", "cccccccccc"),
        ];
        assert_eq!(
            messages(&many, 30),
            "(1 older messages left out)\n\n[user]\nbbbbbbbbbb\n\n[user]\ncccccccccc"
        );
        assert_eq!(messages(&many[..1], 4), "[user]\n(beginning left out)\naaaa");
    }

    #[test]
    fn a_role_sees_its_own_section_only() {
        let document = "# Key Learnings\n- KL-1 because r: c\n\n# Notes\nfree\n";
        assert_eq!(memory(document, Role::Learnings), "- KL-1 because r: c");
        assert_eq!(memory(document, Role::Progress), "(empty)");
    }
}
