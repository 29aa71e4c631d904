use super::*;
use crate::pipeline::stored;
use serde_json::{Value, json};

/// A request with every storable member.
fn request() -> UpdateRequest {
    let message = |role: &str, content: &str| ConversationMessage {
        role: role.to_owned(),
        content: content.to_owned(),
    };
    UpdateRequest {
        vault: "acme".parse().unwrap(),
        memory: "agent".parse().unwrap(),
        actor: "ci".parse().unwrap(),
        preconditions: Preconditions::default(),
        task: "a task".to_owned(),
        messages: vec![message("user", "do it"), message("tool", "done")],
        dry_run: false,
        allow_partial: true,
        on_invalid: OnInvalid::Fail,
        evidence: Some(Strictness::Warn),
        roles: [Role::Verbatim, Role::Progress].into(),
        mode: Mode::Propose {
            key: Some("k-1".parse().unwrap()),
        },
        record: Some(SessionRecord {
            task: Task {
                task_id: Some("t-1".parse().unwrap()),
                intent: "i".to_owned(),
                summary: "s".to_owned(),
                details: details(json!({"outcome": {"ok": true, "share": 0.1}, "epic": "e"})),
            },
            goal: Some("g".to_owned()),
            blocker: Some("b".to_owned()),
        }),
        steps: Steps::default(),
        idempotency: None,
    }
}

/// Details by the names of their members, so that a new member changes nothing here.
fn details(members: Value) -> TaskDetails {
    serde_json::from_value(members).unwrap()
}

/// The request as earlier releases stored it. Later releases must be able to read it.
fn literal() -> Value {
    json!({
        "task": "a task",
        "messages": [{"role": "user", "content": "do it"}, {"role": "tool", "content": "done"}],
        "dry_run": false,
        "allow_partial": true,
        "on_invalid": "fail",
        "evidence": "warn",
        "roles": ["progress", "verbatim"],
        "mode": "propose",
        "key_id": "k-1",
        "record": {
            "task_id": "t-1", "intent": "i", "summary": "s", "outcome": {"ok": true, "share": 0.1}, "epic": "e",
            "goal": "g", "blocker": "b",
        },
    })
}

/// Reads a stored request as a worker does, and stores it again.
fn read(stored: &Value) -> Result<Value, String> {
    let stored = stored::read::<StoredUpdate>(stored)?;
    let place = ("acme".parse().unwrap(), "agent".parse().unwrap());
    let request = stored.into_request(place, "ci".parse().unwrap(), Preconditions::default());
    Ok(json!(StoredUpdate::from(&request)))
}

#[test]
fn an_update_has_one_stored_form() {
    assert_eq!(json!(StoredUpdate::from(&request())), literal());
    assert_eq!(read(&literal()), Ok(literal()));
}

#[test]
fn an_update_without_options_stores_no_members_for_them() {
    let plain = UpdateRequest {
        on_invalid: OnInvalid::Drop,
        mode: Mode::Apply,
        record: None,
        ..request()
    };
    let mut stored = literal();
    stored["on_invalid"] = json!("drop");
    for absent in ["mode", "key_id", "record"] {
        stored.as_object_mut().unwrap().remove(absent);
    }
    assert_eq!(json!(StoredUpdate::from(&plain)), stored);
    assert_eq!(read(&stored), Ok(stored));
}

#[test]
fn a_proposal_without_a_key_stores_null() {
    let mut stored = literal();
    stored["key_id"] = json!(null);
    let without_key = UpdateRequest {
        mode: Mode::Propose { key: None },
        ..request()
    };
    assert_eq!(json!(StoredUpdate::from(&without_key)), stored);
    assert_eq!(read(&stored), Ok(stored));
}

