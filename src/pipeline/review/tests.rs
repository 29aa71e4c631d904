use super::*;
use serde_json::json;

/// The document that it was made on.
const DOCUMENT: &str = "# Active Context\nGoal: ship\n\n# Current Progress\n- before\n\n# Key Learnings\n- KL-1 because r: old\n- KL-7 \
                        because r: not named\n\n# Verbatim Context\n- VC-2 because r: l => s\n";

/// A proposal as it is stored.
fn literal() -> Value {
    json!({
        "form": 1,
        "operations": [
            {
                "op": "rewrite_progress", "completed": [], "in_progress": ["x"], "remaining": ["y"],
                "text": "- as written",
            },
            {"op": "add", "reason": "r", "content": "c", "replaces": "KL-1", "text": "- as written"},
            {
                "op": "add", "reason": "r", "label": "l", "content": "s", "text": "- as written",
                "evidence": [{"from": "message", "index": 3, "start": 1, "end": 3, "quote": "as"}],
            },
            {"op": "archive", "id": "VC-2", "reason": "old", "text": "- as written"},
        ],
        "progress_before": "- before",
        "records_before": {"KL-1": "old", "VC-2": "l => s"},
        "status_before": {"goal": "ship", "blocker": null, "updated": null},
        "record": {"intent": "i", "summary": "s", "goal": "rest"},
        "key_id": "k-1",
    })
}

#[test]
fn a_proposal_has_one_stored_form() {
    let read = Proposal::read(&literal()).unwrap();
    assert_eq!(json!(read), literal());
    let operations = read.chosen(&[0, 1, 2, 3]);
    let record = read.record.unwrap();
    let key = "k-1".parse().unwrap();
    assert_eq!(
        json!(Proposal::new(
            &operations,
            RunKind::Update,
            DOCUMENT,
            Some(&record),
            Some(&key)
        )),
        literal()
    );
    let mut earlier = literal();
    for member in ["records_before", "status_before"] {
        earlier.as_object_mut().unwrap().remove(member);
    }
    assert_eq!(json!(Proposal::read(&earlier).unwrap()), earlier);
}

#[test]
fn a_proposal_that_cannot_be_read_whole_is_an_error() {
    for (place, other) in [
        ("/form", json!("1")),
        ("/operations", json!({})),
        ("/operations/0/op", json!("rewrite")),
        ("/operations/0/in_progress", json!(["x", 7])),
        ("/operations/0/text", json!(null)),
        ("/operations/1/replaces", json!("KL-0")),
        ("/operations/1/replaces", json!(null)),
        ("/operations/1/content", json!(["c"])),
        ("/operations/2/label", json!(7)),
        ("/operations/2/evidence", json!([{"from": "message"}])),
        ("/operations/2/evidence/0/index", json!("3")),
        ("/operations/3/id", json!("VC2")),
        ("/progress_before", json!(7)),
        ("/records_before/KL-1", json!(null)),
        ("/status_before/goal", json!(7)),
        ("/record/summary", json!(null)),
        ("/record", json!([])),
        ("/key_id", json!("not a key id")),
    ] {
        let mut stored = literal();
        *stored.pointer_mut(place).unwrap() = other;
        assert!(Proposal::read(&stored).is_err(), "{stored}");
    }
    for missing in ["form", "operations", "key_id"] {
        let mut stored = literal();
        stored.as_object_mut().unwrap().remove(missing);
        assert!(Proposal::read(&stored).is_err(), "{stored}");
    }
}

#[test]
fn a_proposal_with_a_member_of_a_newer_release_is_refused() {
    for (parent, member) in [
        ("", "ttl"),
        ("/operations/1", "operations"),
        ("/operations/2/evidence/0", "operations"),
        ("/record", "record"),
    ] {
        let mut stored = literal();
        stored.pointer_mut(parent).unwrap()["ttl"] = json!(60);
        let unknown = format!("{member}: this release does not know it in this form");
        assert_eq!(Proposal::read(&stored).unwrap_err(), unknown);
    }
}

#[test]
fn what_is_approved_alone_replaces_nothing_that_stays() {
    let mut addition = Operation::learning("r", "c");
    addition.set_replaced("KL-1".parse().ok());
    let archive = Operation::Archive {
        id: "KL-1".parse().unwrap(),
        reason: "old".to_owned(),
        ground: None,
    };
    let accepted = [addition, archive].map(|operation| Item {
        written: "- as written".into(),
        ..Item::new(operation, 0..0)
    });
    let proposal = Proposal::new(&accepted, RunKind::Update, DOCUMENT, None, None);
    let replaces = |numbers: &[usize]| proposal.chosen(numbers)[0].operation.replaces();
    assert_eq!(replaces(&[0]), None, "KL-1 is not to be archived");
    assert_eq!(replaces(&[0, 1]), "KL-1".parse().ok());
}
