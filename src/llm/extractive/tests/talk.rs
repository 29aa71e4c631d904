//! Statements that must not be recorded, statements of others, and feelings.

use super::*;
use crate::llm::ConversationMessage;

fn kept(messages: &[(&str, &str)]) -> String {
    let messages: Vec<ConversationMessage> =
        messages.iter().map(|(role, text)| message(role, text)).collect();
    let source = source("Notes", messages, "");
    Role::ALL.iter().map(|role| answer(*role, &source)).collect()
}

#[test]
fn what_is_not_to_be_written_down_is_not() {
    for text in [
        "Our source is called Torsten Vahl, but that stays between us.",
        "Our source is Torsten Vahl since May. Don't write that down.",
        "Er heißt übrigens Torsten Vahl, aber das bleibt unter uns, schreib das nirgends auf.",
        "La source est Torsten Vahl depuis le 3 mai. Ne le note pas.",
        "La fuente es Torsten Vahl desde mayo, que no conste.",
        "情報源はTorsten Vahlさんです。ここだけの話です。",
    ] {
        let kept = kept(&[("user", text)]);
        assert!(!kept.contains("Vahl"), "{text}\n{kept}");
    }
    for (text, wanted) in [
        (
            "The ledger must never be stored in /tmp, don't keep it there.",
            "/tmp",
        ),
        (
            "Remember that the source only goes by 'Birke', the name must not stand in a file.",
            "file",
        ),
        (
            "Die Datei liegt immer unter /srv/akten, nicht unter /tmp.",
            "/srv/akten",
        ),
    ] {
        let kept = kept(&[("user", text)]);
        assert!(kept.contains(wanted), "{text}\n{kept}");
    }
}

#[test]
fn hearsay_is_no_fact() {
    for text in [
        "The readings were never over the limit of 40 mg. That was his line.",
        "The readings were never over 40 mg. I don't buy it.",
        "Die Werte lagen nie über 40 mg. Das glaube ich ihm nicht, behauptet er.",
        "Les valeurs n'ont jamais passé 40 mg. C'est sa version.",
        "Los valores nunca pasaron de 40 mg. Eso me soltó.",
        "数値は必ず40mg以下です。という言い分です。",
    ] {
        let kept = kept(&[("user", text)]);
        assert!(!kept.contains("40"), "{text}\n{kept}");
    }
    let kept = kept(&[("user", "The readings must never be over the limit of 40 mg.")]);
    assert!(kept.contains("40 mg"), "{kept}");
}

#[test]
fn a_quotation_of_several_sentences_is_one() {
    let letter = "His answer: \"All right. My cousin says you should refinish the top by Friday, and put modern tuners on.\"";
    let kept = kept(&[("user", "Ask him."), ("assistant", letter)]);
    assert!(!kept.contains("tuners"), "{kept}");
}

#[test]
fn how_somebody_feels_is_no_work() {
    for text in [
        "I've sent the plan, I'm knackered.",
        "Ich habe den Plan verschickt, ich bin völlig geplättet.",
        "J'ai envoyé le plan, je suis lessivé.",
        "He enviado el plan, estoy destrozado.",
    ] {
        let progress = progress_of(&[("user", text)]);
        let all = progress.completed.concat();
        let moods = ["knackered", "geplättet", "lessivé", "destrozado"];
        assert!(
            !all.is_empty() && !moods.iter().any(|mood| all.contains(mood)),
            "{text} {progress:?}"
        );
    }
    let progress = progress_of(&[("assistant", "I'm done with the plan, I'm writing the letter now.")]);
    assert!(progress.in_progress.concat().contains("letter"), "{progress:?}");
}
