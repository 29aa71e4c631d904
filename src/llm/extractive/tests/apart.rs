//! Texts of the user that must be stored verbatim.

use super::{message, source};
use crate::domain::operation::Role;
use crate::llm::extractive::answer;

fn kept(text: &str) -> bool {
    let text = answer(
        Role::Verbatim,
        &source("Letters", vec![message("user", text)], ""),
    );
    !text.contains("no change")
}

#[test]
fn a_text_that_is_asked_for_word_for_word_is_kept() {
    for text in [
        "This is the text for them, don't change a word of it:\n\n\"From 1 May the small loaf will be 3.95. Thank you.\"",
        "We use this text, please keep it word for word:\n\n## Why\n<one paragraph>\n\n## Risk\n<low or high>",
        "Den Schlusssatz heb bitte wortwörtlich auf:\n\n„Es grüßt aus der Werkstatt: Schreinerei Lohmeier“",
        "Cet avertissement doit être repris au mot près :\n\n« Ne plongez jamais seul. »",
        "Este aviso se copia palabra por palabra:\n\n«Prohibido el paso a toda persona ajena.»",
        "案内文は一字一句残してください。\n\n「欠席の際は当日十六時までにお電話ください。」",
    ] {
        assert!(kept(text), "{text}");
    }
    for text in [
        "He wrote to me:\n\n\"From 1 May the small loaf will be 3.95. Thank you.\"",
        "Please answer this one:\n\nWhen do you open on Monday?",
        "Das schrieb der Kunde:\n\n„Die Treppe knarrt schon wieder.“",
        "Keep it word for word:\n\nthe password is Sonnenblume!77 for all",
    ] {
        assert!(!kept(text), "{text}");
    }
}
