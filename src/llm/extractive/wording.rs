//! The text of a piece of work in a list.

use super::annotated::AnnotatedSentence;
use super::cues::{Language, Sign};
use super::sentence::Voice;
use super::text::{bullet, shortened};
use super::work_state::State;

/// The text of a step for a list, without its announcing words; `None` if nothing is left.
pub(super) fn line(piece: &AnnotatedSentence) -> Option<String> {
    let mut start = piece.body_start();
    // "Next:", "Still to do:", "Then", "Now the", "What is left:"
    loop {
        let rest = &piece.line.folded[start..];
        let opening = piece
            .hits
            .iter()
            .filter(|hit| {
                hit.start == start
                    && matches!(
                        hit.sign,
                        Sign::Next | Sign::Open | Sign::Doing | Sign::Request | Sign::Filler
                    )
            })
            .max_by_key(|hit| hit.end);
        let Some(hit) = opening else { break };
        let after = &piece.line.folded[hit.end..];
        let marked =
            after.trim_start().starts_with([':', ',', '、']) || rest[..hit.end - start].ends_with(':');
        let cue = &rest[..hit.end - start];
        let bare = matches!(
            cue,
            "then"
                | "now"
                | "please"
                | "also"
                | "dann"
                | "jetzt"
                | "bitte"
                | "danach"
                | "puis"
                | "ensuite"
                | "luego"
                | "después"
                | "ahora"
                | "and then"
                | "after that"
                | "afterwards"
                | "next"
                | "anschließend"
                | "finally"
                | "and"
                | "yes please"
                | "次は"
                | "次に"
                | "それと"
        );
        if !marked && !bare {
            break;
        }
        let rest = after.trim_start_matches([' ', ':', ',', '、', '-', '–']);
        start = piece.line.folded.len() - rest.len();
        if rest.is_empty() {
            return None;
        }
    }
    let text = piece.line.after(start);
    let text = bullet(text.trim_matches([' ', ',', ';', '、', '–', '-']))?;
    let about = piece.part(&text);
    let least = if piece.language == Language::Japanese {
        2
    } else {
        1
    };
    (about.content().count() >= 1 && about.terms().count() >= least).then_some(text)
}

/// "I switched it off": the sentence before names the thing.
pub(super) fn pointing_back(
    sentence: &AnnotatedSentence,
    state: State,
    previous: Option<&AnnotatedSentence>,
) -> Option<String> {
    let unfit = [
        Sign::Hedge,
        Sign::Hypothesis,
        Sign::Hearsay,
        Sign::Refuted,
        Sign::NotYet,
        Sign::Open,
        Sign::Plan,
        Sign::Request,
        Sign::Meta,
    ];
    let previous = previous.filter(|previous| {
        !previous.excluded && !previous.asks && previous.is_meaningful() && !previous.has_any(&unfit)
    })?;
    let tells = state == State::Done && sentence.voice == Voice::Assistant && sentence.words().count() >= 4;
    let text = format!("{} {}", shortened(previous.body(), 140), sentence.body());
    tells.then(|| bullet(&text)).flatten()
}
