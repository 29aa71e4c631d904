//! Combines ranked lists by reciprocal rank fusion.
//!
//! An entry at rank `n` of a list, counted from 1, scores 1 / (60 + n). Ranks and similarities are never
//! added, because they have different scales.

use std::collections::HashMap;
use std::hash::Hash;

const DAMPING: f32 = 60.0;

/// Merges lists without duplicates, best score first, with the scores. Entries with equal scores are ordered
/// by first occurrence.
#[must_use]
pub fn fused<K: Clone + Eq + Hash>(lists: &[Vec<K>]) -> Vec<(K, f32)> {
    let mut order: Vec<(K, f32)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for list in lists {
        for (key, place) in list.iter().zip(1_u16..) {
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

    #[test]
    fn what_both_lists_hold_goes_before_what_one_does() {
        let keys = |lists: &[Vec<&'static str>]| -> Vec<&str> {
            fused(lists).into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys(&[vec!["a", "b"], vec!["c", "b"]]), ["b", "a", "c"]);
        assert_eq!(keys(&[vec!["a", "b"], vec![]]), ["a", "b"]);
        assert_eq!(keys(&[vec!["a"], vec!["b"]]), ["a", "b"]);
        assert_eq!(keys(&[vec![], vec![]]), Vec::<&str>::new());
    }
}
