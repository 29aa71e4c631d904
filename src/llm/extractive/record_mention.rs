//! Sentences that mention a record of the memory by its id.

use super::annotated::AnnotatedSentence;
use super::cues::Sign;
use super::values::values;

/// "He was born in 1879, and not in 1881 as KL-1 says": the record is named only to correct it.
pub(super) fn corrects_in_passing(sentence: &AnnotatedSentence) -> bool {
    sentence.has(Sign::Old) && !sentence.has(Sign::Obsolete) && values(sentence.body()).len() >= 3
}

/// "KL-2 is wrong": an instruction about the record, not a claim to keep.
pub(super) fn names_a_record(sentence: &AnnotatedSentence) -> bool {
    sentence.terms().numbers.iter().any(|word| {
        let number = word.strip_prefix("kl-").or(word.strip_prefix("vc-"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}
