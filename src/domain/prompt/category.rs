//! Categories with a special meaning, and names that items cannot use.

use crate::domain::ids::Category;

/// Static rules and anti-goals; only administrators may write them, and no budget drops them.
pub const RULES: &str = "rules";

/// Facts about the user.
pub(super) const USER_INFORMATION: &str = "user_information";

/// Instructions for using tools.
pub(super) const TOOL_GUIDANCE: &str = "tool_guidance";

/// The steps of the current work.
pub(super) const WORKFLOW: &str = "workflow";

/// Date and time: generated for each prompt, unless there are items of this category.
pub(super) const DATETIME: &str = "datetime";

/// The free part of the document, which no operation of the service changes.
pub(super) const FREE: &str = "free";

/// The first parts, whose bytes are the stable prefix.
pub(super) const STABLE: [&str; 3] = [RULES, USER_INFORMATION, TOOL_GUIDANCE];

/// The names of parts generated from the document.
pub(super) const GENERATED: [&str; 7] = [
    FREE,
    "key_learnings",
    "verbatim_context",
    "decisions",
    "active_context",
    "recent_tasks",
    "current_progress",
];

/// Item categories with a fixed position in a prompt.
pub(super) const PLACED: [&str; 5] = [RULES, USER_INFORMATION, TOOL_GUIDANCE, WORKFLOW, DATETIME];

/// The names of all built-in parts of a prompt, in order.
pub const PARTS: [&str; 12] = [
    RULES,
    USER_INFORMATION,
    TOOL_GUIDANCE,
    FREE,
    "key_learnings",
    "verbatim_context",
    "decisions",
    "active_context",
    "recent_tasks",
    WORKFLOW,
    "current_progress",
    DATETIME,
];

/// Why items cannot use a category. The message may be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReservedCategory {
    /// The name of a generated part.
    #[error("{0} is a part of the prompt that is not made of items; choose another name")]
    Generated(&'static str),
    /// A built-in name in another case, which would be a different category.
    #[error("must be written {0}")]
    Spelling(&'static str),
}

/// Checks that items may use a category: not the name of a generated part, and no other spelling of a
/// built-in name, so that nothing can be mistaken for the rules.
///
/// # Errors
///
/// The name that it conflicts with.
pub fn check_writable(category: &Category) -> Result<(), ReservedCategory> {
    let name = category.as_str();
    if let Some(generated) = GENERATED
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
    {
        return Err(ReservedCategory::Generated(generated));
    }
    match PLACED.into_iter().find(|known| known.eq_ignore_ascii_case(name)) {
        Some(known) if known != name => Err(ReservedCategory::Spelling(known)),
        _ => Ok(()),
    }
}
