use super::*;

fn mark(version: i64) -> VersionMark {
    VersionMark {
        version,
        at: DateTime::from_timestamp(version * 60, 0).unwrap(),
        by: ActorId::anonymous(),
    }
}

fn rebuilt(
    stored: (Vec<RecordLife>, Vec<RecordEvent>),
    texts: &[(i64, Option<&str>)],
) -> (Vec<RecordLife>, Vec<RecordEvent>) {
    let mut rebuild = Rebuild::new(stored.0, stored.1);
    let details = OperationDetails {
        reasons: HashMap::from([("KL-1".parse().unwrap(), "it is over".to_owned())]),
        ..OperationDetails::default()
    };
    for (version, text) in texts {
        rebuild.version(&mark(*version), *text, &details);
    }
    rebuild.finish()
}

fn lines(events: &[RecordEvent]) -> Vec<String> {
    let lines = events
        .iter()
        .map(|event| format!("{} {} {}", event.mark.version, event.id, event.change.name()));
    lines.collect()
}

const TEXTS: [(i64, Option<&str>); 5] = [
    (1, Some("# Key Learnings\n- KL-1 because a: one\n")),
    (
        2,
        Some("# Key Learnings\n- KL-1 because a: uno\n- KL-2 because b: two\n"),
    ),
    (3, Some("# Key Learnings\n- KL-2 because b: two\n")),
    (4, Some("# Key Learnings\n- KL-1 because a: uno\n")),
    (5, Some("# Key Learnings\n")),
];

#[test]
fn history_is_read_out_of_the_texts_alone() {
    let (lives, events) = rebuilt((Vec::new(), Vec::new()), &TEXTS);
    assert_eq!(
        lines(&events),
        [
            "1 KL-1 added",
            "2 KL-1 changed",
            "2 KL-2 added",
            "3 KL-1 archived",
            "4 KL-1 restored",
            "4 KL-2 archived",
            "5 KL-1 archived"
        ]
    );
    assert_eq!(
        (lives[0].born.version, lives[0].record.content.as_str()),
        (1, "uno")
    );
    let end = lives[0].end.as_ref().unwrap();
    assert_eq!((end.mark.version, end.reason.as_deref()), (5, Some("it is over")));
}

#[test]
fn what_the_texts_that_are_left_do_not_tell_is_kept() {
    let whole = rebuilt((Vec::new(), Vec::new()), &TEXTS);
    for removed in 0..TEXTS.len() - 1 {
        let mut redacted = TEXTS;
        redacted[removed].1 = None;
        assert_eq!(
            rebuilt(whole.clone(), &redacted),
            whole,
            "version {removed} redacted"
        );
        assert_eq!(
            rebuilt(whole.clone(), &TEXTS[removed + 1..]),
            whole,
            "up to {removed} pruned"
        );
    }
}
