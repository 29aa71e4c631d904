//! Evaluates the sentences of a session in their context.

use super::annotated::AnnotatedSentence;
use super::code::Code;
use super::cues::{Language, Sign};
use super::done::is_done;
use super::listed::{Listed, split};
use super::secrets::has_secret;
use super::seen_values::SeenValues;
use super::sentence::Voice;
use super::transcript::Transcript;
use crate::llm::Source;

/// A joke with at most this many terms refers to the sentence before.
const ASIDE_TERMS: usize = 2;
/// A request not to record something with at most this many terms refers to the sentence before.
const PRIVATE_TERMS: usize = 2;

/// The sentences and code of a session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) sentences: Vec<AnnotatedSentence>,
    pub(super) codes: Vec<Code>,
    /// Numbers in tool outputs and in the user's statements.
    pub(super) seen_values: SeenValues,
    /// Numbers of the messages that are tool outputs, in order.
    pub(super) outputs: Vec<usize>,
    /// Number of the assistant's last message; 0 if there is none.
    pub(super) last_answer: usize,
    /// Number of the user's first message; 0 if there is none.
    pub(super) first_question: usize,
    /// Whether it is about a fault: numbers in the user's messages are then symptoms.
    pub(super) seeks_a_fault: bool,
    /// Whether there is anything besides the task.
    pub(super) has_messages: bool,
    /// The language of most messages.
    pub(super) usual: Language,
    /// Numbers of the assistant's messages that end with a question, in order.
    asking: Vec<usize>,
    /// Numbers of the assistant's messages that first describe a state and then report a change, in order.
    reporting_fixes: Vec<usize>,
}

impl Session {
    pub(super) fn of(source: &Source) -> Self {
        let transcript = Transcript::of(&source.task, &source.messages);
        let (usual, languages) = languages(source);
        let mut sentences: Vec<AnnotatedSentence> = transcript
            .sentences
            .iter()
            .map(|sentence| AnnotatedSentence::of(sentence, languages[sentence.message]))
            .collect();
        exclude(&mut sentences);
        let of = |voice: Voice| {
            sentences
                .iter()
                .filter(move |sentence| sentence.voice == voice)
                .map(|sentence| sentence.message)
        };
        let first_question = of(Voice::User).min().unwrap_or(0);
        let mut seen_values = transcript.seen_values;
        let tells = |sentence: &&AnnotatedSentence| {
            let unsure = [Sign::Hypothesis, Sign::Hedge, Sign::Hearsay];
            sentence.voice == Voice::User
                && !sentence.excluded
                && !sentence.asks
                && !sentence.has_any(&unsure)
        };
        sentences
            .iter()
            .filter(tells)
            .for_each(|sentence| seen_values.record_statement(sentence));
        let seeks_a_fault = sentences
            .iter()
            .filter(|sentence| sentence.voice == Voice::Task || sentence.message == first_question)
            .any(|sentence| {
                sentence.has(Sign::Trouble) || (sentence.voice == Voice::Task && asks_for_repair(sentence))
            });
        Self {
            last_answer: of(Voice::Assistant).max().unwrap_or(0),
            first_question,
            seeks_a_fault,
            has_messages: !source.messages.is_empty(),
            usual,
            asking: asking(&sentences),
            reporting_fixes: reporting_fixes(&sentences),
            outputs: transcript.outputs,
            codes: transcript.codes,
            seen_values,
            sentences,
        }
    }

    /// Whether the previous message is a tool output.
    pub(super) fn follows_output(&self, sentence: &AnnotatedSentence) -> bool {
        sentence.message > 0 && self.outputs.binary_search(&(sentence.message - 1)).is_ok()
    }

    /// Whether it is in the answer to a question of the assistant.
    pub(super) fn is_asked_for(&self, sentence: &AnnotatedSentence) -> bool {
        sentence.message > 0 && self.asking.binary_search(&(sentence.message - 1)).is_ok()
    }

    /// Whether it describes a state that the same message then reports as changed.
    pub(super) fn is_then_fixed(&self, sentence: &AnnotatedSentence) -> bool {
        self.reporting_fixes.binary_search(&sentence.message).is_ok()
    }

