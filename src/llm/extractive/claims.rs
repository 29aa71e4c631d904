//! Claims in sentences that are worth keeping.

use super::cues::{Language, Sign};
use super::diagnosis::{diagnoses, explains};
use super::said::Said;
use super::sentence::Voice;
use super::session::Session;
use super::talk::points_back;
use super::terms::{Terms, names};
use super::text::{capitalised, is_grammar, shortened};
use super::worth::{
    CAUSE, DECISION, FACT, FINDING, INSTEAD, TOLD, UNSURE, corrects_in_passing, has_value, names_a_record,
    of_assistant, of_user,
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
    pub(super) fn of(said: &Said, session: &Session) -> Option<Self> {
        let tells = said.is_telling() || chooses(said);
        if said.void || said.asks || said.has(Sign::Meta) || !tells {
            return None;
        }
        if names_a_record(said) && !corrects_in_passing(said) {
            return None;
        }
        let (weight, reason, is_finding) = match said.voice {
            Voice::User => of_user(said, session),
            // If there are messages, the task is only the topic and makes no claims.
            Voice::Task if session.has_messages => None,
            Voice::Task => of_user(said, session).filter(|(_, reason, _)| *reason != FACT),
            Voice::Assistant => of_assistant(said)
                .or_else(|| explains(said, session))
                .or_else(|| diagnoses(said, session)),
        }?;
        let body = said.body();
        let text = capitalised(&shortened(body, MAX_CHARS));
        if is_grammar(&text) || text.ends_with(':') {
            return None;
        }
        Some(Self::new(said, (weight, reason, is_finding), text))
    }

    /// The weight and reason by the rules, and whether it is a finding.
    fn new(said: &Said, (weight, reason, is_finding): (u8, &'static str, bool), text: String) -> Self {
        Self {
            message: said.message,
            weight,
            score: 0,
            reason,
            text,
            terms: said.terms().clone(),
            is_finding,
        }
    }
}

/// "We go with Ink": one name is enough.
fn chooses(said: &Said) -> bool {
    said.has(Sign::Decision) && said.content().count() == 1 && names(said.body()) > 0
}

impl Claim {
    /// A sentence without a claim by the rules; it needs a high score.
    pub(super) fn told(said: &Said) -> Option<Self> {
        let text = capitalised(&shortened(said.body(), MAX_CHARS));
        let other = [Sign::Meta, Sign::Others, Sign::Feeling, Sign::Listener];
        let is_own = !said.has_any(&UNSURE) && !said.has_any(&other) && said.voice != Voice::Task;
        let tells = !said.void && !said.asks && said.is_telling();
        let fits = is_own && tells && !names_a_record(said) && !is_grammar(&text);
        let is_finding = said.voice == Voice::Assistant;
        (fits && !text.ends_with(':')).then(|| Self::new(said, (0, TOLD, is_finding), text))
    }

    /// The replacement for a record of the memory.
    pub(super) fn instead(said: &Said) -> Option<Self> {
        let text = capitalised(&shortened(said.body(), MAX_CHARS));
        let fits = !said.void && !is_grammar(&text) && !text.ends_with(':') && said.terms().count() >= 2;
        let is_finding = said.voice == Voice::Assistant;
        fits.then(|| Self::new(said, (9, INSTEAD, is_finding), text))
    }

    /// Whether it is incomplete without the next sentence: "The cause is a limit."
    pub(super) fn is_short(&self, said: &Said) -> bool {
        let least = if said.language == Language::Japanese { 4 } else { 3 };
        matches!(self.reason, CAUSE | FINDING)
            && said.content().count() < least
            && said.terms().numbers.is_empty()
    }

    /// Appends the next sentence.
    pub(super) fn go_on(&mut self, next: &Said) {
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
    pub(super) fn grounded(self, before: Option<&Said>, said: &Said) -> Option<Self> {
        if !points_back(said) || said.voice == Voice::Task {
            return Some(self);
        }
        let plain = |before: &&Said| {
            !before.void
                && !before.asks
                && before.is_telling()
                && !points_back(before)
                && before.body().len() <= MAX_CHARS / 2
                && !before.has_any(&UNSURE)
                && !before.has_any(&[Sign::Refuted, Sign::Meta, Sign::Others, Sign::Feeling])
        };
        let Some(before) = before.filter(plain) else {
            return (self.weight >= 7).then_some(self);
        };
        let mut text = before.body().to_owned();
        if said.language != Language::Japanese {
            text.push(' ');
        }
        text.push_str(said.body());
        Some(Self {
            text: capitalised(&shortened(&text, MAX_CHARS)),
            terms: before.terms().clone().with(said.terms()),
            ..self
        })
    }

    /// "… It stays at 15.": a decision that is only complete together with the sentence before.
    pub(super) fn of_two(before: &Said, said: &Said) -> Option<Self> {
        let chooses = said.has(Sign::Decision) && has_value(said) && !said.is_telling();
        let sure = |said: &Said| !said.void && !said.asks && !said.has_any(&UNSURE);
        if !(chooses && sure(said) && sure(before) && before.is_telling() && said.voice == Voice::User) {
            return None;
        }
        let mut claim = Self::new(before, (8, DECISION, false), capitalised(before.body()));
        claim.message = said.message;
        claim.go_on(said);
        (!is_grammar(&claim.text)).then_some(claim)
    }

    /// A plain statement after a sentence that announced it.
    pub(super) fn announced(said: &Said, sign: Sign) -> Option<Self> {
        let other = [
            Sign::Refuted,
            Sign::Meta,
            Sign::Open,
            Sign::NotYet,
            Sign::Next,
            Sign::Doing,
            Sign::Request,
        ];
        let plain =
            !said.void && !said.asks && said.is_telling() && !said.has_any(&UNSURE) && !said.has_any(&other);
        let worth = match sign {
            Sign::Decision => (8, DECISION, false),
            Sign::Cause => (7, CAUSE, true),
            _ => (6, FINDING, true),
        };
        let text = capitalised(&shortened(said.body(), MAX_CHARS));
        (plain && !is_grammar(&text)).then(|| Self::new(said, worth, text))
    }
}
