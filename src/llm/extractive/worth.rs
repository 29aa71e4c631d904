//! Classifies a sentence: the kind of claim, its weight, and the reason to keep it.

use super::annotated::AnnotatedSentence;
use super::cues::{Hit, Language, Sign, is_month};
use super::done::is_done;
use super::session::Session;
use super::talk::{is_of_others, is_of_the_moment};
use super::terms::{Terms, names};
use super::values::{Kind, values};

/// Signs of doubt.
pub(super) const UNSURE: [Sign; 3] = [Sign::Hedge, Sign::Hypothesis, Sign::Hearsay];

/// Weight, reason, and whether the claim is dropped if its message is contradicted.
pub(super) type Worth = Option<(u8, &'static str, bool)>;

const KEEP: &str = "the user asked to keep it in mind";
const RULE: &str = "the user stated it as a rule";
pub(super) const DECISION: &str = "it was decided";
pub(super) const CAUSE: &str = "it was found to be the cause";
pub(super) const FINDING: &str = "it was found out";
const PERSONAL: &str = "the user told it of their own";
const CHANGE: &str = "the user corrected what was known";
pub(super) const INSTEAD: &str = "it holds instead of what was known";
pub(super) const LIMIT: &str = "the user set this bound";
pub(super) const FACT: &str = "the user stated it";
pub(super) const MENTIONED: &str = "it was told";
const EXPLAINED: &str = "it explains why";
const REQUIREMENT: &str = "it is what the other side requires";

pub(super) fn of_user(sentence: &AnnotatedSentence, session: &Session) -> Worth {
    let keeps = sentence
        .holds(Sign::Keep, &UNSURE)
        .filter(|hit| !is_to_do(sentence, *hit));
    if keeps.is_some() {
        return Some((10, KEEP, false));
    }
    if sentence.has(Sign::Refuted) && !sentence.has_any(&[Sign::Cause, Sign::Decision, Sign::Change]) {
        return None;
    }
    if is_of_the_moment(sentence) {
        return None;
    }
    if is_decision(sentence) {
        return Some((8, DECISION, false));
    }
    if sentence.has(Sign::Feeling) {
        return None;
    }
    if is_rule(sentence) {
        return Some((8, RULE, false));
    }
    let is_order = opens_with_imperative(sentence) || sentence.has(Sign::Request) || is_proposal(sentence);
    if is_personal(sentence) && !sentence.has_any(&[Sign::Refuted, Sign::Done]) && !is_order {
        return Some((8, PERSONAL, false));
    }
    if is_cause(sentence) && !is_order {
        return Some((7, CAUSE, true));
    }
    let symptom = session.seeks_a_fault && sentence.message == session.first_question;
    let says_before = sentence.has_any(&[Sign::Old, Sign::OldBefore, Sign::Moved, Sign::Retired]);
    // "Lag is going down, 900k now"
    let passes =
        !says_before && (sentence.has(Sign::Moment) || (session.seeks_a_fault && is_only_now(sentence)));
    if is_change(sentence) && !passes && !(symptom && (sentence.has(Sign::Trouble) || !says_before)) {
        return Some((9, CHANGE, false));
    }
    if symptom || sentence.has_any(&UNSURE) {
        return None;
    }
    if is_limit(sentence, session) {
        return Some((6, LIMIT, false));
    }
    if sentence.has_any(&[Sign::Wish, Sign::Moment, Sign::Past]) {
        return None;
    }
    if sentence.has(Sign::Finding) && (has_value(sentence) || sentence.line.folded.contains(" : ")) {
        return Some((6, FINDING, true));
    }
    if sentence.has(Sign::Because) && !sentence.has_any(&[Sign::Request, Sign::Trouble, Sign::Done]) {
        return Some((5, EXPLAINED, false));
    }
    if sentence.has(Sign::Requirement) && !sentence.has(Sign::Trouble) {
        return Some((4, REQUIREMENT, false));
    }
    let is_dated = values(sentence.body())
        .iter()
        .any(|(kind, _)| *kind == Kind::Date);
    is_fact(sentence, session).then_some((if is_dated { 4 } else { 3 }, FACT, false))
}

pub(super) fn of_assistant(sentence: &AnnotatedSentence) -> Worth {
    if sentence.has(Sign::Hearsay) || sentence.has(Sign::Injection) {
        return None;
    }
    if is_cause(sentence) {
        return Some((7, CAUSE, true));
    }
    if sentence.has(Sign::Refuted) {
        return None;
    }
    if sentence
        .holds(Sign::Finding, &UNSURE)
        .is_some_and(|cue| finds_something(sentence, cue))
    {
        return Some((6, FINDING, true));
    }
    if sentence.has_any(&UNSURE)
        || sentence.has_any(&[Sign::Plan, Sign::Wish])
        || sentence.opens_with(Sign::Condition)
    {
        return None;
    }
    if is_decision(sentence) && !sentence.has(Sign::Limit) {
        return Some((6, DECISION, false));
    }
    if sentence.has(Sign::Because) && !sentence.has_any(&[Sign::NotYet, Sign::Open]) {
        return Some((5, EXPLAINED, true));
    }
    let required = sentence.first(Sign::Requirement).is_some()
        && !sentence.has_any(&[Sign::NotYet, Sign::Open, Sign::Trouble]);
    required.then_some((4, REQUIREMENT, true))
}

/// A finding must say more than that there is one, and is not work.
fn finds_something(sentence: &AnnotatedSentence, cue: Hit) -> bool {
    let of_cue = Terms::of(&sentence.line.folded[cue.start..cue.end]);
    let reports = is_done(sentence) && !sentence.line.folded.contains(" : ");
    sentence.terms().without(&of_cue).count() >= 2 && !reports
}

/// "Remember to buy milk" is work, not knowledge.
fn is_to_do(sentence: &AnnotatedSentence, cue: Hit) -> bool {
    let covers = |hit: &Hit| hit.start <= cue.start && hit.end >= cue.end;
    sentence
        .hits
        .iter()
        .any(|hit| hit.sign == Sign::Open && covers(hit))
}

fn is_decision(sentence: &AnnotatedSentence) -> bool {
    // "EPDM it is", but not "as it is".
    let as_it_is = [
        " as it is ",
        " that it is ",
        " what it is ",
        " how it is ",
        " like it is ",
    ]
    .iter()
    .any(|words| sentence.line.folded.contains(words));
    !as_it_is
        && !is_of_others(sentence)
        && sentence
            .holds(
                Sign::Decision,
                &[
                    Sign::Hedge,
                    Sign::Hypothesis,
                    Sign::Hearsay,
                    Sign::Condition,
                    Sign::NotYet,
                ],
            )
            .is_some()
        && !sentence.opens_with(Sign::NotYet)
}

/// Whether it states a rule, and neither complains about what always fails nor requests a single action.
fn is_rule(sentence: &AnnotatedSentence) -> bool {
    let Some(hit) = sentence.holds(Sign::Rule, &[Sign::Hedge, Sign::Hypothesis, Sign::Hearsay]) else {
        return false;
    };
    let complains = sentence
        .hits
        .iter()
        .any(|other| other.sign == Sign::Trouble && other.start >= hit.end && other.start <= hit.end + 2);
    let one_deed = is_to_do(sentence, hit) && sentence.opens_with(Sign::Anaphor);
    !complains && !one_deed && !refers_to_one_thing(sentence, hit) && !sentence.opens_with(Sign::Condition)
}

/// "Muss das geändert werden": refers to one specific thing.
fn refers_to_one_thing(sentence: &AnnotatedSentence, rule: Hit) -> bool {
    let mut hits = sentence.hits.iter();
    sentence.language == Language::German
        && !has_value(sentence)
        && hits.any(|hit| hit.sign == Sign::Anaphor && hit.start == rule.end + 1)
}

fn is_cause(sentence: &AnnotatedSentence) -> bool {
    let Some(hit) = sentence.holds(Sign::Cause, &UNSURE) else {
        return false;
    };
    // "was not caused by", but "not the reader, it was the firmware".
    let before = sentence.line.folded[..hit.start].trim_end();
    let negated = sentence.hits.iter().any(|other| {
        other.sign == Sign::Negation
            && other.end + 4 >= hit.start
            && other.start < hit.start
            && before.ends_with(&sentence.line.folded[other.start..other.end])
    });
    let says_more = sentence.terms().count() >= 2;
    !negated && says_more
}

/// Whether something changed and the sentence says how.
fn is_change(sentence: &AnnotatedSentence) -> bool {
    let replaces = sentence.has(Sign::Old) && has_value(sentence) && !sentence.has(Sign::NotYet);
    let changes = sentence.holds(Sign::Change, &UNSURE).is_some() || (replaces && !sentence.has_any(&UNSURE));
    let from_one_to_another = sentence.language == Language::Japanese && sentence.has(Sign::From);
    let says_how = sentence.has_any(&[Sign::Old, Sign::OldBefore, Sign::Moved, Sign::Retired])
        || from_one_to_another
        || has_value(sentence)
        || (names(sentence.body()) > 0
            && (sentence.language != Language::German || sentence.content().count() >= 2));
    let about_work = sentence.has_any(&[Sign::Request, Sign::Open, Sign::NotYet, Sign::Wish])
        || is_being_done(sentence)
        || opens_with_imperative(sentence);
    let instead = sentence.has(Sign::OldBefore)
        || (sentence.has(Sign::Old) && values(sentence.body()).len() >= 2)
        || sentence.hits.iter().any(|hit| {
            hit.sign == Sign::Change
                && sentence
                    .hits
                    .iter()
                    .any(|old| old.sign == Sign::Old && old.start == hit.start)
        });
    changes
        && says_how
        && !(is_only_now(sentence) && sentence.has(Sign::Wish))
        && !ends_with_the_old(sentence)
        && (!about_work || (instead && !opens_with_imperative(sentence)))
}

/// Whether "now" is the only sign of a change.
fn is_only_now(sentence: &AnnotatedSentence) -> bool {
    let of = |sign: Sign| sentence.hits.iter().filter(move |hit| hit.sign == sign);
    of(Sign::Change).all(|change| of(Sign::Now).any(|now| (now.start, now.end) == (change.start, change.end)))
}

/// Whether "now" marks work in progress, or only a change of state.
fn is_being_done(sentence: &AnnotatedSentence) -> bool {
    let of = |sign: Sign| sentence.hits.iter().filter(move |hit| hit.sign == sign);
    of(Sign::Doing)
        .any(|doing| !of(Sign::Change).any(|change| (change.start, change.end) == (doing.start, doing.end)))
}

/// "Not at Ramón's any more": gives only the old value, not a new one.
fn ends_with_the_old(sentence: &AnnotatedSentence) -> bool {
    let of_mark = |hit: &Hit| {
        sentence.line.folded[hit.end..]
            .trim_start()
            .starts_with([',', '.', '!'])
    };
    let mut old = sentence
        .hits
        .iter()
        .filter(|hit| hit.sign == Sign::Old)
        .peekable();
    old.peek().is_some() && old.all(of_mark) && !sentence.has_any(&[Sign::Moved, Sign::OldBefore])
}

/// Whether it is about a person's life. "My husband says he will swim" is hearsay.
fn is_personal(sentence: &AnnotatedSentence) -> bool {
    let heard = sentence.first(Sign::Hearsay);
    let of_life = |hit: &Hit| hit.sign == Sign::Personal && heard.is_none_or(|heard| heard.end < hit.start);
    sentence
        .holds(Sign::Personal, &[Sign::Hedge, Sign::Hypothesis, Sign::Plan])
        .is_some()
        && sentence.hits.iter().any(of_life)
}

/// "Let's move the state today".
fn is_proposal(sentence: &AnnotatedSentence) -> bool {
    let first = sentence.words().next().map_or("", |(_, word)| word);
    matches!(first, "let's" | "lass" | "lasst" | "vamos" | "allons")
}

/// "Don't build a plan on that": refers to the conversation, not to a practice.
fn refers_to_conversation(sentence: &AnnotatedSentence, limit: Hit) -> bool {
    let forbids = matches!(&sentence.line.folded[limit.start..limit.end], "don't" | "do not");
    let points = sentence
        .hits
        .iter()
        .any(|hit| hit.sign == Sign::Anaphor && hit.start >= limit.end);
    forbids && points && !has_value(sentence) && names(sentence.body()) == 0
}

fn is_limit(sentence: &AnnotatedSentence, session: &Session) -> bool {
    let Some(hit) = sentence.first(Sign::Limit) else {
        return false;
    };
    if sentence.has(Sign::Moment) || is_proposal(sentence) || refers_to_conversation(sentence, hit) {
        return false;
    }
    let word = &sentence.line.folded[hit.start..hit.end];
    let before = sentence.line.folded[..hit.start]
        .trim_end()
        .rsplit(' ')
        .next()
        .unwrap_or_default();
    // "I don't know" is about the speaker.
    let of_speaker = matches!(before, "i" | "we" | "you" | "they" | "ich" | "wir") && word.contains('n');
    let explains = sentence.has_any(&[Sign::Because, Sign::Hence]);
    let is_symptom = session.seeks_a_fault && sentence.has(Sign::Trouble) && !explains;
    !of_speaker
        && !is_symptom
        && !sentence.has_any(&[Sign::NotYet, Sign::Condition, Sign::Open])
        && !sentence.opens_with(Sign::Next)
        && !is_plain_denial(sentence)
        && !opens_with_imperative(sentence)
        && (has_value(sentence) || names(sentence.body()) > 0 || sentence.terms().count() >= 3)
}

/// "No, …", but not "no open flames".
fn is_plain_denial(sentence: &AnnotatedSentence) -> bool {
    let denies = |hit: &Hit| hit.sign == Sign::Denial && hit.start <= sentence.body_start();
    let marked = |hit: &Hit| {
        sentence.line.folded[hit.end..]
            .trim_start()
            .starts_with([',', '.', '!', ';', '、', '。'])
    };
    sentence
        .hits
        .iter()
        .any(|hit| denies(hit) && (marked(hit) || hit.end - hit.start > 4))
}

/// A statement of the user with a name, a number or a date that is not a report, a plan or a complaint.
fn is_fact(sentence: &AnnotatedSentence, session: &Session) -> bool {
    let about_work = [
        Sign::Request,
        Sign::Doing,
        Sign::Open,
        Sign::NotYet,
        Sign::Plan,
        Sign::Refuted,
        Sign::Closing,
        Sign::Condition,
        Sign::Done,
    ];
    let dated = values(sentence.body())
        .iter()
        .any(|(kind, _)| matches!(kind, Kind::Date | Kind::Time));
    let names_one = sentence.language != Language::German && names(sentence.body()) > 0;
    let states = sentence.language == Language::Japanese
        && sentence.line.folded.contains('は')
        && sentence
            .line
            .folded
            .trim_end_matches([' ', '。'])
            .ends_with("です");
    // An aside is not a symptom of the problem under discussion.
    let is_symptom = session.seeks_a_fault || sentence.has(Sign::Trouble);
    (!is_symptom || sentence.has(Sign::Aside))
        && !begins_with_a_deed(sentence)
        && !sentence.has_any(&about_work)
        // "No, 21 days since May" answers a question.
        && (!sentence.has(Sign::Denial) || session.is_asked_for(sentence))
        && (dated || !sentence.has(Sign::Next))
        && !opens_with_imperative(sentence)
        && (has_value(sentence) || names_one || states)
        && sentence
            .content()
            .words
            .iter()
            .filter(|word| !is_month(&word.text()))
            .count()
            >= 2
}

/// "Topped up to 1.4": a deed.
fn begins_with_a_deed(sentence: &AnnotatedSentence) -> bool {
    let first = sentence.words().map(|(_, word)| word).next().unwrap_or_default();
    sentence.language != Language::Japanese && (sentence.language.words().is_done)(first)
}

pub(super) fn opens_with_imperative(sentence: &AnnotatedSentence) -> bool {
    let is_imperative = sentence.language.words().is_imperative;
    let bitte = |word: &str| {
        matches!(
            word,
            "please" | "bitte" | "then" | "," | "dann" | "also" | "pues" | "now" | "jetzt"
        )
    };
    sentence
        .words()
        .map(|(_, word)| word)
        .find(|word| !bitte(word))
        .is_some_and(is_imperative)
}

pub(super) fn has_value(sentence: &AnnotatedSentence) -> bool {
    sentence.body().chars().any(|c| c.is_numeric())
        && values(sentence.body()).iter().any(|(kind, text)| {
            !matches!(kind, Kind::Bare | Kind::Weekday) && (*kind != Kind::Plain || text.len() > 1)
        })
}
