//! Labels compared with the memory after a session.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Longer learnings and bullets match no label: a copied conversation is no memory. In characters.
const LONG_LEARNING: usize = 600;
const LONG_BULLET: usize = 300;
const LISTS: [&str; 3] = ["completed", "in_progress", "remaining"];

#[derive(Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) tags: Vec<String>,
    pub(super) prior: Option<String>,
    pub(super) task: String,
    pub(super) messages: Vec<Value>,
    must: Vec<Label>,
    may: Vec<String>,
    must_not: Vec<Label>,
    archive: Vec<String>,
}

#[derive(Deserialize)]
struct Label {
    #[serde(rename = "in")]
    place: String,
    any: Vec<String>,
    what: String,
}

/// A record of a memory.
#[derive(Clone)]
struct Record {
    id: String,
    is_learning: bool,
    active: bool,
    label: String,
    reason: String,
    content: String,
}

/// The contents of a memory.
#[derive(Default)]
pub(super) struct State {
    records: Vec<Record>,
    lists: BTreeMap<String, Vec<String>>,
}

impl State {
    pub(super) fn of(records: &[Value], document: &str) -> Self {
        let text = |record: &Value, field: &str| record[field].as_str().unwrap_or_default().to_owned();
        let records = records
            .iter()
            .map(|record| Record {
                id: text(record, "record_id"),
                is_learning: record["kind"] == "KL",
                active: record["status"] == "active",
                label: text(record, "label"),
                reason: text(record, "reason"),
                content: text(record, "content"),
            })
            .filter(|record| record.is_learning || record.id.starts_with("VC-"))
            .collect();
        Self {
            records,
            lists: lists(document),
        }
    }
}

/// The lists of `Current Progress`.
fn lists(document: &str) -> BTreeMap<String, Vec<String>> {
    let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = None;
    for line in document.lines() {
        if let Some(title) = line.strip_prefix('#') {
            let name = title
                .trim_matches(['#', ' ', ':'])
                .to_lowercase()
                .replace(' ', "_");
            current = LISTS.contains(&name.as_str()).then_some(name);
        } else if let (Some(name), Some(bullet)) = (&current, line.strip_prefix("- ")) {
            lists.entry(name.clone()).or_default().push(bullet.to_owned());
        }
    }
    lists
}

/// The pattern of a label: lookaheads at its start are evaluated separately, since the regex engine does not support them.
struct Pattern {
    /// Patterns that must match the text, or must not.
    ahead: Vec<(bool, Regex)>,
    matches: Regex,
}

impl Pattern {
    fn of(pattern: &str) -> Self {
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .case_insensitive(true)
                .dot_matches_new_line(true)
                .build()
                .unwrap()
        };
        let mut ahead = Vec::new();
        let mut rest = pattern;
        while let Some((wanted, inside)) = look_ahead(rest) {
            let end = closing(inside);
            ahead.push((wanted, build(&format!("^(?:{})", &inside[..end]))));
            rest = &inside[end + 1..];
        }
        let start = if ahead.is_empty() { "" } else { "^" };
        let matches = build(&format!("{start}{rest}"));
        Self { ahead, matches }
    }

    fn is_in(&self, text: &str) -> bool {
        let fits = |(wanted, ahead): &(bool, Regex)| ahead.is_match(text) == *wanted;
        self.matches.is_match(text) && self.ahead.iter().all(fits)
    }
}

/// A pattern split at each `|` outside of groups that follow a lookahead.
fn alternatives(pattern: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut from = 0;
    let mut found = Vec::new();
    for (at, c) in pattern.char_indices() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if c == '|' && depth == 0 && look_ahead(&pattern[at + 1..]).is_some() {
            found.push(&pattern[from..at]);
            from = at + 1;
        }
    }
    found.push(&pattern[from..]);
    found
}

/// Whether a lookahead is positive, and the rest after its opening.
fn look_ahead(pattern: &str) -> Option<(bool, &str)> {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let unwanted = pattern.strip_prefix("(?!").map(|inside| (false, inside));
    unwanted.or_else(|| pattern.strip_prefix("(?=").map(|inside| (true, inside)))
}

/// The position where the group ends that the text is inside of.
fn closing(inside: &str) -> usize {
    let mut depth = 1;
    let end = inside.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    end.unwrap()
}

fn any_in(patterns: &[String], texts: &[String]) -> bool {
    patterns
        .iter()
        .flat_map(|pattern| alternatives(pattern))
        .map(Pattern::of)
        .any(|pattern| texts.iter().any(|text| pattern.is_in(text)))
}

/// The result of one session.
pub(super) struct Judgement {
    missed: Vec<String>,
    hit: Vec<String>,
    junk: Vec<String>,
    added: usize,
    not_archived: Vec<String>,
    wrongful: Vec<String>,
    changed_noop: bool,
}

impl Record {
    /// The texts that a `must` or a `may` is compared with.
    fn candidates(&self, task: &str) -> Vec<String> {
        if !self.is_learning {
            return vec![self.content.clone()];
        }
        if self.content.chars().count() > LONG_LEARNING {
            return Vec::new();
        }
        let quoted = Regex::new("\"[^\"]*\"").unwrap();
        let reason = self.reason.replace(task, "");
        let reason = quoted.replace_all(&reason, "");
        vec![self.content.clone(), format!("{reason}: {}", self.content)]
    }

