//! Work in the document that is reported as done in other words.

use super::*;

/// Whether a piece of work in the document is still open after a message.
fn left_of(item: &str, role: &str, text: &str) -> bool {
    let document = format!("# Current Progress\n## In Progress\n- Keep the house\n## Remaining\n- {item}\n");
    let source = source("House", vec![message(role, text)], &document);
    let text = answer(Role::Progress, &source);
    let left = text.split("  Remaining:").nth(1).map(str::to_owned);
    text.contains("no change") || left.is_some_and(|left| left.contains(item))
}

#[test]
fn a_report_with_the_verb_of_a_piece_of_work_finishes_it() {
    for (item, role, text) in [
        ("Buy kiln wash", "user", "22, yep. kiln wash I bought too, 2 kg."),
        (
            "Order 60 hamper boxes",
            "user",
            "Boxes are ordered as well, they arrive on 2 December.",
        ),
        (
            "Fix fct_revenue against the finance figures",
            "assistant",
            "fct_revenue is fixed and merged as PR 611.",
        ),
        (
            "Reiseführer und Interrail-Pass kaufen",
            "user",
            "Den Pass haben wir schon gekauft, der gilt ab dem 20. Juli.",
        ),
        (
            "Sign the order form with Vidal",
            "user",
            "Vidal has signed the order form.",
        ),
        ("手すりの見積もりを取る", "user", "手すりの見積もりは届きました。"),
    ] {
        assert!(!left_of(item, role, text), "{item} / {text}");
    }
    for (item, role, text) in [
        ("Buy kiln wash", "user", "The kiln wash isn't bought yet."),
        (
            "Order 60 hamper boxes",
            "user",
            "Boxes are ordered as soon as the money is here.",
        ),
        ("Order 60 hamper boxes", "user", "I ordered 12 candles."),
        (
            "Sign the order form with Vidal",
            "user",
            "Has Vidal signed the order form?",
        ),
        (
            "Book the hotel by the castle in Lyon",
            "user",
            "The train to Lyon is booked.",
        ),
    ] {
        assert!(left_of(item, role, text), "{item} / {text}");
    }
}

#[test]
fn of_two_pieces_of_work_that_a_report_fits_alike_neither_is_finished() {
    let document = "# Current Progress\n## In Progress\n- Tour\n## Remaining\n- Book the hotel by the lake in Lyon\n- Book the hotel by the lake in Paris\n";
    let source = source(
        "Tour",
        vec![message("user", "Anna has booked a hotel.")],
        document,
    );
    let text = answer(Role::Progress, &source);
    assert!(
        text.contains("no change") || text.contains("in Lyon") && text.contains("in Paris"),
        "{text}"
    );
}

#[test]
fn an_answer_tells_of_what_the_question_names() {
    let left = |item: &str, asked: &str, reply: &str| {
        let document = format!("# Current Progress\n## In Progress\n- Shop\n## Remaining\n- {item}\n");
        let messages = vec![
            message("user", "Hello."),
            message("assistant", asked),
            message("user", reply),
        ];
        let text = answer(Role::Progress, &source("Shop", messages, &document));
        let left = text.split("  Remaining:").nth(1).map(str::to_owned);
        text.contains("no change") || left.is_some_and(|left| left.contains(item))
    };
    for (item, asked, reply) in [
        (
            "Commander les calendriers",
            "Et les calendriers ?",
            "Commandés hier, 80 pièces.",
        ),
        (
            "Tischgestell schweißen lassen",
            "Wie weit ist das Gestell?",
            "Fertig geschweißt, steht bei Krämer.",
        ),
        (
            "Order the calendars",
            "And the calendars?",
            "Ordered yesterday, 80 of them.",
        ),
    ] {
        assert!(!left(item, asked, reply), "{item} / {reply}");
    }
    for (item, asked, reply) in [
        (
            "Commander les calendriers",
            "Et les affiches ?",
            "Commandées hier, 80 pièces.",
        ),
        ("Order the calendars", "And the calendars?", "Not ordered yet."),
        (
            "Order the calendars",
            "And the calendars?",
            "To be ordered tomorrow.",
        ),
    ] {
        assert!(left(item, asked, reply), "{item} / {reply}");
    }
}
