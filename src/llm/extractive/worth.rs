//! Classifies a sentence: the kind of claim, its weight, and the reason to keep it.

use super::cues::{Hit, Language, Sign, is_month};
use super::done::is_done;
use super::said::Said;
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
pub(super) const TOLD: &str = "it was told";
const EXPLAINED: &str = "it explains why";
const REQUIREMENT: &str = "it is what the other side requires";

pub(super) fn of_user(said: &Said, session: &Session) -> Worth {
    let keeps = said
        .holds(Sign::Keep, &UNSURE)
        .filter(|hit| !is_to_do(said, *hit));
    if keeps.is_some() {
        return Some((10, KEEP, false));
    }
    if said.has(Sign::Refuted) && !said.has_any(&[Sign::Cause, Sign::Decision, Sign::Change]) {
        return None;
    }
    if is_of_the_moment(said) {
        return None;
    }
    if is_decision(said) {
        return Some((8, DECISION, false));
    }
    if said.has(Sign::Feeling) {
        return None;
    }
    if is_rule(said) {
        return Some((8, RULE, false));
    }
    let is_order = opens_with_imperative(said) || said.has(Sign::Request) || is_proposal(said);
    if is_personal(said) && !said.has_any(&[Sign::Refuted, Sign::Done]) && !is_order {
        return Some((8, PERSONAL, false));
    }
    if is_cause(said) && !is_order {
        return Some((7, CAUSE, true));
    }
    let symptom = session.seeks_a_fault && said.message == session.first_question;
    let says_before = said.has_any(&[Sign::Old, Sign::OldBefore, Sign::Moved, Sign::Retired]);
    // "Lag is going down, 900k now"
    let passes = !says_before && (said.has(Sign::Moment) || (session.seeks_a_fault && is_only_now(said)));
    if is_change(said) && !passes && !(symptom && (said.has(Sign::Trouble) || !says_before)) {
        return Some((9, CHANGE, false));
    }
    if symptom || said.has_any(&UNSURE) {
        return None;
    }
    if is_limit(said, session) {
        return Some((6, LIMIT, false));
    }
    if said.has_any(&[Sign::Wish, Sign::Moment, Sign::Past]) {
        return None;
    }
    if said.has(Sign::Finding) && (has_value(said) || said.line.folded.contains(" : ")) {
        return Some((6, FINDING, true));
    }
    if said.has(Sign::Because) && !said.has_any(&[Sign::Request, Sign::Trouble, Sign::Done]) {
        return Some((5, EXPLAINED, false));
    }
    if said.has(Sign::Requirement) && !said.has(Sign::Trouble) {
        return Some((4, REQUIREMENT, false));
    }
    let is_dated = values(said.body()).iter().any(|(kind, _)| *kind == Kind::Date);
    is_fact(said, session).then_some((if is_dated { 4 } else { 3 }, FACT, false))
}

pub(super) fn of_assistant(said: &Said) -> Worth {
    if said.has(Sign::Hearsay) || said.has(Sign::Injection) {
        return None;
    }
    if is_cause(said) {
        return Some((7, CAUSE, true));
    }
    if said.has(Sign::Refuted) {
        return None;
    }
    if said
        .holds(Sign::Finding, &UNSURE)
        .is_some_and(|cue| finds_something(said, cue))
    {
        return Some((6, FINDING, true));
    }
    if said.has_any(&UNSURE) || said.has_any(&[Sign::Plan, Sign::Wish]) || said.opens_with(Sign::Condition) {
        return None;
    }
    if is_decision(said) && !said.has(Sign::Limit) {
        return Some((6, DECISION, false));
    }
    if said.has(Sign::Because) && !said.has_any(&[Sign::NotYet, Sign::Open]) {
        return Some((5, EXPLAINED, true));
    }
    let required =
        said.first(Sign::Requirement).is_some() && !said.has_any(&[Sign::NotYet, Sign::Open, Sign::Trouble]);
    required.then_some((4, REQUIREMENT, true))
}

/// A finding must say more than that there is one, and is not work.
fn finds_something(said: &Said, cue: Hit) -> bool {
    let of_cue = Terms::of(&said.line.folded[cue.start..cue.end]);
    let reports = is_done(said) && !said.line.folded.contains(" : ");
    said.terms().without(&of_cue).count() >= 2 && !reports
}

/// "Remember to buy milk" is work, not knowledge.
fn is_to_do(said: &Said, cue: Hit) -> bool {
    let covers = |hit: &Hit| hit.start <= cue.start && hit.end >= cue.end;
    said.hits.iter().any(|hit| hit.sign == Sign::Open && covers(hit))
}

fn is_decision(said: &Said) -> bool {
    // "EPDM it is", but not "as it is".
    let as_it_is = [
        " as it is ",
        " that it is ",
        " what it is ",
        " how it is ",
        " like it is ",
    ]
    .iter()
    .any(|words| said.line.folded.contains(words));
    !as_it_is
        && !is_of_others(said)
        && said
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
        && !said.opens_with(Sign::NotYet)
}

