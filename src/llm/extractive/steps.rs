//! Extracts work from sentences: done, in progress, to do, dropped.

use super::annotated::AnnotatedSentence;
use super::cues::{Hit, Language, Sign};
use super::done::{is_done, is_done_by_user, reports_done};
use super::next::is_next;
use super::sentence::{ListState, Voice};
use super::session::Session;
use super::talk::is_mood;
use super::text::bullet;
use super::wording::{line, pointing_back};
use super::work_state::State;
use super::worth::opens_with_imperative;

/// A piece of work in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) state: State,
    /// The text for a list; empty if the sentence was only "done".
    pub(super) text: String,
}

/// Extracts the work from a sentence.
///
/// `before` is the state that the previous sentence (`previous`) reported.
pub(super) fn steps(
    sentence: &AnnotatedSentence,
    session: &Session,
    before: Option<State>,
    previous: Option<&AnnotatedSentence>,
) -> Vec<Step> {
    if sentence.excluded {
        return Vec::new();
    }
    if let Some(list_state) = sentence.list_state {
        return listed(sentence, list_state);
    }
    if sentence.asks && !(sentence.voice == Voice::User && sentence.has(Sign::Request)) {
        return Vec::new();
    }
    let unsure = sentence.has_any(&[Sign::Hypothesis, Sign::Hedge, Sign::Hearsay])
        || (sentence.voice == Voice::Assistant && sentence.has(Sign::Concession));
    let explicit = sentence.has_any(&[Sign::Open, Sign::NotYet, Sign::Next, Sign::Request]);
    if unsure && !explicit {
        return Vec::new();
    }
    let mut steps: Vec<(State, String)> = Vec::new();
    let mut pending = String::new();
    let mut before = before;
    for (index, part) in parts(sentence).into_iter().enumerate() {
        let piece = sentence.part(part);
        if is_mood(&piece) {
            continue;
        }
        let state = state(&piece, sentence, session, before, index == 0);
        let goes_on = piece.opens_with(Sign::Next);
        match (state, steps.last_mut()) {
            (None, Some((_, text))) => text.push_str(part),
            (None, None) => pending.push_str(part),
            (Some(state), Some((last, text))) if *last == state && !goes_on => text.push_str(part),
            (Some(state), _) => steps.push((state, format!("{}{part}", std::mem::take(&mut pending)))),
        }
        before = state.or(before);
    }
    // If one thing is done but not completely, all of it is open.
    if let [(State::Done, _), (State::Open, second)] = steps.as_slice()
        && sentence.part(second).terms().count() <= 1
    {
        steps = vec![(State::Open, sentence.line.text.clone())];
    }
    // "Done. Exports are signed now."
    if steps.is_empty() && previous.is_some_and(closes) && states_outcome(sentence) {
        steps.push((State::Done, sentence.line.text.clone()));
    }
    let steps = steps.into_iter().map(|(state, text)| Step {
        state,
        text: line(&sentence.part(&text))
            .or_else(|| pointing_back(sentence, state, previous))
            .unwrap_or_default(),
    });
    steps
        .filter(|step| !step.text.is_empty() || step.state == State::Done)
        .collect()
}

/// "Done."
fn closes(sentence: &AnnotatedSentence) -> bool {
    sentence.voice == Voice::Assistant
        && sentence.content().is_empty()
        && sentence.has_any(&[Sign::Closing, Sign::Done])
        && !sentence.has_any(&[Sign::NotYet, Sign::Negation])
}

/// A plain statement about a state.
fn states_outcome(sentence: &AnnotatedSentence) -> bool {
    let other = [
        Sign::Open,
        Sign::NotYet,
        Sign::Next,
        Sign::Doing,
        Sign::Plan,
        Sign::Request,
        Sign::Negation,
        Sign::Condition,
        Sign::Trouble,
    ];
    sentence.is_meaningful() && !sentence.asks && !sentence.has_any(&other)
}

