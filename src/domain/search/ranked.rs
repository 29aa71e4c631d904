//! Ranks: a small set of texts, those of one memory, by reading each of them.
//!
//! Combines ranked lists by reciprocal rank fusion.
//!
//! An entry at rank `n` of a list, counted from 1, scores 1 / (60 + n). Ranks and similarities are never
//! added, because they have different scales.

use super::query::{Query, Term};
use crate::domain::text::words::{folded_word, matches, words};
use std::collections::HashMap;
use std::hash::Hash;

/// BM25 parameters: saturation of repeated words, and penalty for long texts. The usual values.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.75;

/// Returns the indices of matching texts with their BM25 scores over these texts, best first; earlier texts
/// first among equals. Linear in all texts together.
#[must_use]
pub fn ranked(query: &Query, texts: &[&str]) -> Vec<(usize, f32)> {
    let branches = &query.branches;
    let terms: Vec<&Term> = branches.iter().flatten().collect();
    // For each text the count of each term and the number of words.
    let counted: Vec<(Vec<u16>, usize)> = texts
        .iter()
        .map(|text| {
            let words: Vec<String> = words(text).map(|place| folded_word(&text[place])).collect();
            let counts = terms.iter().map(|term| count(term, &words)).collect();
            (counts, words.len())
        })
        .collect();
    let number = ratio(texts.len(), 1);
    let mean = ratio(counted.iter().map(|(_, length)| length).sum(), texts.len());
    let rarity: Vec<f32> = (0..terms.len())
        .map(|term| {
            let having = ratio(counted.iter().filter(|(counts, _)| counts[term] > 0).count(), 1);
            (1.0 + (number - having + 0.5) / (having + 0.5)).ln()
        })
        .collect();
    let mut found: Vec<(usize, f32)> = Vec::new();
    for (place, (counts, length)) in counted.iter().enumerate() {
        let mut first = 0;
        let mut best: Option<f32> = None;
        for branch in branches {
            let of_branch = first..first + branch.len();
            first = of_branch.end;
            let holds = of_branch
                .clone()
                .zip(branch)
                .all(|(term, wanted)| (counts[term] > 0) != wanted.excluded);
            if !holds {
                continue;
            }
            let damping = SATURATION * (1.0 - LENGTH + LENGTH * ratio(*length, 1) / mean.max(1.0));
            let score = of_branch
                .zip(branch)
                .filter(|(_, wanted)| !wanted.excluded)
                .map(|(term, _)| {
                    let often = f32::from(counts[term]);
                    rarity[term] * often * (SATURATION + 1.0) / (often + damping)
                })
                .sum();
            best = Some(best.map_or(score, |best| best.max(score)));
        }
        found.extend(best.map(|score| (place, score)));
    }
    found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    found
}

/// How often a text contains the adjacent words of a term.
fn count(term: &Term, words: &[String]) -> u16 {
    let wanted = &term.words;
    let at = |window: &[String]| {
        window
            .iter()
            .zip(wanted)
            .enumerate()
            .all(|(index, (found, word))| {
                let is_last = index + 1 == wanted.len();
                matches(found, word, term.prefix && is_last)
            })
    };
    let found = words
        .windows(wanted.len().max(1))
        .filter(|window| at(window))
        .count();
    u16::try_from(found).unwrap_or(u16::MAX)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of words, far below what is exact"
)]
fn ratio(of: usize, to: usize) -> f32 {
    of as f32 / to.max(1) as f32
}

const DAMPING: f32 = 60.0;

/// Merges lists without duplicates, best score first, with the scores. Entries with equal scores are ordered
/// by first occurrence.
#[must_use]
pub fn fused<K: Clone + Eq + Hash>(lists: &[Vec<K>]) -> Vec<(K, f32)> {
    let mut order: Vec<(K, f32)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for list in lists {
        // Far down in a list a place makes no difference.
        let places_of_list = (1..=u16::MAX).chain(std::iter::repeat(u16::MAX));
        for (key, place) in list.iter().zip(places_of_list) {
            let counts = 1.0 / (DAMPING + f32::from(place));
            match places.get(key) {
                Some(index) => order[*index].1 += counts,
                None => {
                    places.insert(key.clone(), order.len());
                    order.push((key.clone(), counts));
                }
            }
        }
    }
    // The sort is stable.
    order.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, texts: &[&str]) -> Vec<usize> {
        let found = ranked(&Query::parse(query), texts);
        assert!(found.iter().all(|(_, score)| score.is_finite() && *score >= 0.0));
        found.into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn texts_are_found_as_documents_are() {
        let texts = [
            "the quick brown fox jumps in src/main.rs",
            "the brown quick dog",
            "ÄRGER mit dem Fuchs",
            "記憶を保存する",
        ];
        for (query, places) in [
            ("quick", &[1, 0][..]),
            ("\"quick brown\"", &[0]),
            ("quick -fox", &[1]),
            ("fox or dog", &[1, 0]),
            ("arg", &[2]),
            ("\"arg\"", &[]),
            ("main.rs", &[0]),
            ("rs.main", &[]),
            ("記憶", &[3]),
            ("憶記", &[]),
            ("-quick", &[2, 3]),
            ("!!!", &[]),
        ] {
            assert_eq!(found(query, &texts), places, "{query}");
        }
        assert!(found("x", &[]).is_empty());
        // More of a rare word goes first.
        assert_eq!(
            found("cat", &["cat and dog", "cat cat dog", "dog", "bird"]),
            [1, 0]
        );
    }

    #[test]
    fn what_both_lists_hold_goes_before_what_one_does() {
        let keys = |lists: &[Vec<&'static str>]| -> Vec<&str> {
            fused(lists).into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys(&[vec!["a", "b"], vec!["c", "b"]]), ["b", "a", "c"]);
        assert_eq!(keys(&[vec!["a", "b"], vec![]]), ["a", "b"]);
        assert_eq!(keys(&[vec!["a"], vec!["b"]]), ["a", "b"]);
        assert_eq!(keys(&[vec![], vec![]]), Vec::<&str>::new());
        let long: Vec<usize> = (0..70_000).collect();
        assert_eq!(fused(std::slice::from_ref(&long)).len(), long.len());
    }
}