    /// The sentences that are not excluded.
    pub(super) fn meant(&self) -> impl Iterator<Item = &AnnotatedSentence> {
        self.sentences.iter().filter(|sentence| !sentence.excluded)
    }

    /// Number of the message before the user's last one.
    pub(super) fn last_request(&self) -> usize {
        let users = self
            .sentences
            .iter()
            .filter(|sentence| sentence.voice == Voice::User);
        users
            .map(|sentence| sentence.message)
            .max()
            .unwrap_or(0)
            .saturating_sub(1)
    }

    /// Numbers of the assistant's messages that were contradicted, by the user or by the assistant.
    pub(super) fn denied(&self) -> Vec<usize> {
        let mut denied = Vec::new();
        let mut answer = None;
        let mut answer_before = None;
        let mut doubted = false;
        let mut answer_asks = false;
        for (at, sentence) in self.sentences.iter().enumerate() {
            let begins = at == 0 || self.sentences[at - 1].message != sentence.message;
            match sentence.voice {
                Voice::Assistant => {
                    if answer != Some(sentence.message) {
                        answer_before = answer;
                        answer = Some(sentence.message);
                    }
                    answer_asks = sentence.asks;
                    if begins
                        && doubted
                        && (sentence.has(Sign::Concession) || is_denial(sentence, true, false))
                    {
                        denied.extend(answer_before);
                    }
                }
                Voice::User => {
                    let denies = is_denial(sentence, begins, answer_asks);
                    if begins {
                        doubted = false;
                    }
                    doubted |= denies || sentence.asks || sentence.has(Sign::Trouble);
                    if denies {
                        denied.extend(answer);
                    }
                }
                Voice::Task => {}
            }
        }
        denied.sort_unstable();
        denied.dedup();
        denied
    }
}

/// Numbers of the assistant's messages that end with a question, in order.
fn asking(sentences: &[AnnotatedSentence]) -> Vec<usize> {
    let ends = |at: usize| {
        sentences
            .get(at + 1)
            .is_none_or(|next| next.message != sentences[at].message)
    };
    let asks = |at: &usize| sentences[*at].voice == Voice::Assistant && sentences[*at].asks && ends(*at);
    (0..sentences.len())
        .filter(asks)
        .map(|at| sentences[at].message)
        .collect()
}

/// Numbers of the assistant's messages that first describe a state and then report a change, in order.
fn reporting_fixes(sentences: &[AnnotatedSentence]) -> Vec<usize> {
    let mends = |message: &&[AnnotatedSentence]| {
        let of_assistant = message[0].voice == Voice::Assistant;
        of_assistant && !is_done(&message[0]) && message[1..].iter().any(is_done)
    };
    let messages = sentences.chunk_by(|one, next| one.message == next.message);
    messages.filter(mends).map(|message| message[0].message).collect()
}

/// "Fix the alarm": the session is about a fault, although nobody calls it one.
fn asks_for_repair(task: &AnnotatedSentence) -> bool {
    static REPAIR: Listed = Listed::new(|| {
        split(
            "fix repair debug mend troubleshoot diagnose speed accelerate beschleunigen optimieren accélérer acelerar reparieren reparatur beheben entstören \
            réparer dépanner corriger arreglar reparar corregir",
        )
    });
    let mut words = task.words();
    words.any(|(_, word)| REPAIR.has(word)) || task.line.text.contains("修理")
}

/// Whether it denies: "No, …" if the message before is not a question, or a statement anywhere that it still
/// fails.
fn is_denial(sentence: &AnnotatedSentence, begins: bool, answers: bool) -> bool {
    // "So it's not us" is a conclusion from the answer.
    let concludes = [" so ", " also ", " donc ", " alors ", " entonces ", " así que "];
    let folded = &sentence.line.folded;
    if sentence.excluded || concludes.iter().any(|word| folded.starts_with(word)) {
        return false;
    }
    sentence
        .hits
        .iter()
        .filter(|hit| hit.sign == Sign::Denial)
        .any(|hit| {
            let is_plain_no = hit.end - hit.start <= 6 && !folded[hit.start..hit.end].contains(' ');
            if !is_plain_no {
                return !sentence.has(Sign::Condition);
            }
            let rest = folded[hit.end..].trim_start();
            let opens = hit.start == 1 || is_all_filler(sentence, hit.start);
            begins && opens && !answers && rest.starts_with([',', '.', '!', '、', '。'])
        })
}

