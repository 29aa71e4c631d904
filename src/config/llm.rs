//! `[llm]`: the models that maintain the sections, with their timeouts and retries.
//!
//! Every key of `[llm]` is also allowed under `[llm.roles.progress]`, `[llm.roles.learnings]`,
//! `[llm.roles.verbatim]` and `[llm.roles.handoff]`; a role falls back to `[llm]` key by key. `base_url`, `api_key` and `model`
//! belong to a provider, so a role with a provider of its own does not fall back to those of another one: a key
//! is never sent to another provider.

mod provider;
mod resolve;
mod section;
#[cfg(test)]
mod tests;

pub use provider::Provider;
pub use resolve::{InvalidLlm, RoleSettings};
pub use section::{Constrain, LlmConfig, RoleConfig, RolesConfig};
