//! Categories that mean something, and those that items cannot have.

use crate::domain::ids::Category;

/// Static rules and anti-goals; only administrators write them, and no budget drops them.
pub const RULES: &str = "rules";

/// What the agent knows of its user.
pub(super) const USER_INFORMATION: &str = "user_information";

/// How tools are to be used.
pub(super) const TOOL_GUIDANCE: &str = "tool_guidance";

/// The steps of the work under way.
pub(super) const WORKFLOW: &str = "workflow";

/// Date and time: made when a prompt is asked for, unless there are items of this category.
pub(super) const DATETIME: &str = "datetime";

/// The part of the document that no operation of the service writes.
pub(super) const FREE: &str = "free";

/// The parts in front, whose bytes are the stable prefix.
pub(super) const STABLE: [&str; 3] = [RULES, USER_INFORMATION, TOOL_GUIDANCE];

/// The names of parts that are made of the document.
pub(super) const GENERATED: [&str; 7] = [
    FREE,
    "key_learnings",
    "verbatim_context",
    "decisions",
    "active_context",
    "recent_tasks",
    "current_progress",
];

/// The categories of items that have places of their own in a prompt.
pub(super) const PLACED: [&str; 5] = [RULES, USER_INFORMATION, TOOL_GUIDANCE, WORKFLOW, DATETIME];

/// The names of all parts that a prompt may have whatever items there are, in their order.
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

/// Why items cannot have a category. The message is fit to be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReservedCategory {
    /// The name of a part that is not made of items.
    #[error("{0} is a part of the prompt that is not made of items; choose another name")]
    Generated(&'static str),
    /// A known name in another case, which would be another category.
    #[error("must be written {0}")]
    Spelling(&'static str),
}

/// Checks that items can have a category: not the name of a part that is made otherwise, and no other spelling of
/// a known name, so that what looks like the rules is the rules.
///
/// # Errors
/// What the category is instead.
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
