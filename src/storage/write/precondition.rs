//! Preconditions of a write, checked against the head while its row is locked (RFC 9110 section 13).

use crate::domain::ids::ContextId;
use serde::{Deserialize, Serialize};

/// The tags of an `If-Match` or `If-None-Match` header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityTags {
    /// `*`: any existing memory.
    Any,
    /// These tags, unquoted. A weak tag never matches a write and is omitted.
    List(Vec<String>),
}

impl EntityTags {
    /// Whether the memory's current tag (`None`: no memory) is among them.
    #[must_use]
    pub fn contains(&self, current: Option<&str>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::List(tags), Some(current)) => tags.iter().any(|tag| tag == current),
        }
    }
}

/// The conditions of a write; without any it is unconditional.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Preconditions {
    /// The head must be one of these.
    pub if_match: Option<EntityTags>,
    /// The head must be none of these; `*` means that the memory must not exist.
    pub if_none_match: Option<EntityTags>,
}

/// The preconditions of a write do not hold for what stands there. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the precondition does not hold")]
pub struct PreconditionFailed {
    /// The id of the newest version; `None` if there is none.
    pub current: Option<ContextId>,
    /// Its number, if it was read.
    pub version: Option<i64>,
}

impl Preconditions {
    /// Checks them for a head: the id and the number of the newest version.
    ///
    /// # Errors
    /// They do not hold.
    pub fn check(&self, current: Option<&ContextId>, version: Option<i64>) -> Result<(), PreconditionFailed> {
        if self.hold(current.map(ContextId::as_str)) {
            return Ok(());
        }
        let current = current.cloned();
        let version = version.filter(|_| current.is_some());
        Err(PreconditionFailed { current, version })
    }

    /// Whether a head with this tag (`None`: no memory) meets them.
    #[must_use]
    pub fn hold(&self, current: Option<&str>) -> bool {
        self.if_match.as_ref().is_none_or(|tags| tags.contains(current))
            && self
                .if_none_match
                .as_ref()
                .is_none_or(|tags| !tags.contains(current))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(tags: &[&str]) -> Option<EntityTags> {
        Some(EntityTags::List(
            tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ))
    }

    #[test]
    fn conditions_hold_as_the_rfc_says() {
        let unconditional = Preconditions::default();
        assert!(unconditional.hold(None) && unconditional.hold(Some("a")));
        let must_exist = Preconditions {
            if_match: Some(EntityTags::Any),
            ..Default::default()
        };
        assert!(!must_exist.hold(None) && must_exist.hold(Some("a")));
        let must_be = Preconditions {
            if_match: list(&["a", "b"]),
            ..Default::default()
        };
        assert!(!must_be.hold(None) && must_be.hold(Some("b")) && !must_be.hold(Some("c")));
        let must_not_exist = Preconditions {
            if_none_match: Some(EntityTags::Any),
            ..Default::default()
        };
        assert!(must_not_exist.hold(None) && !must_not_exist.hold(Some("a")));
        let must_not_be = Preconditions {
            if_none_match: list(&["a"]),
            ..Default::default()
        };
        assert!(must_not_be.hold(None) && !must_not_be.hold(Some("a")) && must_not_be.hold(Some("b")));
    }
}
