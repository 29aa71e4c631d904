//! What a document would lose, in problems and in responses to a PUT.

use crate::domain::memory::Collapse;
use crate::http::names::CollapseKind;
use serde::Serialize;

/// A sign that a text has lost what the document said.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = PutWarning)]
pub(crate) struct CollapseBody {
    /// More than half of the bytes are gone, or active records are; or archived records' ids name other records now.
    #[schema(value_type = CollapseKind)]
    kind: &'static str,
    /// The same in a sentence, with the sizes.
    detail: String,
    /// The records that are gone: the version archives them as left out by it. Or those whose ids were used again.
    records: Vec<String>,
}

impl From<Collapse> for CollapseBody {
    fn from(collapse: Collapse) -> Self {
        let kind = (&collapse).into();
        match collapse {
            Collapse::BytesDropped { before, after } => Self {
                kind,
                detail: format!(
                    "the text has {after} bytes, the document had {before}: more than half are gone"
                ),
                records: Vec::new(),
            },
            Collapse::RecordsDropped(records) => Self {
                kind,
                detail: match records.len() {
                    1 => "an active record is not in the text: it is archived as left out by this version"
                        .to_owned(),
                    count => {
                        format!(
                            "{count} active records are not in the text: they are archived as left out by this version"
                        )
                    }
                },
                records: records.iter().map(ToString::to_string).collect(),
            },
            Collapse::IdsReused(records) => Self {
                kind,
                detail: "ids that were given before and were not active name records of the text: these are active again \
                         with what the text says; what they said before is in their history \
                         (GET …/records/{record_id}?history=true)"
                    .to_owned(),
                records: records.iter().map(ToString::to_string).collect(),
            },
        }
    }
}