/// Whether it states a rule, and neither complains about what always fails nor requests a single action.
fn is_rule(said: &Said) -> bool {
    let Some(hit) = said.holds(Sign::Rule, &[Sign::Hedge, Sign::Hypothesis, Sign::Hearsay]) else {
        return false;
    };
    let complains = said
        .hits
        .iter()
        .any(|other| other.sign == Sign::Trouble && other.start >= hit.end && other.start <= hit.end + 2);
    let one_deed = is_to_do(said, hit) && said.opens_with(Sign::Anaphor);
    !complains && !one_deed && !points_on(said, hit) && !said.opens_with(Sign::Condition)
}

/// "Muss das geändert werden": refers to one specific thing.
fn points_on(said: &Said, rule: Hit) -> bool {
    let mut hits = said.hits.iter();
    said.language == Language::German
        && !has_value(said)
        && hits.any(|hit| hit.sign == Sign::Anaphor && hit.start == rule.end + 1)
}

fn is_cause(said: &Said) -> bool {
    let Some(hit) = said.holds(Sign::Cause, &UNSURE) else {
        return false;
    };
    // "was not caused by", but "not the reader, it was the firmware".
    let before = said.line.folded[..hit.start].trim_end();
    let negated = said.hits.iter().any(|other| {
        other.sign == Sign::Negation
            && other.end + 4 >= hit.start
            && other.start < hit.start
            && before.ends_with(&said.line.folded[other.start..other.end])
    });
    let says_more = said.terms().count() >= 2;
    !negated && says_more
}

/// Whether something changed and the sentence says how.
fn is_change(said: &Said) -> bool {
    let replaces = said.has(Sign::Old) && has_value(said) && !said.has(Sign::NotYet);
    let changes = said.holds(Sign::Change, &UNSURE).is_some() || (replaces && !said.has_any(&UNSURE));
    let from_one_to_another = said.language == Language::Japanese && said.has(Sign::From);
    let says_how = said.has_any(&[Sign::Old, Sign::OldBefore, Sign::Moved, Sign::Retired])
        || from_one_to_another
        || has_value(said)
        || (names(said.body()) > 0 && (said.language != Language::German || said.content().count() >= 2));
    let about_work = said.has_any(&[Sign::Request, Sign::Open, Sign::NotYet, Sign::Wish])
        || is_being_done(said)
        || opens_with_imperative(said);
    let instead = said.has(Sign::OldBefore)
        || (said.has(Sign::Old) && values(said.body()).len() >= 2)
        || said.hits.iter().any(|hit| {
            hit.sign == Sign::Change
                && said
                    .hits
                    .iter()
                    .any(|old| old.sign == Sign::Old && old.start == hit.start)
        });
    changes
        && says_how
        && !(is_only_now(said) && said.has(Sign::Wish))
        && !ends_with_the_old(said)
        && (!about_work || (instead && !opens_with_imperative(said)))
}

/// Whether "now" is the only sign of a change.
fn is_only_now(said: &Said) -> bool {
    let of = |sign: Sign| said.hits.iter().filter(move |hit| hit.sign == sign);
    of(Sign::Change).all(|change| of(Sign::Now).any(|now| (now.start, now.end) == (change.start, change.end)))
}

/// Whether "now" marks work in progress, or only a change of state.
fn is_being_done(said: &Said) -> bool {
    let of = |sign: Sign| said.hits.iter().filter(move |hit| hit.sign == sign);
    of(Sign::Doing)
        .any(|doing| !of(Sign::Change).any(|change| (change.start, change.end) == (doing.start, doing.end)))
}

/// "Not at Ramón's any more": gives only the old value, not a new one.
fn ends_with_the_old(said: &Said) -> bool {
    let of_mark = |hit: &Hit| {
        said.line.folded[hit.end..]
            .trim_start()
            .starts_with([',', '.', '!'])
    };
    let mut old = said.hits.iter().filter(|hit| hit.sign == Sign::Old).peekable();
    old.peek().is_some() && old.all(of_mark) && !said.has_any(&[Sign::Moved, Sign::OldBefore])
}

/// Whether it is about a person's life. "My husband says he will swim" is hearsay.
fn is_personal(said: &Said) -> bool {
    let heard = said.first(Sign::Hearsay);
    let of_life = |hit: &Hit| hit.sign == Sign::Personal && heard.is_none_or(|heard| heard.end < hit.start);
    said.holds(Sign::Personal, &[Sign::Hedge, Sign::Hypothesis, Sign::Plan])
        .is_some()
        && said.hits.iter().any(of_life)
}

/// "Let's move the state today".
fn is_proposal(said: &Said) -> bool {
    let first = said.words().next().map_or("", |(_, word)| word);
    matches!(first, "let's" | "lass" | "lasst" | "vamos" | "allons")
}

