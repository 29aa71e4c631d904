//! `[llm]`: which models maintain the sections, and how long and how often they are asked.
//!
//! Every key of `[llm]` may stand under `[llm.roles.progress]`, `[llm.roles.learnings]`,
//! `[llm.roles.verbatim]` and `[llm.roles.handoff]` too; a role falls back to `[llm]` key by key. `base_url`, `api_key` and `model`
//! belong to a provider, so a role with a provider of its own does not take those of another one: a key
//! is never sent to a company it was not made for.

mod provider;
mod resolve;
mod section;
#[cfg(test)]
mod tests;

pub use provider::Provider;
pub use resolve::{InvalidLlm, RoleSettings};
pub use section::{Constrain, LlmConfig, RoleConfig, RolesConfig};
