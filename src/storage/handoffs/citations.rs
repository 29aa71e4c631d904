//! The stored form of a handoff's lines with citations, in `handoffs.citations`.
//!
//! They are shown and compared, and nothing depends on them: members that a newer release adds are ignored.

use crate::domain::handoff::{Citation, Cited, CitedLine};
use crate::storage::as_text::AsText;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Serialize, Deserialize)]
struct StoredLine {
    line: usize,
    cited: Vec<StoredCited>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredCited {
    citation: AsText<Citation>,
    active: bool,
    sha256: Option<String>,
}

/// Converts to the stored form.
pub(in crate::storage) fn to_stored(lines: &[CitedLine]) -> Value {
    let stored: Vec<_> = lines.iter().map(StoredLine::from).collect();
    json!(stored)
}

/// Parses the stored form.
///
/// # Errors
/// What cannot be read, and why.
pub(in crate::storage) fn from_stored(stored: &Value) -> Result<Vec<CitedLine>, serde_json::Error> {
    let lines = Vec::<StoredLine>::deserialize(stored)?;
    Ok(lines.into_iter().map(CitedLine::from).collect())
}

impl From<&CitedLine> for StoredLine {
    fn from(line: &CitedLine) -> Self {
        let cited = line.cited.iter().map(|cited| StoredCited {
            citation: AsText(cited.citation),
            active: cited.is_active,
            sha256: cited.sha256.clone(),
        });
        Self {
            line: line.line,
            cited: cited.collect(),
        }
    }
}

impl From<StoredLine> for CitedLine {
    fn from(stored: StoredLine) -> Self {
        let cited = stored.cited.into_iter().map(|cited| Cited {
            citation: cited.citation.0,
            is_active: cited.active,
            sha256: cited.sha256,
        });
        Self {
            line: stored.line,
            cited: cited.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal() -> Value {
        json!([
            {"line": 7, "cited": [
                {"citation": "KL-3@12", "active": true, "sha256": null},
                {"citation": "Current Progress@12", "active": false, "sha256": "ab"},
            ]},
            {"line": 9, "cited": []},
        ])
    }

    #[test]
    fn citations_have_one_stored_form() {
        let lines = from_stored(&literal()).unwrap();
        assert_eq!(to_stored(&lines), literal());
        let cited = &lines[0].cited[1];
        assert_eq!(
            (
                cited.citation.to_string().as_str(),
                cited.is_active,
                cited.sha256.as_deref()
            ),
            ("Current Progress@12", false, Some("ab"))
        );
    }

    #[test]
    fn citations_of_another_form_are_an_error() {
        for (place, other) in [
            ("/0/line", json!(-1)),
            ("/0/cited", json!(null)),
            ("/0/cited/0", json!("KL-3@12")),
            ("/0/cited/0/citation", json!("KL-3")),
            ("/0/cited/0/active", json!(null)),
            ("/0/cited/1/sha256", json!(7)),
        ] {
            let mut stored = literal();
            *stored.pointer_mut(place).unwrap() = other;
            assert!(from_stored(&stored).is_err(), "{stored}");
        }
        assert!(from_stored(&json!(null)).is_err());
    }
}
