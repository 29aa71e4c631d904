//! A piece of work, and the reports that finish it.

use super::cues::{Language, is_small};
use super::listed::{Listed, split};
use super::sentence::Voice;
use super::terms::{Terms, stem};
use super::text::folded;
use super::work_state::State;

/// Verbs for things that are done once they took place or arrived.
static ARRANGING: Listed = Listed::new(|| {
    split(
        "book get order request arrange schedule ask call buy obtain fetch collect find buchen bestellen besorgen einholen vereinbaren anfragen holen kaufen finden \
        auftreiben réserver demander prendre commander obtenir acheter trouver pedir reservar solicitar concertar comprar encargar conseguir encontrar",
    )
});

/// Irregular verbs with their past forms.
const IRREGULAR: &str = "ring rang rung|speak spoke spoken|get got gotten|find found|go went gone|do did done|give gave given|take took taken|bring brought|\
    meet met|see saw seen|tell told|drive drove|hang hung|hold held|leave left|sell sold|choose chose|draw drew|dig dug|feed fed|teach taught|\
    throw threw thrown|cut cut|put put|set set|shut shut|read read|run ran";

/// The past forms of the irregular verbs.
static PASTS: Listed = Listed::new(|| {
    let pasts = |forms: &'static str| forms.split_whitespace().skip(1);
    IRREGULAR.split('|').flat_map(pasts).collect()
});

/// Prepositions before the requested thing: "ask the council for an assessment".
const ASKED_FOR: [&str; 6] = [" for ", " um ", " wegen ", " pour ", " para ", " por "];

/// A piece of work.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) text: String,
    /// The text normalised for comparison.
    pub(super) line: String,
    pub(super) terms: Terms,
    /// The terms without the verb, which is the first word or, in German and Japanese, the last.
    pub(super) object: Terms,
    /// The main noun, without place, owner or other participants.
    head: Vec<String>,
    /// The requested thing, if somebody is asked.
    asked_for: Terms,
    /// In lower case; empty if there is none.
    verb: String,
    pub(super) state: State,
    /// The message that mentioned it last; 0 for work from the document.
    pub(super) message: usize,
    pub(super) voice: Voice,
}

impl Item {
    pub(super) fn of(text: String, state: State, message: usize, voice: Voice) -> Self {
        let (verb, object) = verb_and_object(&text);
        let line = folded(&text);
        let after = |word: &&str| line.rsplit_once(*word).map(|(_, after)| after);
        Self {
            terms: Terms::of(&text),
            object: Terms::of(object),
            head: head(&folded(object)),
            asked_for: Terms::of(ASKED_FOR.iter().find_map(after).unwrap_or_default()),
            verb: verb.to_lowercase(),
            line,
            text,
            state,
            message,
            voice,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.state != State::Done
    }

    pub(super) fn is_named_by(&self, terms: &Terms) -> bool {
        terms.covers(&self.terms)
    }

    /// "The letter went out" finishes "Send the letter about the trip" if the trip is the topic of the
    /// session.
    pub(super) fn is_finished_with(&self, terms: &Terms, about: &Terms) -> bool {
        let first = self.object.words.len() >= 2 && self.object.shared(terms) >= 1;
        self.message == 0
            && first
            && self.object.is_within(about)
            && self.object.numbers.is_subset(&terms.numbers)
    }

    /// "The garlic is in" finishes "Plant garlic".
    pub(super) fn is_finished_by(&self, terms: &Terms) -> bool {
        let shared = self.object.shared(terms);
        let half_of = |object: &Terms| {
            let shared = object.shared(terms);
            shared >= 1 && shared * 2 >= object.count()
        };
        let is_thing = self
            .head
            .iter()
            .any(|word| Terms::of_folded(word).shared(terms) > 0);
        let arranged =
            ARRANGING.has(&self.verb) && ((is_thing && half_of(&self.object)) || half_of(&self.asked_for));
        // "The sleep current hunt is done" says little except for the current work.
        let says_little_else = self.state == State::Doing && shared * 3 >= terms.count() * 2;
        self.is_named_by(terms)
            || arranged
            || (shared >= 2 && (shared * 2 >= self.object.count() || says_little_else))
            || (!self.object.is_empty() && self.object.is_within(terms) && self.object.count() <= 3)
    }

    /// Number of terms of this work in a report that states its verb as done: "den Pass haben wir gekauft"
    /// matches one of "Interrail-Pass kaufen". 0 if the report has a different number.
    pub(super) fn match_as_done(&self, report: &Report<'_>) -> usize {
        if let Some(deed) = self.verb.strip_suffix("する").filter(|deed| !deed.is_empty()) {
            // "部品は昨日注文しました"
            let is_reported = DONE_SUFFIXES
                .iter()
                .any(|past| report.text.contains(&format!("{deed}{past}")));
            return if is_reported {
                self.object.shared(report.terms)
            } else {
                0
            };
        }
        let numbers = &self.object.numbers;
        let is_other = !numbers.is_empty()
            && !report.terms.numbers.is_empty()
            && numbers.is_disjoint(&report.terms.numbers);
        if self.verb.is_empty() || is_other || !report.tells(&self.verb) {
            return 0;
        }
        let things = self.head.iter();
        things
            .filter(|thing| report.words.iter().any(|word| is_same_thing(thing, word)))
            .count()
    }
}

/// Japanese suffixes that mark a noun as a finished deed.
const DONE_SUFFIXES: [&str; 4] = ["しました", "しておきました", "してきました", "済み"];

/// A text that may report finished work.
pub(super) struct Report<'r> {
    text: &'r str,
    terms: &'r Terms,
    words: Vec<&'r str>,
    /// The words in a past form.
    pasts: Vec<&'r str>,
}

