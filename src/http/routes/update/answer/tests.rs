use super::*;
use crate::domain::evidence::{Evidence, Origin};
use crate::pipeline::report::{
    DocumentReport, ModelReport, OperationReport, Rejection, UpdateAnswer, UpdateStatus, Warning,
};
use crate::storage::records::evidence::StoredEvidence;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use utoipa::PartialSchema;

fn members(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// Compares a schema with a value that has all members and with one that has only the required ones.
fn check<S: PartialSchema>(whole: &impl serde::Serialize, least: &impl serde::Serialize) {
    let schema = serde_json::to_value(S::schema()).unwrap();
    let required = schema["required"].as_array().unwrap().iter();
    let required = required.map(|name| name.as_str().unwrap().to_owned()).collect();
    assert_eq!(members(&schema["properties"]), members(&json!(whole)), "{schema}");
    assert_eq!(members(&json!(least)), required, "{schema}");
    for (name, value) in json!(whole).as_object().unwrap() {
        let described = schema["properties"][name].to_string();
        let kind = match value {
            Value::String(_) => r#""string""#,
            Value::Bool(_) => r#""boolean""#,
            Value::Array(_) => r#""array""#,
            Value::Number(number) if number.is_f64() => r#""number""#,
            Value::Number(_) => r#""integer""#,
            _ => continue,
        };
        let is_named = described.contains("#/components/schemas/");
        assert!(is_named || described.contains(kind), "{name}: {described}");
    }
}

fn answer() -> UpdateAnswer {
    UpdateAnswer {
        update_id: "u-1".to_owned(),
        vault_id: "acme".to_owned(),
        memory_id: "agent".to_owned(),
        status: UpdateStatus::DryRun,
        base_version: 1,
        version: 2,
        context_id: Some("c-1".to_owned()),
        rebased: false,
        operations: Vec::new(),
        rejected: Vec::new(),
        more_rejected: 1,
        warnings: Vec::new(),
        more_warnings: 1,
        diff: String::new(),
        log: String::new(),
        models: BTreeMap::new(),
        document: DocumentReport::of("text", 1_000),
    }
}

fn operation() -> OperationReport {
    OperationReport {
        number: Some(1),
        op: "archive".to_owned(),
        id: Some("KL-3".to_owned()),
        label: Some("l".to_owned()),
        reason: Some("r".to_owned()),
        content: Some("c".to_owned()),
        superseded_by: Some("KL-4".to_owned()),
        evidence: Vec::new(),
    }
}

#[test]
fn the_documented_answer_is_what_the_pipeline_answers() {
    let whole = answer();
    let least = UpdateAnswer {
        context_id: None,
        more_rejected: 0,
        more_warnings: 0,
        ..answer()
    };
    check::<UpdateAnswerSchema>(&whole, &least);
    check::<DocumentReportSchema>(&whole.document, &whole.document);
}

#[test]
fn the_documented_parts_of_an_answer_are_what_the_pipeline_answers() {
    let least = OperationReport {
        number: None,
        superseded_by: None,
        ..operation()
    };
    check::<OperationReportSchema>(&operation(), &least);
    let model = ModelReport {
        input_tokens: Some(1),
        cached_tokens: Some(1),
        cache_write_tokens: Some(1),
        output_tokens: Some(1),
        ..ModelReport::default()
    };
    check::<ModelReportSchema>(&model, &ModelReport::default());
    let rejection = |index| Rejection {
        section: Some("learnings".to_owned()),
        kind: "duplicate".to_owned(),
        detail: "d".to_owned(),
        text: "t".to_owned(),
        index,
    };
    check::<RejectionSchema>(&rejection(Some(1)), &rejection(None));
    let warning = |index| Warning {
        section: Some("learnings".to_owned()),
        kind: "truncated".to_owned(),
        detail: "d".to_owned(),
        index,
    };
    check::<WarningSchema>(&warning(Some(1)), &warning(None));
}

#[test]
fn evidence_is_shown_in_answers_as_beside_records() {
    for origin in [Origin::Task, Origin::Message(3)] {
        let evidence = Evidence {
            origin,
            start: 1,
            end: 3,
            quote: "as".to_owned(),
        };
        assert_eq!(
            json!(StoredEvidence::from(&evidence)),
            json!(EvidenceBody::from(&evidence))
        );
    }
}

#[test]
fn a_status_is_written_by_its_documented_name() {
    let named = UpdateStatusName::schema();
    let named = serde_json::to_value(named).unwrap();
    let statuses = [
        UpdateStatus::Applied,
        UpdateStatus::Unchanged,
        UpdateStatus::DryRun,
        UpdateStatus::Proposed,
    ];
    assert_eq!(named["enum"], json!(statuses));
}
