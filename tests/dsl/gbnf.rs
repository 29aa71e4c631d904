//! A GBNF parser for the subset that the service writes, and random texts derived from a grammar. It panics on invalid input
//! with its position.

use fastrand::Rng;
use std::collections::BTreeMap;

/// A part of a rule.
#[derive(Debug)]
enum Node {
    Text(String),
    /// Ranges, and whether the class is all but them.
    Class(Vec<(char, char)>, bool),
    Rule(String),
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    /// At least, at most.
    Repeat(Box<Node>, usize, Option<usize>),
}

#[derive(Debug)]
pub(crate) struct Grammar(BTreeMap<String, Node>);

impl Grammar {
    /// Parses a grammar and checks that it has a root and defines every rule that is used.
    pub(crate) fn read(text: &str) -> Self {
        let mut rules = BTreeMap::new();
        for line in text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
        {
            let (name, body) = line
                .split_once(" ::= ")
                .unwrap_or_else(|| panic!("no rule: {line}"));
            assert!(is_name(name), "{name}");
            let mut reader = Reader { rest: body };
            let node = reader.alternatives();
            assert_eq!(reader.rest, "", "left over in: {line}");
            assert!(rules.insert(name.to_owned(), node).is_none(), "{name} twice");
        }
        let mut used = vec!["root".to_owned()];
        rules.values().for_each(|node| names(node, &mut used));
        for name in used {
            assert!(rules.contains_key(&name), "there is no rule {name}");
        }
        Self(rules)
    }

    /// A text of the grammar.
    pub(crate) fn derive(&self, random: &mut Rng) -> String {
        let mut text = String::new();
        self.write(&self.0["root"], random, &mut text);
        text
    }

    fn write(&self, node: &Node, random: &mut Rng, text: &mut String) {
        match node {
            Node::Text(own) => text.push_str(own),
            Node::Class(ranges, negated) => text.push(of_class(ranges, *negated, random)),
            Node::Rule(name) => self.write(&self.0[name], random, text),
            Node::Sequence(parts) => parts.iter().for_each(|part| self.write(part, random, text)),
            Node::Either(parts) => {
                let chosen = random.usize(0..parts.len());
                self.write(&parts[chosen], random, text);
            }
            Node::Repeat(part, least, most) => {
                let most = most.unwrap_or(least + 6).min(least + 6);
                for _ in 0..random.usize(*least..=most) {
                    self.write(part, random, text);
                }
            }
        }
    }
}

/// Mostly characters that mean something to the parser, so that the texts are full of near misses.
const LIKELY: &str = " -*:=><`~.#_()[]/,noechagsxKLVC1 \t\u{a0}\u{3000}é🦀|+";

fn of_class(ranges: &[(char, char)], negated: bool, random: &mut Rng) -> char {
    let is_in = |c: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != negated;
    let likely: Vec<char> = LIKELY.chars().filter(|c| is_in(*c)).collect();
    if !likely.is_empty() && random.u8(0..5) > 0 {
        return likely[random.usize(0..likely.len())];
    }
    if negated {
        loop {
            if let Some(c) = char::from_u32(random.u32(0..0x3100)).filter(|c| is_in(*c)) {
                return c;
            }
        }
    }
    let (from, to) = ranges[random.usize(0..ranges.len())];
    char::from_u32(random.u32(from as u32..=to as u32)).unwrap_or(from)
}

fn names(node: &Node, found: &mut Vec<String>) {
    match node {
        Node::Rule(name) => found.push(name.clone()),
        Node::Sequence(parts) | Node::Either(parts) => parts.iter().for_each(|part| names(part, found)),
        Node::Repeat(part, ..) => names(part, found),
        Node::Text(_) | Node::Class(..) => {}
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn take(&mut self, wanted: &str) -> bool {
        let rest_after = self.rest.strip_prefix(wanted);
        self.rest = rest_after.unwrap_or(self.rest);
        rest_after.is_some()
    }

    fn next(&mut self) -> char {
        let c = self.rest.chars().next().expect("not the end");
        self.rest = &self.rest[c.len_utf8()..];
        c
    }

    fn alternatives(&mut self) -> Node {
        let mut alternatives = vec![self.sequence()];
        while self.take("| ") {
            alternatives.push(self.sequence());
        }
        Node::Either(alternatives)
    }

    fn sequence(&mut self) -> Node {
        let mut parts = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let part = self.part();
            parts.push(self.repeated(part));
            self.take(" ");
        }
        assert!(!parts.is_empty(), "an empty alternative before {:?}", self.rest);
        Node::Sequence(parts)
    }

    fn part(&mut self) -> Node {
        if self.take("( ") {
            let node = self.alternatives();
            assert!(self.take(")"), "unclosed before {:?}", self.rest);
            return node;
        }
        if self.take("\"") {
            let mut text = String::new();
            while !self.take("\"") {
                text.push(self.character());
            }
            return Node::Text(text);
        }
        if self.take("[") {
            return self.class();
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        assert!(is_name(name), "not a part: {:?}", self.rest);
        self.rest = rest;
        Node::Rule(name.to_owned())
    }

    fn class(&mut self) -> Node {
        let negated = self.take("^");
        let mut ranges = Vec::new();
        while !self.take("]") {
            let from = self.character();
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            let to = if is_range {
                self.next();
                self.character()
            } else {
                from
            };
            assert!(from <= to, "{from:?}-{to:?}");
            ranges.push((from, to));
        }
        Node::Class(ranges, negated)
    }

    fn character(&mut self) -> char {
        match self.next() {
            '\\' => match self.next() {
                'n' => '\n',
                '\\' => '\\',
                'x' => self.hexadecimal(2),
                'u' => self.hexadecimal(4),
                'U' => self.hexadecimal(8),
                other => panic!("no such escape: {other:?}"),
            },
            c => c,
        }
    }

    /// No digit may follow: servers differ in how many they accept.
    fn hexadecimal(&mut self, digits: usize) -> char {
        let (number, rest) = self.rest.split_at(digits);
        assert!(
            !rest.starts_with(|c: char| c.is_ascii_hexdigit()),
            "\\x{number} before {rest:?}"
        );
        self.rest = rest;
        char::from_u32(u32::from_str_radix(number, 16).expect("digits")).expect("a character")
    }

    fn repeated(&mut self, part: Node) -> Node {
        let (least, most) = match self.rest.chars().next() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                let (bounds, rest) = self.rest[1..].split_once('}').expect("a closing brace");
                self.rest = rest;
                let (least, most) = bounds.split_once(',').expect("two bounds");
                return Node::Repeat(
                    Box::new(part),
                    least.parse().expect("a bound"),
                    Some(most.parse().expect("a bound")),
                );
            }
            _ => return part,
        };
        self.next();
        Node::Repeat(Box::new(part), least, most)
    }
}
