//! Which of many texts occur in others.

use foldhash::fast::RandomState;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The automaton of Aho and Corasick, without the lists of the texts that end at a state: one byte may end all of them.
#[derive(Debug)]
struct Automaton {
    /// The state after a state and a byte. A state is a beginning of a text, by its number; 0 is the empty one.
    next: HashMap<(u32, u8), u32, RandomState>,
    /// Of each state the longest other one that it ends with. That is shorter, and so has a lower number.
    suffixes: Vec<u32>,
}

impl Automaton {
    /// The automaton of these texts, the longest first, and the state that is each of them.
    fn of(texts: &[String]) -> (Self, Vec<u32>) {
        let mut automaton = Self {
            next: HashMap::default(),
            suffixes: vec![0],
        };
        let mut states = vec![0; texts.len()];
        for at in 0..texts.first().map_or(0, String::len) {
            let longer = texts.iter().take_while(|text| text.len() > at);
            for (text, state) in longer.zip(&mut states) {
                *state = automaton.with(*state, text.as_bytes()[at]);
            }
        }
        (automaton, states)
    }

    /// The state that is this state and a byte, which is added if it does not exist. All shorter ones must exist.
    fn with(&mut self, state: u32, byte: u8) -> u32 {
        if let Some(next) = self.next.get(&(state, byte)) {
            return *next;
        }
        let suffix = match state {
            0 => 0,
            _ => self.after(self.suffixes[state as usize], byte),
        };
        let added = self.suffixes.len() as u32;
        self.suffixes.push(suffix);
        self.next.insert((state, byte), added);
        added
    }

    /// The longest state that this state and a byte end with.
    fn after(&self, mut state: u32, byte: u8) -> u32 {
        loop {
            match self.next.get(&(state, byte)) {
                Some(next) => return *next,
                None if state == 0 => return 0,
                None => state = self.suffixes[state as usize],
            }
        }
    }
}

/// Those of the wanted texts that occur in any of the others. Linear, however many there are.
pub(super) fn occurring<'t>(
    wanted: impl IntoIterator<Item = String>,
    texts: impl Iterator<Item = &'t str>,
) -> HashSet<String, RandomState> {
    let mut wanted: Vec<String> = wanted.into_iter().collect();
    wanted.sort_unstable_by_key(|text| Reverse(text.len()));
    let (automaton, states) = Automaton::of(&wanted);
    let mut is_seen = vec![false; automaton.suffixes.len()];
    for text in texts {
        let mut state = 0;
        for byte in text.bytes() {
            state = automaton.after(state, byte);
            is_seen[state as usize] = true;
        }
    }
    for (state, suffix) in automaton.suffixes.iter().enumerate().rev() {
        is_seen[*suffix as usize] |= is_seen[state];
    }
    let found = wanted.into_iter().zip(states);
    let found = found.filter(|(_, state)| is_seen[*state as usize]);
    found.map(|(text, _)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_occurs_if_it_is_a_part_of_another(
            wanted in proptest::collection::hash_set("[abé]{1,6}", 0..12),
            texts in proptest::collection::vec("[abé]{0,20}", 0..4),
        ) {
            let found = occurring(wanted.clone(), texts.iter().map(String::as_str));
            for text in wanted {
                let is_part = texts.iter().any(|other| other.contains(&text));
                prop_assert_eq!(found.contains(&text), is_part, "{}", text);
            }
        }
    }
}
