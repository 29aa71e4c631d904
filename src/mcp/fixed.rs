//! The vault and memory of a call: its arguments, or the values fixed for the client.

use super::failure::Failure;
use crate::domain::ids::{MemoryId, VaultId};
use rmcp::model::JsonObject;
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
        chosen("vault", arguments, self.vault.as_ref())
    }

    /// The memory of a call; removes it from the arguments.
    pub(super) fn memory(&self, arguments: &mut JsonObject) -> Result<MemoryId, Failure> {
        chosen("memory", arguments, self.memory.as_ref())
    }

    /// Removes the memory from the arguments of a call about a whole vault.
    pub(super) fn ignore_memory(&self, arguments: &mut JsonObject) -> Result<(), Failure> {
        match arguments.contains_key("memory") {
            true => maybe("memory", arguments, self.memory.as_ref()).map(|_: Option<MemoryId>| ()),
            false => Ok(()),
        }
    }

    /// Rejects a vault or memory that differs from the fixed one.
    pub(super) fn check(&self, vault: &VaultId, memory: &MemoryId) -> Result<(), Failure> {
        same("vault", vault, self.vault.as_ref())?;
        same("memory", memory, self.memory.as_ref())
    }
}

fn chosen<T: FromStr<Err: Display> + Clone + PartialEq + Display>(
    name: &'static str,
    arguments: &mut JsonObject,
    fixed: Option<&T>,
) -> Result<T, Failure> {
    maybe(name, arguments, fixed)?.ok_or_else(|| Failure::missing(name))
}

fn maybe<T: FromStr<Err: Display> + Clone + PartialEq + Display>(
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