    fn full(&self) -> String {
        format!("{}\n{}\n{}", self.label, self.reason, self.content)
    }

    fn is_of(&self, place: &str) -> bool {
        place == "any" || place == if self.is_learning { "learnings" } else { "verbatim" }
    }
}

pub(super) fn judge(session: &Session, before: &State, after: &State) -> Judgement {
    let was = |id: &str| before.records.iter().any(|record| record.id == id);
    let added: Vec<&Record> = after
        .records
        .iter()
        .filter(|record| record.active && !was(&record.id))
        .collect();
    let removed: Vec<String> = after
        .records
        .iter()
        .filter(|record| !record.active && was(&record.id))
        .map(|record| record.id.clone())
        .collect();
    let bullets = |place: &str| -> Vec<String> {
        let lists = LISTS
            .iter()
            .filter(|list| place == "any" || place == "progress" || place == **list);
        lists
            .flat_map(|list| after.lists.get(*list).cloned().unwrap_or_default())
            .collect()
    };
    let short = |bullets: Vec<String>| {
        bullets
            .into_iter()
            .filter(|b| b.chars().count() <= LONG_BULLET)
            .collect::<Vec<_>>()
    };
    let met = |label: &&Label| {
        let records = added.iter().filter(|record| record.is_of(&label.place));
        let mut texts: Vec<String> = records
            .flat_map(|record| record.candidates(&session.task))
            .collect();
        texts.extend(short(bullets(&label.place)));
        any_in(&label.any, &texts)
    };
    let struck = |label: &&Label| {
        let records = added.iter().filter(|record| record.is_of(&label.place));
        let mut texts: Vec<String> = records.map(|record| record.full()).collect();
        texts.extend(bullets(&label.place));
        any_in(&label.any, &texts)
    };
    let is_junk = |record: &&&Record| {
        let candidates = record.candidates(&session.task);
        let places = ["learnings", "verbatim", "any"];
        let wanted = session
            .must
            .iter()
            .filter(|label| places.contains(&label.place.as_str()));
        let welcome = wanted.into_iter().any(|label| any_in(&label.any, &candidates))
            || any_in(&session.may, &candidates);
        let forbidden = session
            .must_not
            .iter()
            .any(|label| record.is_of(&label.place) && any_in(&label.any, &[record.full()]));
        !welcome || forbidden
    };
    let what = |label: &Label| format!("{}: {}", label.place, label.what);
    Judgement {
        missed: session
            .must
            .iter()
            .filter(|label| !met(label))
            .map(what)
            .collect(),
        hit: session.must_not.iter().filter(struck).map(what).collect(),
        junk: added
            .iter()
            .filter(is_junk)
            .map(|record| record.content.clone())
            .collect(),
        added: added.len(),
        not_archived: session
            .archive
            .iter()
            .filter(|id| !removed.contains(id))
            .cloned()
            .collect(),
        wrongful: removed
            .iter()
            .filter(|id| !session.archive.contains(id))
            .cloned()
            .collect(),
        changed_noop: session.tags.iter().any(|tag| tag == "noop")
            && !(added.is_empty()
                && removed.is_empty()
                && (before.lists.is_empty() || before.lists == after.lists)),
    }
}

/// The totals of many sessions.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) sessions: usize,
    musts: usize,
    missed: usize,
    added: usize,
    junk: usize,
    pub(super) hits: usize,
    archives: usize,
    not_archived: usize,
    pub(super) wrongful: usize,
    pub(super) changed_noops: usize,
    told: String,
}

impl Totals {
    pub(super) fn add(&mut self, session: &Session, judgement: &Judgement) {
        self.sessions += 1;
        self.musts += session.must.len();
        self.missed += judgement.missed.len();
        self.added += judgement.added;
        self.junk += judgement.junk.len();
        self.hits += judgement.hit.len();
        self.archives += session.archive.len();
        self.not_archived += judgement.not_archived.len();
        self.wrongful += judgement.wrongful.len();
        self.changed_noops += usize::from(judgement.changed_noop);
        for (what, list) in [
            ("missed", &judgement.missed),
            ("MUST NOT", &judgement.hit),
            ("junk", &judgement.junk),
            ("not archived", &judgement.not_archived),
            ("WRONGLY ARCHIVED", &judgement.wrongful),
        ] {
            for item in list {
                self.told.push_str(&format!("{}: {what} {item}\n", session.id));
            }
        }
    }

    pub(super) fn recall(&self) -> usize {
        percent(self.musts - self.missed, self.musts)
    }

    pub(super) fn precision(&self) -> usize {
        percent(self.added - self.junk, self.added)
    }

    pub(super) fn archive_recall(&self) -> usize {
        percent(self.archives - self.not_archived, self.archives)
    }
}

fn percent(part: usize, whole: usize) -> usize {
    part * 100 / whole.max(1)
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} sessions: recall {} % of {}, precision {} % of {}, {} forbidden, archives {} % of {}, {} wrongful, {} changed no-ops",
            self.sessions,
            self.recall(),
            self.musts,
            self.precision(),
            self.added,
            self.hits,
            self.archive_recall(),
            self.archives,
            self.wrongful,
            self.changed_noops
        )?;
        f.write_str(&self.told)
    }
}
