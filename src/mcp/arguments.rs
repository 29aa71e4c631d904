//! The arguments of tools and prompts: the vault and memory of a call, which may be fixed for the client, and the rest,
//! parsed strictly.

use super::failure::Failure;
use crate::domain::ids::{MemoryId, VaultId};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Display;
use std::str::FromStr;

/// The values that `?vault=&memory=` of the URL, or the settings of the command line, fix for a client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fixed {
    /// The vault.
    pub(crate) vault: Option<VaultId>,
    /// The memory.
    pub(crate) memory: Option<MemoryId>,
}

impl Fixed {
    /// The vault of a call; removes it from the arguments.
    pub(super) fn vault(&self, arguments: &mut JsonObject) -> Result<VaultId, Failure> {
        taken("vault", arguments, self.vault.as_ref())?.ok_or_else(|| Failure::missing("vault"))
    }

    /// The memory of a call; removes it from the arguments.
    pub(super) fn memory(&self, arguments: &mut JsonObject) -> Result<MemoryId, Failure> {
        taken("memory", arguments, self.memory.as_ref())?.ok_or_else(|| Failure::missing("memory"))
    }

    /// Rejects a vault or memory that differs from the fixed one.
    pub(super) fn check(&self, vault: &VaultId, memory: &MemoryId) -> Result<(), Failure> {
        same("vault", vault, self.vault.as_ref())?;
        same("memory", memory, self.memory.as_ref())
    }
}

/// An argument, removed from the others, or the fixed value.
fn taken<T: FromStr<Err: Display> + Clone + PartialEq + Display>(
    name: &'static str,
    arguments: &mut JsonObject,
    fixed: Option<&T>,
) -> Result<Option<T>, Failure> {
    let value = match arguments.remove(name) {
        None | Some(Value::Null) => return Ok(fixed.cloned()),
        Some(Value::String(text)) => text
            .parse()
            .map_err(|rule| Failure::argument(name, format!("{name} {rule}")))?,
        Some(_) => return Err(Failure::argument(name, format!("{name} must be a string"))),
    };
    same(name, &value, fixed)?;
    Ok(Some(value))
}

fn same<T: PartialEq + Display>(name: &'static str, value: &T, fixed: Option<&T>) -> Result<(), Failure> {
    match fixed {
        Some(fixed) if fixed != value => {
            Err(Failure::contradicts(name, &value.to_string(), &fixed.to_string()))
        }
        _ => Ok(()),
    }
}

/// Parses the arguments that remain after vault and memory were removed: an unknown or missing member or a wrong type is
/// named. A member that is null counts as missing.
pub(super) fn read<T: DeserializeOwned>(mut arguments: JsonObject) -> Result<T, Failure> {
    arguments.retain(|_, value| !value.is_null());
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        match path.as_str() {
            "." => Failure::argument("the arguments", format!("the arguments are not valid: {cause}")),
            path => Failure::argument(path, format!("the argument {path} is not valid: {cause}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        add: Option<Vec<Item>>,
    }

    #[derive(Debug, Deserialize)]
    struct Item {
        #[expect(dead_code, reason = "is only read")]
        reason: String,
    }

    fn message_for(value: Value) -> String {
        let Value::Object(arguments) = value else {
            panic!("no object")
        };
        format!("{:?}", read::<Sample>(arguments).unwrap_err())
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(message_for(json!({"add": [{"reason": "a"}, {"reason": 1}]})).contains("add[1].reason"));
        assert!(message_for(json!({"more": 1})).contains("more"));
        assert!(message_for(json!({"add": [{}]})).contains("reason"));
    }

    #[test]
    fn null_is_left_out() {
        let Value::Object(arguments) = json!({"add": null}) else {
            panic!("no object")
        };
        assert!(read::<Sample>(arguments).unwrap().add.is_none());
    }
}
