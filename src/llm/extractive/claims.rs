//! Claims in sentences that are worth keeping.

use super::annotated::AnnotatedSentence;
use super::cues::{Language, Sign};
use super::diagnosis::{diagnoses, explains};
use super::record_mention::{corrects_in_passing, names_a_record};
use super::sentence::Voice;
use super::session::Session;
use super::talk::refers_back;
use super::terms::{Terms, names};
use super::text::{capitalised, is_grammar, shortened};
use super::worth::{
    CAUSE, DECISION, FACT, FINDING, INSTEAD, MENTIONED, UNSURE, has_value, of_assistant, of_user,
};

/// Maximum length of an insight in characters.
const MAX_CHARS: usize = 400;

/// A candidate for the memory.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) message: usize,
    pub(super) weight: u8,
    /// The total score (see `weights`).
    pub(super) score: i32,
    pub(super) reason: &'static str,
    pub(super) text: String,
    pub(super) terms: Terms,
    /// Whether it is dropped if its message is contradicted.
    pub(super) is_finding: bool,
}

impl Claim {
    pub(super) fn of(sentence: &AnnotatedSentence, session: &Session) -> Option<Self> {
        let tells = sentence.is_meaningful() || chooses(sentence);
        if sentence.excluded || sentence.asks || sentence.has(Sign::Meta) || !tells {
            return None;
        }
        if names_a_record(sentence) && !corrects_in_passing(sentence) {
            return None;
        }
        let (weight, reason, is_finding) = match sentence.voice {
            Voice::User => of_user(sentence, session),
            // If there are messages, the task is only the topic and makes no claims.
            Voice::Task if session.has_messages => None,
            Voice::Task => of_user(sentence, session).filter(|(_, reason, _)| *reason != FACT),
            Voice::Assistant => of_assistant(sentence)
                .or_else(|| explains(sentence, session))
                .or_else(|| diagnoses(sentence, session)),
        }?;
        let body = sentence.body();
        let text = capitalised(&shortened(body, MAX_CHARS));
        if is_grammar(&text) || text.ends_with(':') {
            return None;
        }
        Some(Self::new(sentence, (weight, reason, is_finding), text))
    }

    /// The weight and reason by the rules, and whether it is a finding.
    fn new(
        sentence: &AnnotatedSentence,
        (weight, reason, is_finding): (u8, &'static str, bool),
        text: String,
    ) -> Self {
        Self {
            message: sentence.message,
            weight,
            score: 0,
            reason,
            text,
            terms: sentence.terms().clone(),
            is_finding,
        }
    }
}

/// "We go with Ink": one name is enough.
fn chooses(sentence: &AnnotatedSentence) -> bool {
    sentence.has(Sign::Decision) && sentence.content().count() == 1 && names(sentence.body()) > 0
}

impl Claim {
    /// A sentence without a claim by the rules; it needs a high score.
    pub(super) fn without_rule(sentence: &AnnotatedSentence) -> Option<Self> {
        let text = capitalised(&shortened(sentence.body(), MAX_CHARS));
        let other = [Sign::Meta, Sign::Others, Sign::Feeling, Sign::Listener];
        let is_own = !sentence.has_any(&UNSURE) && !sentence.has_any(&other) && sentence.voice != Voice::Task;
        let tells = !sentence.excluded && !sentence.asks && sentence.is_meaningful();
        let fits = is_own && tells && !names_a_record(sentence) && !is_grammar(&text);
        let is_finding = sentence.voice == Voice::Assistant;
        (fits && !text.ends_with(':')).then(|| Self::new(sentence, (0, MENTIONED, is_finding), text))
    }

    /// The replacement for a record of the memory.
    pub(super) fn instead(sentence: &AnnotatedSentence) -> Option<Self> {
        let text = capitalised(&shortened(sentence.body(), MAX_CHARS));
        let fits =
            !sentence.excluded && !is_grammar(&text) && !text.ends_with(':') && sentence.terms().count() >= 2;
        let is_finding = sentence.voice == Voice::Assistant;
        fits.then(|| Self::new(sentence, (9, INSTEAD, is_finding), text))
    }