#[test]
fn operations_have_one_stored_form() {
    let mut request = OperationsRequest {
        vault: "acme".parse().unwrap(),
        memory: "agent".parse().unwrap(),
        actor: "ci".parse().unwrap(),
        preconditions: Preconditions::default(),
        input: OperationsInput::Text("KEY_LEARNINGS:".to_owned()),
        dry_run: true,
        on_invalid: OnInvalid::Drop,
        max_additions: None,
        resolves: Some("u-1".parse().unwrap()),
        mode: Mode::Apply,
        idempotency: None,
    };
    assert_eq!(
        json!(StoredOperations::from(&request)),
        json!({
            "text": "KEY_LEARNINGS:", "operations": null, "dry_run": true, "on_invalid": "drop", "max_additions": null,
            "update_id": "u-1",
        })
    );
    request.input = OperationsInput::List(Vec::new());
    request.max_additions = Some(3);
    request.resolves = None;
    request.mode = Mode::Propose { key: None };
    assert_eq!(
        json!(StoredOperations::from(&request)),
        json!({
            "text": null, "operations": [], "dry_run": true, "on_invalid": "drop", "max_additions": 3,
            "update_id": null, "mode": "propose", "key_id": null,
        })
    );
}

#[test]
fn a_member_that_cannot_be_read_is_an_error_and_no_default() {
    for (member, value) in [
        ("/task", json!(null)),
        ("/messages", json!({})),
        ("/messages/1", json!("done")),
        ("/messages/1/role", json!(7)),
        ("/messages/1/content", json!(null)),
        ("/dry_run", json!(0)),
        ("/allow_partial", json!("true")),
        ("/on_invalid", json!("ignore")),
        ("/on_invalid", json!(null)),
        ("/roles", json!("progress")),
        ("/roles", json!(["progress", "summary"])),
        ("/roles", json!(["progress", 7])),
        ("/roles", json!(["progress", "progress"])),
        ("/mode", json!("apply later")),
        ("/mode", json!(null)),
        ("/key_id", json!("not a key id")),
        ("/key_id", json!(7)),
        ("/record", json!(null)),
        ("/record", json!("done")),
        ("/record/task_id", json!("not an id")),
        ("/record/intent", json!(null)),
        ("/record/outcome", json!(null)),
        ("/record/epic", json!(7)),
        ("/record/goal", json!(null)),
        ("/record/blocker", json!([])),
    ] {
        let mut stored = literal();
        *stored.pointer_mut(member).unwrap() = value;
        let error = read(&stored).expect_err(member);
        let (_, name) = member.rsplit_once('/').unwrap();
        let names_it = error.contains(name) || error.starts_with("mode: ") || error.starts_with("key_id: ");
        // The details of a task are flattened into the record, which is where their error is found.
        let names_it = names_it || (name == "epic" && error.starts_with("record: "));
        assert!(names_it || error.starts_with("messages[1]"), "{member}: {error}");
    }
}

#[test]
fn a_member_that_is_missing_is_an_error() {
    for member in [
        "task",
        "messages",
        "dry_run",
        "allow_partial",
        "on_invalid",
        "roles",
        "mode",
        "key_id",
    ] {
        let mut stored = literal();
        stored.as_object_mut().unwrap().remove(member);
        let error = read(&stored).expect_err(member);
        assert!(
            error.contains(member) || error.contains("key_id"),
            "{member}: {error}"
        );
    }
}

#[test]
fn a_member_of_a_newer_release_is_refused() {
    for parent in ["", "/messages/0", "/record"] {
        let mut stored = literal();
        stored.pointer_mut(parent).unwrap()["ttl"] = json!(60);
        let error = read(&stored).expect_err(parent);
        assert!(
            error.contains("ttl: this release does not know it"),
            "{parent}: {error}"
        );
    }
}

#[test]
fn the_record_of_a_session_that_an_earlier_release_stored_is_read() {
    let full = json!({"task_id": "t-1", "intent": "i", "summary": "s", "outcome": {"ok": [1, 0.5]}, "epic": "e",
                      "goal": "g"});
    let read = SessionRecord::from(stored::read::<StoredSessionRecord>(&full).unwrap());
    assert_eq!(
        read.task.details,
        details(json!({"outcome": {"ok": [1, 0.5]}, "epic": "e"}))
    );
    assert_eq!((read.goal.as_deref(), read.blocker), (Some("g"), None));
    let plain = json!({"intent": "i", "summary": "s"});
    let read = stored::read::<StoredSessionRecord>(&plain).unwrap();
    assert_eq!(json!(read), plain);
}