/// An item of a list of work. The heading gives its state, unless the item itself does.
fn listed(sentence: &AnnotatedSentence, list_state: ListState) -> Vec<Step> {
    let state = match list_state {
        ListState::Done if sentence.has(Sign::NotYet) => State::Open,
        ListState::Done => State::Done,
        ListState::Current => State::Doing,
        ListState::Left => State::Open,
    };
    let text = bullet(&sentence.line.text);
    text.map(|text| Step { state, text }).into_iter().collect()
}

/// The parts of a sentence, each of which may report something else.
pub(super) fn parts(sentence: &AnnotatedSentence) -> Vec<&str> {
    let folded = &sentence.line.folded;
    let mut cuts = vec![0];
    let mut last = "";
    let mut depth = 0_usize;
    for (at, word) in sentence.line.words() {
        match word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 {
            last = "";
            continue;
        }
        let after_mark = matches!(last, "," | ";" | "–" | "—" | "-");
        let joins = matches!(word, "and" | "und" | "et" | "y");
        if word == ";" || (after_mark && at > 0) || (joins && begins_step(sentence, at + word.len() + 1)) {
            cuts.push(at);
        }
        last = word;
    }
    cuts.push(folded.len());
    let mut parts: Vec<&str> = Vec::new();
    for pair in cuts.windows(2) {
        let part = sentence.line.between(pair[0], pair[1]);
        if sentence.language == Language::Japanese {
            parts.extend(
                part.split_inclusive("が、")
                    .flat_map(|part| part.split_inclusive("ので、")),
            );
        } else {
            parts.push(part);
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// "and then", "and next", "and I am now".
fn begins_step(sentence: &AnnotatedSentence, at: usize) -> bool {
    sentence
        .hits
        .iter()
        .any(|hit| hit.start == at && matches!(hit.sign, Sign::Next | Sign::Doing | Sign::Open))
}

fn state(
    piece: &AnnotatedSentence,
    whole: &AnnotatedSentence,
    session: &Session,
    before: Option<State>,
    begins: bool,
) -> Option<State> {
    let user = piece.voice == Voice::User;
    let first = user && piece.message == session.first_question;
    // "My son and I have checked the drippers" is a deed.
    let of_life = piece.has(Sign::Personal) && !is_done_by_user(piece);
    let rule = user
        && (of_life || piece.has_any(&[Sign::Keep, Sign::Rule, Sign::Decision]))
        && !piece.has_any(&[Sign::Open, Sign::NotYet]);
    if !user && reports_by_its_beginning(piece) {
        return Some(State::Done);
    }
    if let Some(state) = left(piece, whole, user) {
        return Some(state);
    }
    // "必ず伝えてください" is a request.
    let asks_surely = piece.language == Language::Japanese && !piece.has(Sign::Keep);
    let is_only_asked =
        piece.has(Sign::Request) && (asks_surely || !piece.has_any(&[Sign::Keep, Sign::Rule]));
    if rule && !is_only_asked {
        return None;
    }
    if user && is_asked(piece, whole) {
        return Some(State::Asked);
    }
    if !user && is_doing(piece) {
        return Some(State::Doing);
    }
    if is_next(piece, session, before) {
        return Some(if user { State::Asked } else { State::Open });
    }
    if user && (first || whole.has_any(&[Sign::Denial, Sign::Trouble])) && piece.has(Sign::Trouble) {
        return None;
    }
    if whole.opens_with(Sign::Condition) {
        return None;
    }
    let reported = if user {
        is_done_by_user(piece)
    } else {
        reports_done(piece, begins)
    };
    reported.then_some(State::Done)
}

/// "Done: it waits for the bit now."
fn reports_by_its_beginning(piece: &AnnotatedSentence) -> bool {
    let begins = |hit: &Hit| {
        matches!(hit.sign, Sign::Done | Sign::Closing)
            && hit.start == 1
            && piece.line.folded[hit.end..].trim_start().starts_with(':')
    };
    piece.hits.iter().any(begins) && !piece.has(Sign::NotYet)
}

/// Work that is reported as remaining.
fn left(piece: &AnnotatedSentence, whole: &AnnotatedSentence, user: bool) -> Option<State> {
    let open = piece.first(Sign::NotYet).or_else(|| piece.first(Sign::Open))?;
    let folded = &piece.line.folded;
    // "Nothing is left", and work that was open until something happened.
    let nothing = piece.hits.iter().any(|hit| {
        hit.sign == Sign::Negation && hit.start <= open.start && is_nothing(&folded[hit.start..hit.end])
    });
    let weak = piece.has(Sign::Hypothesis) || whole.opens_with(Sign::Condition);
    let bare = &folded[open.start..open.end];
    let rule = user
        && piece.has_any(&[Sign::Rule, Sign::Keep])
        && !folded[open.start..open.end].contains("bis")
        && !piece.has(Sign::NotYet)
        && !piece.opens_with(Sign::Anaphor);
    let doing = piece.has(Sign::Doing) && is_doing(piece);
    // "Any news?" - "No, they have not answered yet": nothing changed.
    let no_news = !user && open.sign == Sign::NotYet && whole.opens_with(Sign::Denial);
    (!no_news && !nothing && !weak && !rule && !doing && !matches!(bare, "yet" if !piece.has(Sign::Negation)))
        .then_some(State::Open)
}

fn is_nothing(word: &str) -> bool {
    matches!(
        word,
        "nothing"
            | "nobody"
            | "no"
            | "nichts"
            | "rien"
            | "nada"
            | "ningún"
            | "kein"
            | "keine"
            | "aucun"
            | "aucune"
    )
}

/// Whether the user requests it.
fn is_asked(piece: &AnnotatedSentence, whole: &AnnotatedSentence) -> bool {
    let forbids = piece.has(Sign::Negation)
        && piece
            .hits
            .iter()
            .any(|hit| hit.sign == Sign::Negation && hit.start <= piece.body_start() + 2);
    // "Don't send it before I talked to Anne" is a task for later.
    let later = forbids && !piece.has_any(&[Sign::Rule, Sign::Keep]) && whole.has(Sign::Before);
    if later {
        return true;
    }
    let promises = piece.holds(Sign::Plan, &[Sign::Negation]).is_some() && !whole.opens_with(Sign::Condition);
    let asks = piece.has(Sign::Request)
        || opens_with_imperative(piece)
        || piece.words().any(|(_, word)| is_bound_imperative(piece, word));
    let is_talk = piece.has(Sign::Says) && piece.line.text.trim_end().ends_with(':');
    !forbids && !is_talk && (asks || promises)
}

/// German and Japanese imperatives come last; in French and Spanish objects are attached to them.
fn is_bound_imperative(piece: &AnnotatedSentence, word: &str) -> bool {
    word.contains('-') && piece.language == Language::French && (piece.language.words().is_imperative)(word)
}

/// Whether it reports work in progress.
fn is_doing(piece: &AnnotatedSentence) -> bool {
    if piece.has_any(&[Sign::NotYet, Sign::Condition]) {
        return false;
    }
    let negated = piece.has(Sign::Negation);
    let reported = piece
        .hits
        .iter()
        .filter(|hit| hit.sign == Sign::Doing)
        .any(|hit| says_doing(piece, hit));
    reported && !negated
}

fn says_doing(piece: &AnnotatedSentence, hit: &Hit) -> bool {
    let folded = &piece.line.folded;
    let cue = &folded[hit.start..hit.end];
    let next = folded[hit.end..]
        .split(' ')
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    let begins = hit.start <= piece.body_start().max(1) || hit.start <= 1;
    let idle = matches!(next, "waiting" | "looking" if cue != "i am")
        || matches!(next, "sure" | "sorry" | "glad" | "happy" | "afraid" | "waiting");
    match cue {
        "i am" | "i'm" | "i'm now" | "i am now" => next.ends_with("ing") && !idle,
        "estoy" => next.ends_with("ndo"),
        "now" | "now the" | "now i" | "jetzt" | "nun" | "ahora" | "gerade" => {
            begins
                && !is_done(piece)
                && !matches!(next, "it" | "that" | "then" | "on" | "ist" | "sind" | "war")
                && piece.terms().count() >= 1
        }
        "ています" | "しています" | "現在" | "いま" => {
            !folded.contains("待っています")
                && !folded.contains("思っています")
                && !folded.contains("失敗しています")
                && !folded.contains("なっています")
        }
        _ => !idle,
    }
}
