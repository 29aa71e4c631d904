//! The preconditions of a queued update in their stored form.

use crate::storage::{EntityTags, Preconditions};
use serde::{Deserialize, Serialize};

/// Both members are always present, null if there is no condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredPreconditions {
    if_match: Option<StoredTags>,
    if_none_match: Option<StoredTags>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected null, \"*\" or a list of entity tags")]
enum StoredTags {
    Any(Star),
    List(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Star {
    #[serde(rename = "*")]
    Star,
}

impl From<&Preconditions> for StoredPreconditions {
    fn from(preconditions: &Preconditions) -> Self {
        let stored = |tags: &Option<EntityTags>| tags.clone().map(StoredTags::from);
        Self {
            if_match: stored(&preconditions.if_match),
            if_none_match: stored(&preconditions.if_none_match),
        }
    }
}

impl From<StoredPreconditions> for Preconditions {
    fn from(stored: StoredPreconditions) -> Self {
        Self {
            if_match: stored.if_match.map(EntityTags::from),
            if_none_match: stored.if_none_match.map(EntityTags::from),
        }
    }
}

impl From<EntityTags> for StoredTags {
    fn from(tags: EntityTags) -> Self {
        match tags {
            EntityTags::Any => Self::Any(Star::Star),
            EntityTags::List(tags) => Self::List(tags),
        }
    }
}

impl From<StoredTags> for EntityTags {
    fn from(stored: StoredTags) -> Self {
        match stored {
            StoredTags::Any(Star::Star) => Self::Any,
            StoredTags::List(tags) => Self::List(tags),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::stored;
    use serde_json::{Value, json};

    fn read(stored: &Value) -> Result<Preconditions, String> {
        stored::read::<StoredPreconditions>(stored).map(Preconditions::from)
    }

    fn list(tags: &[&str]) -> EntityTags {
        EntityTags::List(tags.iter().map(|tag| (*tag).to_owned()).collect())
    }

    #[test]
    fn each_kind_of_tags_has_its_stored_form() {
        for (tags, form) in [
            (None, json!(null)),
            (Some(EntityTags::Any), json!("*")),
            (Some(list(&[])), json!([])),
            (Some(list(&["a", "b"])), json!(["a", "b"])),
        ] {
            let if_match = Preconditions {
                if_match: tags.clone(),
                if_none_match: None,
            };
            let if_none_match = Preconditions {
                if_match: None,
                if_none_match: tags,
            };
            for (preconditions, stored) in [
                (if_match, json!({"if_match": form, "if_none_match": null})),
                (if_none_match, json!({"if_match": null, "if_none_match": form})),
            ] {
                assert_eq!(json!(StoredPreconditions::from(&preconditions)), stored);
                assert_eq!(read(&stored), Ok(preconditions));
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_never_no_precondition() {
        for (stored, problem) in [
            (json!(null), "invalid type: null"),
            (json!({}), "if_match: it is missing"),
            (json!({"if_match": null}), "if_none_match: it is missing"),
            (
                json!({"if_match": "a", "if_none_match": null}),
                "if_match: expected null",
            ),
            (
                json!({"if_match": [1], "if_none_match": null}),
                "if_match: expected null",
            ),
            (
                json!({"if_match": {}, "if_none_match": null}),
                "if_match: expected null",
            ),
            (
                json!({"if_match": null, "if_none_match": false}),
                "if_none_match: expected null",
            ),
            (
                json!({"if_match": null, "if_none_match": null, "if_unmodified_since": "x"}),
                "if_unmodified_since: this release does not know it",
            ),
        ] {
            let error = read(&stored).unwrap_err();
            assert!(error.starts_with(problem), "{stored}: {error}");
        }
    }
}
