//! Finds all occurrences of a text in another, in time linear in both.

/// The byte offsets of `wanted` in `text`, including overlapping ones. An empty text occurs before every
/// character and at the end.
pub(super) fn all(text: &str, wanted: &str) -> Vec<usize> {
    if wanted.is_empty() {
        let starts = text.char_indices().map(|(at, _)| at);
        return starts.chain([text.len()]).collect();
    }
    if wanted.len() > text.len() {
        return Vec::new();
    }
    // Knuth-Morris-Pratt: restarting the search after every match would be quadratic for a text of one
    // repeated character.
    let wanted = wanted.as_bytes();
    let borders = borders(wanted);
    let mut matched = 0;
    let mut places = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        while matched > 0 && (matched == wanted.len() || wanted[matched] != byte) {
            matched = borders[matched - 1];
        }
        if wanted[matched] == byte {
            matched += 1;
        }
        if matched == wanted.len() {
            places.push(at + 1 - matched);
        }
    }
    places
}

/// Number of disjoint occurrences, counted from the first; `places` as returned by [`all`].
pub(super) fn count_apart(places: &[usize], length: usize) -> usize {
    let mut free_from = 0;
    let mut count = 0;
    for place in places {
        if *place >= free_from {
            count += 1;
            free_from = place + length;
        }
    }
    count
}

/// For every prefix of a text the length of its longest proper prefix that is also its suffix.
fn borders(text: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; text.len()];
    let mut matched = 0;
    for at in 1..text.len() {
        while matched > 0 && text[matched] != text[at] {
            matched = borders[matched - 1];
        }
        if text[matched] == text[at] {
            matched += 1;
        }
        borders[at] = matched;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_are_found_and_those_apart_are_counted() {
        for (text, wanted, places, apart) in [
            ("abcabc", "bc", &[1, 4][..], 2),
            ("aaa", "aa", &[0, 1], 1),
            ("aaaa", "aa", &[0, 1, 2], 2),
            ("abababa", "aba", &[0, 2, 4], 2),
            ("aé", "", &[0, 1, 3], 3),
            ("", "", &[0], 1),
            ("", "a", &[], 0),
            ("ab", "abc", &[], 0),
            ("日本日", "日", &[0, 6], 2),
        ] {
            assert_eq!(all(text, wanted), places, "{text:?} {wanted:?}");
            assert_eq!(count_apart(places, wanted.len()), apart, "{text:?} {wanted:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn places_are_those_of_a_plain_search(text in "[ab]{0,40}", wanted in "[ab]{1,5}") {
            let plain: Vec<_> = (0..text.len()).filter(|at| text[*at..].starts_with(&wanted)).collect();
            let places = all(&text, &wanted);
            proptest::prop_assert_eq!(&places, &plain);
            proptest::prop_assert_eq!(count_apart(&places, wanted.len()), text.matches(&wanted).count());
        }
    }
}
