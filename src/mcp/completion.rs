//! Completion of the names of vaults and memories.

use super::backend::{Backend, Method, RouteRequest};
use super::failure::Failure;
use super::resources::{names, read_json};
use crate::domain::ids::{MemoryId, VaultId};
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Extensions};

/// Names that begin with the argument's value. An invalid prefix has none, and so have other arguments.
pub(super) async fn complete<B: Backend>(
    backend: &B,
    from: &Extensions,
    request: CompleteRequestParams,
) -> Result<CompleteResult, Failure> {
    let fixed = backend.fixed(from);
    let begun = request.argument.value.as_str();
    let found = match request.argument.name.as_str() {
        "vault" => match &fixed.vault {
            Some(vault) => (vec![vault.to_string()], false),
            None => vaults(backend, from, begun).await?,
        },
        "memory" => {
            let context = request.context.unwrap_or_default();
            let named = context
                .get_argument("vault")
                .and_then(|vault| vault.parse::<VaultId>().ok());
            match (&fixed.memory, fixed.vault.clone().or(named)) {
                (Some(memory), _) => (vec![memory.to_string()], false),
                (None, Some(vault)) => memories(backend, from, &vault, begun).await?,
                (None, None) => (Vec::new(), false),
            }
        }
        _ => (Vec::new(), false),
    };
    let (mut values, more) = found;
    values.retain(|value| value.starts_with(begun));
    let has_more = more || values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut completion = CompletionInfo::default();
    completion.total = (!has_more).then_some(u32::try_from(values.len()).unwrap_or_default());
    completion.has_more = Some(has_more);
    completion.values = values;
    Ok(CompleteResult::new(completion))
}

async fn vaults<B: Backend>(
    backend: &B,
    from: &Extensions,
    begun: &str,
) -> Result<(Vec<String>, bool), Failure> {
    let (mut values, mut cursor) = (Vec::new(), None);
    // The route of vaults has no prefix parameter; a service has few of them.
    loop {
        let ask = RouteRequest::new(Method::Get, &["vaults"])
            .query("limit", 500)
            .maybe("cursor", cursor);
        let list = read_json(backend, from, ask).await?;
        values.extend(
            names(&list, "vault_id")
                .into_iter()
                .filter(|name| name.starts_with(begun)),
        );
        cursor = list["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() || values.len() > CompletionInfo::MAX_VALUES {
            return Ok((values, cursor.is_some()));
        }
    }
}

async fn memories<B: Backend>(
    backend: &B,
    from: &Extensions,
    vault: &VaultId,
    begun: &str,
) -> Result<(Vec<String>, bool), Failure> {
    if !begun.is_empty() && begun.parse::<MemoryId>().is_err() {
        return Ok((Vec::new(), false));
    }
    let ask = RouteRequest::new(Method::Get, &["vaults", vault.as_str(), "memories"])
        .query("limit", CompletionInfo::MAX_VALUES)
        .maybe("prefix", Some(begun).filter(|begun| !begun.is_empty()));
    let list = read_json(backend, from, ask).await?;
    Ok((names(&list, "memory_id"), !list["next_cursor"].is_null()))
}