    /// Whether it is incomplete without the next sentence: "The cause is a limit."
    pub(super) fn is_short(&self, sentence: &AnnotatedSentence) -> bool {
        let least = if sentence.language == Language::Japanese {
            4
        } else {
            3
        };
        matches!(self.reason, CAUSE | FINDING)
            && sentence.content().count() < least
            && sentence.terms().numbers.is_empty()
    }

    /// Appends the next sentence.
    pub(super) fn append(&mut self, next: &AnnotatedSentence) {
        let blank = if next.language == Language::Japanese {
            ""
        } else {
            " "
        };
        self.text = shortened(&format!("{}{blank}{}", self.text, next.body()), MAX_CHARS);
        self.terms = std::mem::take(&mut self.terms).with(next.terms());
    }

    /// "It closes at six": prepends the sentence before, which says what "it" is; `None` if there is no such
    /// sentence.
    pub(super) fn grounded(
        self,
        before: Option<&AnnotatedSentence>,
        sentence: &AnnotatedSentence,
    ) -> Option<Self> {
        if !refers_back(sentence) || sentence.voice == Voice::Task {
            return Some(self);
        }
        let plain = |before: &&AnnotatedSentence| {
            !before.excluded
                && !before.asks
                && before.is_meaningful()
                && !refers_back(before)
                && before.body().len() <= MAX_CHARS / 2
                && !before.has_any(&UNSURE)
                && !before.has_any(&[Sign::Refuted, Sign::Meta, Sign::Others, Sign::Feeling])
        };
        let Some(before) = before.filter(plain) else {
            return (self.weight >= 7).then_some(self);
        };
        let mut text = before.body().to_owned();
        if sentence.language != Language::Japanese {
            text.push(' ');
        }
        text.push_str(sentence.body());
        Some(Self {
            text: capitalised(&shortened(&text, MAX_CHARS)),
            terms: before.terms().clone().with(sentence.terms()),
            ..self
        })
    }

    /// "… It stays at 15.": a decision that is only complete together with the sentence before.
    pub(super) fn of_two(before: &AnnotatedSentence, sentence: &AnnotatedSentence) -> Option<Self> {
        let chooses = sentence.has(Sign::Decision) && has_value(sentence) && !sentence.is_meaningful();
        let sure =
            |sentence: &AnnotatedSentence| !sentence.excluded && !sentence.asks && !sentence.has_any(&UNSURE);
        if !(chooses
            && sure(sentence)
            && sure(before)
            && before.is_meaningful()
            && sentence.voice == Voice::User)
        {
            return None;
        }
        let mut claim = Self::new(before, (8, DECISION, false), capitalised(before.body()));
        claim.message = sentence.message;
        claim.append(sentence);
        (!is_grammar(&claim.text)).then_some(claim)
    }

    /// A plain statement after a sentence that announced it.
    pub(super) fn announced(sentence: &AnnotatedSentence, sign: Sign) -> Option<Self> {
        let other = [
            Sign::Refuted,
            Sign::Meta,
            Sign::Open,
            Sign::NotYet,
            Sign::Next,
            Sign::Doing,
            Sign::Request,
        ];
        let plain = !sentence.excluded
            && !sentence.asks
            && sentence.is_meaningful()
            && !sentence.has_any(&UNSURE)
            && !sentence.has_any(&other);
        let worth = match sign {
            Sign::Decision => (8, DECISION, false),
            Sign::Cause => (7, CAUSE, true),
            _ => (6, FINDING, true),
        };
        let text = capitalised(&shortened(sentence.body(), MAX_CHARS));
        (plain && !is_grammar(&text)).then(|| Self::new(sentence, worth, text))
    }
}