/// "Don't build a plan on that": refers to the conversation, not to a practice.
fn points_at_talk(said: &Said, limit: Hit) -> bool {
    let forbids = matches!(&said.line.folded[limit.start..limit.end], "don't" | "do not");
    let points = said
        .hits
        .iter()
        .any(|hit| hit.sign == Sign::Anaphor && hit.start >= limit.end);
    forbids && points && !has_value(said) && names(said.body()) == 0
}

fn is_limit(said: &Said, session: &Session) -> bool {
    let Some(hit) = said.first(Sign::Limit) else {
        return false;
    };
    if said.has(Sign::Moment) || is_proposal(said) || points_at_talk(said, hit) {
        return false;
    }
    let word = &said.line.folded[hit.start..hit.end];
    let before = said.line.folded[..hit.start]
        .trim_end()
        .rsplit(' ')
        .next()
        .unwrap_or_default();
    // "I don't know" is about the speaker.
    let of_speaker = matches!(before, "i" | "we" | "you" | "they" | "ich" | "wir") && word.contains('n');
    let explains = said.has_any(&[Sign::Because, Sign::Hence]);
    let is_symptom = session.seeks_a_fault && said.has(Sign::Trouble) && !explains;
    !of_speaker
        && !is_symptom
        && !said.has_any(&[Sign::NotYet, Sign::Condition, Sign::Open])
        && !said.opens_with(Sign::Next)
        && !is_plain_denial(said)
        && !opens_with_imperative(said)
        && (has_value(said) || names(said.body()) > 0 || said.terms().count() >= 3)
}

/// "No, …", but not "no open flames".
fn is_plain_denial(said: &Said) -> bool {
    let denies = |hit: &Hit| hit.sign == Sign::Denial && hit.start <= said.body_start();
    let marked = |hit: &Hit| {
        said.line.folded[hit.end..]
            .trim_start()
            .starts_with([',', '.', '!', ';', '、', '。'])
    };
    said.hits
        .iter()
        .any(|hit| denies(hit) && (marked(hit) || hit.end - hit.start > 4))
}

/// A statement of the user with a name, a number or a date that is not a report, a plan or a complaint.
fn is_fact(said: &Said, session: &Session) -> bool {
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
    let dated = values(said.body())
        .iter()
        .any(|(kind, _)| matches!(kind, Kind::Date | Kind::Time));
    let names_one = said.language != Language::German && names(said.body()) > 0;
    let states = said.language == Language::Japanese
        && said.line.folded.contains('は')
        && said.line.folded.trim_end_matches([' ', '。']).ends_with("です");
    // An aside is not a symptom of the problem under discussion.
    let is_symptom = session.seeks_a_fault || said.has(Sign::Trouble);
    (!is_symptom || said.has(Sign::Aside))
        && !begins_with_a_deed(said)
        && !said.has_any(&about_work)
        // "No, 21 days since May" answers a question.
        && (!said.has(Sign::Denial) || session.is_asked_for(said))
        && (dated || !said.has(Sign::Next))
        && !opens_with_imperative(said)
        && (has_value(said) || names_one || states)
        && said
            .content()
            .words
            .iter()
            .filter(|word| !is_month(&word.text()))
            .count()
            >= 2
}

/// "Topped up to 1.4": a deed.
fn begins_with_a_deed(said: &Said) -> bool {
    let first = said.words().map(|(_, word)| word).next().unwrap_or_default();
    said.language != Language::Japanese && (said.language.words().is_done)(first)
}

pub(super) fn opens_with_imperative(said: &Said) -> bool {
    let is_imperative = said.language.words().is_imperative;
    let bitte = |word: &str| {
        matches!(
            word,
            "please" | "bitte" | "then" | "," | "dann" | "also" | "pues" | "now" | "jetzt"
        )
    };
    said.words()
        .map(|(_, word)| word)
        .find(|word| !bitte(word))
        .is_some_and(is_imperative)
}

pub(super) fn has_value(said: &Said) -> bool {
    said.body().chars().any(|c| c.is_numeric())
        && values(said.body()).iter().any(|(kind, text)| {
            !matches!(kind, Kind::Bare | Kind::Weekday) && (*kind != Kind::Plain || text.len() > 1)
        })
}

/// "He was born in 1879, and not in 1881 as KL-1 says": the record is named only to correct it.
pub(super) fn corrects_in_passing(said: &Said) -> bool {
    said.has(Sign::Old) && !said.has(Sign::Obsolete) && values(said.body()).len() >= 3
}

/// "KL-2 is wrong": an instruction about the record, not a claim to keep.
pub(super) fn names_a_record(said: &Said) -> bool {
    said.terms().numbers.iter().any(|word| {
        let number = word.strip_prefix("kl-").or(word.strip_prefix("vc-"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}