impl<'r> Report<'r> {
    /// `text` is folded.
    pub(super) fn of(text: &'r str, terms: &'r Terms) -> Self {
        let words: Vec<&str> = text
            .split(' ')
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .collect();
        let is_past = |word: &&str| {
            let mut languages = Language::ALL.iter();
            PASTS.has(word) || languages.any(|language| (language.words().is_done)(word))
        };
        Self {
            pasts: words.iter().copied().filter(is_past).collect(),
            text,
            terms,
            words,
        }
    }

    fn tells(&self, verb: &str) -> bool {
        self.pasts.iter().any(|past| is_same_verb(verb, past))
    }
}

/// The first significant words of an object: "hotel" of "the hotel in Lyon".
fn head(object: &str) -> Vec<String> {
    let joins = |word: &str| matches!(word, "and" | "und" | "et" | "y");
    let words = object
        .split(' ')
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let begin = words.skip_while(|word| is_small(word));
    let head = begin.take_while(|word| !is_small(word) || joins(word));
    head.filter(|word| !word.is_empty() && !joins(word))
        .map(str::to_owned)
        .collect()
}

/// Splits a piece of work into its verb and its object.
fn verb_and_object(text: &str) -> (&str, &str) {
    // "手すりの見積もりを取る"
    if let Some((object, verb)) = text.rsplit_once('を') {
        return (verb, object);
    }
    // "Noten verteilen": the German verb comes last.
    let is_verb = |word: &str| {
        ["en", "eln", "ern"].iter().any(|end| word.ends_with(end))
            && word.len() >= 5
            && word.chars().all(char::is_lowercase)
    };
    let may_be_german = Language::of(text).is_none_or(|language| language == Language::German);
    // "Tischgestell schweißen lassen": somebody else does it.
    let text = text.strip_suffix(" lassen").unwrap_or(text);
    let verb_last = text
        .rsplit_once(' ')
        .filter(|(_, verb)| may_be_german && is_verb(verb));
    // "Import permit" has no verb.
    let is_imperative = |verb: &str| {
        let verb = verb.to_lowercase();
        let mut languages = Language::ALL.iter();
        languages.any(|language| (language.words().is_imperative)(&verb))
    };
    // "Comprar pilas"
    let is_infinitive = |verb: &str| {
        let is_foreign =
            Language::of(text).is_none_or(|of| matches!(of, Language::Spanish | Language::French));
        is_foreign && verb.len() >= 4 && ["ar", "er", "ir", "re"].iter().any(|end| verb.ends_with(end))
    };
    let verb_first = || {
        text.split_once(' ')
            .filter(|(verb, rest)| rest.contains(' ') || is_imperative(verb) || is_infinitive(verb))
    };
    verb_last
        .map(|(object, verb)| (verb, object))
        .or_else(verb_first)
        .unwrap_or_default()
}