/// "Sorry but no."
fn is_all_filler(sentence: &AnnotatedSentence, end: usize) -> bool {
    let mut words = sentence.line.words().take_while(|(at, _)| *at < end);
    words.all(|(at, _)| {
        let mut hits = sentence.hits.iter();
        hits.any(|hit| hit.sign == Sign::Filler && hit.start <= at && at < hit.end)
    })
}

/// The language of each message, starting with the task. A message that is too short to decide has the
/// language of the session.
fn languages(source: &Source) -> (Language, Vec<Language>) {
    let texts =
        || std::iter::once(source.task.as_str()).chain(source.messages.iter().map(|m| m.content.as_str()));
    let spoken =
        |index: usize| index == 0 || matches!(source.messages[index - 1].role.as_str(), "user" | "assistant");
    let known: Vec<Option<Language>> = texts().map(Language::of).collect();
    let most = Language::ALL
        .into_iter()
        .max_by_key(|language| {
            let count = known
                .iter()
                .enumerate()
                .filter(|(index, of)| spoken(*index) && **of == Some(*language))
                .count();
            (count, *language == Language::English)
        })
        .unwrap_or(Language::English);
    (most, known.into_iter().map(|of| of.unwrap_or(most)).collect())
}

/// Excludes sentences that are not meant, not written by the sender, or must not be recorded.
fn exclude(sentences: &mut [AnnotatedSentence]) {
    let mut foreign = None;
    // Ranges of the sentences of the user's previous message, and of the one before it.
    let mut users = (0..0, 0..0);
    let mut serious_from = 0;
    let mut left_out = 0;
    for at in 0..sentences.len() {
        let (message, voice) = (sentences[at].message, sentences[at].voice);
        if voice == Voice::User {
            match users.1.start < users.1.end && sentences[users.1.start].message == message {
                true => users.1.end = at + 1,
                false => users = (users.1, at..at + 1),
            }
        }
        let here = &sentences[at];
        let pasted = foreign == Some(message);
        let injected = here.has(Sign::Injection);
        let joke = here.has(Sign::Joke);
        let aside = joke && here.terms().count() <= ASIDE_TERMS;
        let serious = here.has(Sign::Serious);
        let is_private = here.has(Sign::Private);
        // "Don't write that down" alone refers to the sentence before.
        let retracts = here.has(Sign::Dismissal) || (is_private && here.content().count() <= PRIVATE_TERMS);
        let introduces = voice == Voice::User
            && here.line.text.trim_end().ends_with([':', '：'])
            && here.has(Sign::Says)
            && !here.has_any(&[Sign::Keep, Sign::Exact]);
        let excluded = pasted
            || injected
            || introduces
            || here.line.quotes
            || is_private
            || (joke && !(serious && is_after_joke(here)))
            || has_secret(&here.line.text);
        sentences[at].excluded = excluded;
        if introduces || (injected && voice == Voice::User) {
            foreign = Some(message);
        }
        let same = |sentence: &AnnotatedSentence| sentence.message == message;
        if serious {
            let before = sentences[serious_from..at].iter_mut().rev();
            before
                .take_while(|sentence| same(sentence))
                .for_each(|sentence| sentence.excluded = true);
            serious_from = at;
        } else if retracts && voice == Voice::User {
            sentences[at].excluded = true;
            if at > 0 && sentences[at - 1].message == message {
                sentences[at - 1].excluded = true;
            }
        } else if aside && at > 0 && sentences[at - 1].message == message {
            sentences[at - 1].excluded = true;
        } else if joke && (aside || voice == Voice::Assistant) && left_out != message {
            left_out = message;
            // The user's previous message was a joke.
            let before = match voice {
                Voice::User => users.0.clone(),
                _ => users.1.clone(),
            };
            sentences[before]
                .iter_mut()
                .for_each(|sentence| sentence.excluded = true);
        }
    }
}

/// "Haha. Seriously: …" in one sentence.
fn is_after_joke(sentence: &AnnotatedSentence) -> bool {
    let (joke, serious) = (sentence.first(Sign::Joke), sentence.first(Sign::Serious));
    joke.zip(serious)
        .is_some_and(|(joke, serious)| joke.start < serious.start)
}
