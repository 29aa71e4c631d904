//! Unpacking restores what was packed.

use super::*;
use proptest::prelude::*;

fn messages(texts: &[String]) -> Value {
    let message = |text: &String| json!({"role": "user", "content": text});
    texts.iter().map(message).collect()
}

/// An exchange as the pipeline makes it.
fn exchange(system: &str, turns: &[String], answer: Option<&str>) -> Value {
    json!({"section": "progress", "system": system, "messages": messages(turns), "answer": answer, "attempts": 1})
}

fn request(texts: &[String]) -> Value {
    json!({"task": "Work on the parser.", "messages": messages(texts)})
}

fn unpacked(request: &Value, packed: Packed) -> Value {
    unpack(None, request, packed.exchanges, &json!(packed.instructions)).unwrap()
}

#[test]
fn runs_that_are_no_list_of_exchanges_stay_as_they_are() {
    for plain in [
        json!([]),
        json!(["text"]),
        json!([{"system": {"instructions": "x"}}]),
        json!([{"answer": [0, 0, 1]}]),
        json!([{"messages": [{"content": [[0, 0, 1]]}]}]),
    ] {
        let packed = Packed::of(None, &request(&[]), &plain);
        assert_eq!(packed.exchanges, plain);
        assert_eq!(unpacked(&request(&[]), packed), plain);
    }
    let without = json!([{"section": "progress"}, {"messages": "none", "answer": null}]);
    assert_eq!(
        unpacked(&request(&[]), Packed::of(None, &request(&[]), &without)),
        without
    );
}

#[test]
fn a_place_that_is_not_there_is_an_error() {
    for bad in [
        json!({"packed": [{"answer": [[0, 0, 9_999]]}]}),
        json!({"packed": [{"answer": [[7, 0, 1]]}]}),
        json!({"packed": [{"answer": [[0, 3, 1]]}]}),
        json!({"packed": [{"answer": [{}]}]}),
        json!({"packed": 1}),
        json!({}),
    ] {
        assert!(
            unpack(None, &request(&[]), bad.clone(), &Value::Null).is_err(),
            "{bad}"
        );
    }
}

/// Texts of few distinct lines, some of them long, with and without a final line end.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(String::new()),
        Just("ä".repeat(40)),
        Just("the parser reads a line and then another one, ".repeat(3)),
        Just("the parser reads a line and then another one, ".repeat(2)),
        "[a-cä\r]{0,3}",
    ];
    (proptest::collection::vec(line, 0..12), any::<bool>())
        .prop_map(|(lines, ends)| lines.join("\n") + if ends { "\n" } else { "" })
}

proptest! {
    #[test]
    fn what_is_packed_is_read_back_to_the_byte(
        base in proptest::option::of(text()),
        messages in proptest::collection::vec(text(), 0..4),
        asked in proptest::collection::vec(
            (text(), proptest::collection::vec(text(), 0..4), proptest::option::of(text())),
            0..4,
        ),
    ) {
        let request = request(&messages);
        let exchanges: Vec<_> = asked
            .iter()
            .map(|(system, turns, answer)| exchange(system, turns, answer.as_deref()))
            .collect();
        let exchanges = Value::Array(exchanges);
        let packed = Packed::of(base.as_deref().map(|text| (3, text)), &request, &exchanges);
        let read = unpack(base.as_deref(), &request, packed.exchanges.clone(), &json!(packed.instructions));
        prop_assert_eq!(&read.unwrap(), &exchanges);
        // Quotations of the missing version are lost; the rest can be read.
        prop_assert!(unpack(None, &request, packed.exchanges, &json!(packed.instructions)).is_ok());
    }
}