/// Verb endings, longer ones first.
const ENDINGS: [&str; 28] = [
    "ados", "adas", "ando", "ado", "ada", "ido", "ida", "ées", "ing", "és", "ée", "er", "ez", "ed", "en",
    "et", "ar", "ir", "re", "ie", "é", "í", "ó", "i", "t", "e", "n", "s",
];

/// A verb without its endings, and whether the `ge` of a German participle was removed.
fn root(word: &str) -> (String, bool) {
    let infix = word
        .match_indices("ge")
        .find(|(at, _)| *at <= 6 && word.len() > at + 4);
    let (bare, is_participle) = match infix {
        Some((at, ge)) if word.ends_with(['t', 'n']) => {
            (format!("{}{}", &word[..at], &word[at + ge.len()..]), true)
        }
        _ => (word.to_owned(), false),
    };
    let ending = ENDINGS
        .iter()
        .find_map(|ending| bare.strip_suffix(ending).filter(|rest| rest.chars().count() >= 3));
    (ending.unwrap_or(&bare).to_owned(), is_participle)
}

/// Whether both are forms of one verb: "buy" and "bought", "kaufen" and "gekauft", "schreiben" and
/// "geschrieben", "revisar" and "revisé".
fn is_same_verb(verb: &str, reported: &str) -> bool {
    if verb.chars().next() != reported.chars().next() && !reported.starts_with("ge") {
        return false;
    }
    let is_of = |forms: &str| {
        let mut forms = forms.split(' ');
        forms.next() == Some(verb) && forms.any(|past| past == reported)
    };
    if IRREGULAR.split('|').any(is_of) {
        return true;
    }
    if stem(verb) == stem(reported) {
        return true;
    }
    let ((verb, _), (reported, is_participle)) = (root(verb), root(reported));
    let consonants = |word: &str| {
        word.chars()
            .filter(|c| !"aeiouäöü".contains(*c))
            .collect::<String>()
    };
    let is_ablaut =
        || is_participle && consonants(&verb).len() >= 3 && consonants(&verb) == consonants(&reported);
    verb.chars().count() >= 3 && (verb == reported || is_ablaut())
}

/// Whether the words are equal, or one is the last part of the other compound.
fn is_same_thing(thing: &str, reported: &str) -> bool {
    let is_part = |part: &str, whole: &str| {
        part.chars().count() >= 4 && whole.len() >= part.len() + 3 && whole.ends_with(part)
    };
    stem(thing) == stem(reported) || is_part(reported, thing) || is_part(thing, reported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn match_as_done(item: &str, report: &str) -> usize {
        let item = Item::of(item.to_owned(), State::Open, 0, Voice::Task);
        item.match_as_done(&Report::of(&folded(report), &Terms::of(report)))
    }

    #[test]
    fn a_verb_reported_as_done_with_its_object_finishes_a_piece_of_work() {
        for (item, report) in [
            (
                "Fix fct_revenue against the finance figures",
                "fct_revenue is fixed",
            ),
            ("Interrail-Pass kaufen", "den Pass haben wir schon gekauft"),
            ("Antrag an den Bezirksrat schreiben", "Der Antrag ist geschrieben"),
            (
                "Revisar los goteros de la parcela baja",
                "los goteros ya los revisé ayer",
            ),
            ("Envoyer la facture au syndic", "la facture est envoyée"),
            ("Buy the paint for the hall", "I bought the paint"),
        ] {
            assert!(match_as_done(item, report) > 0, "{item} / {report}");
        }
        for (item, report) in [
            ("Fix the upload", "the login is fixed"),
            ("Interrail-Pass kaufen", "den Reiseführer haben wir gekauft"),
            ("Write the letter", "The letter is here"),
            ("Check dock 6", "Checked dock 7"),
            ("Fresh paint", "The paint is bought"),
        ] {
            assert_eq!(match_as_done(item, report), 0, "{item} / {report}");
        }
    }
}
