//! Consolidation: which records of a memory can go because nothing is lost with them, and the checks that this is so.
//!
//! A record is archived on a [`Ground`]: another record says the same, a newer one takes its place, or it has expired. The
//! ground is checked against the document wherever the operation is validated, so also on the head that it is saved on,
//! whoever proposes it. [`find`] proposes what can be found without a model.
//!
//! Besides archivings, several learnings can be merged into one new one that says all that they say and nothing else.
//!
//! A record says what another one says if all words of the other stand in it, in their order: values (numbers, dates, names,
//! identifiers, paths) as they are, other words in any case; and if it has the same negations. Only articles do not count. So
//! records that differ in a number, a unit, a name, an order, an ending (`users` may be a table) or a small word such as "off" are
//! different.

use super::document::{Marks, Record, Until, record_ranges, records};
use super::faults::Parsed;
use super::ids::{RecordId, RecordKind};
use super::operation::{Fault, FaultKind, Operation};
use super::text::content_words::{Key, keys};
use super::text::{bare_words, folded};
use chrono::{DateTime, Utc};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

/// With how many records that have a record's rarest word it is compared: where more have it, it says little.
const MAX_CANDIDATES: usize = 200;

/// How many learnings one merge may join.
const MAX_MERGED: usize = 10;

/// A word is distinctive if of this many active records of a kind at most one has it; three may always have it.
const DISTINCTIVE: usize = 10;

/// How many distinctive words a record shares with the one whose place it takes.
const SHARED_WORDS: usize = 2;

/// How many words before a date may say that it is an end.
const BEFORE_AN_END: usize = 3;

/// Words without which a text says the same.
const ARTICLES: &str = "the a an is are was were that this der die das den dem ein eine einen ist sind le la les un une est el los las una \
    es son";

/// Words that turn a statement round, or make it unsure. Two records say the same only if they have the same ones.
const NEGATIONS: &str = "not no never none nothing nor neither nobody nowhere without cannot except unless only avoid stop \
    refuse refuses avoids avoided avoiding refused refusing refrain failed failing forget forgets forgot disallow \
    disallowed forbidden prohibited banned deprecated wrong false lie fail fails minus zero hardly rarely seldom barely \
    scarcely almost nearly formerly previously used supposedly allegedly maybe perhaps might could would should unclear \
    whether kein keine keinen keiner nicht nie niemals niemand nichts nirgends ohne nur außer verboten untersagt falsch \
    dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont wouldnt shouldnt couldnt cant mustnt aint no-one \
    kaum selten beinahe ehemals früher angeblich vielleicht könnte sollte ob ne pas jamais rien aucun aucune personne sans \
    sauf seulement interdit plus rarement presque autrefois peut-être nunca jamás nada nadie ningún ninguna sin salvo solo \
    sólo prohibido apenas raramente casi quizá quizás 금지";

/// The same in scripts without blanks between words.
const NEGATING_CHARS: &str = "不没未无無非勿莫别吗";
const NEGATING_WITHIN: &str = "ない ません 禁止 少于 至少 多于 至多 以前 几乎";

/// Words by which a record says something only of a time or a case, so that it does not say what holds always.
const CONDITIONS: &str = "if when whenever while during until till before after on once provided wenn falls während solange sobald bis vor \
    nach am bei si lorsque quand pendant avant après lors jusqu'à cuando mientras hasta antes después durante";

/// Punctuation, which says nothing around a word. Other signs say something: `!=`, `≥ 20`, `€50`, `a → b`.
const PUNCTUATION: &str = ".,:;!?\"'()[]{}*`“”„‘’‚«»‹›…–—·•¡¿、。「」『』（），：；？！・";

/// Words by which a merge may join its parts, besides their own.
const JOINING: &str = "and & also both und sowie auch et aussi ainsi y e también";

/// Words behind a number that do not belong to it: "08:12 from platform 4".
const AFTER_A_NUMBER: &str = "and & also both from und sowie auch aus et aussi ainsi y e también";

/// Words and phrases by which a record says that something has changed.
const CHANGES: &str = "now | no longer | anymore | any more | instead | replaced | replaces | supersedes | superseded | changed | \
    changes to | moved | moves to | switched | renamed | migrated | since | formerly | previously | jetzt | nun | \
    nicht mehr | kein mehr | seit | stattdessen | ersetzt | geändert | umgezogen | umgestellt | gewechselt | \
    umbenannt | verlegt | désormais | maintenant | dorénavant | depuis | remplace | remplacé | remplacée | \
    déménagé | changé | ahora | desde | ya no | reemplaza | sustituye | cambió | cambiado | trasladado | \
    trasladó";

/// The same in a script without blanks between words.
const CHANGES_WITHIN: [&str; 8] = ["现在", "改为", "改用", "不再", "取代", "改到", "搬到", "换成"];

/// Words that present a date as an end.
const ENDS: &str = "until till through expires expire expired expiry ends end bis endet abläuft ablauf läuft jusqu'au jusqu’au expirera \
    hasta vence caduca expira termina";

/// Words that present the date behind them as a beginning.
const BEGINNINGS: &str = "from since starting ab seit depuis dès desde";

/// Words that deny an end. An abbreviation is none: "no. 88".
const DENIALS: &str = "no not never cannot neither nor nicht nie niemals kein keine pas jamais nunca jamás";

/// Words that may follow the date at the end of a text.
const AFTER_AN_END: &str = "ab aus at um à a las utc uhr h am pm";

/// Whether a word ends in a negation: "don't".
fn is_contracted(word: &str) -> bool {
    word.ends_with("n't") || word.ends_with("n’t")
}

/// Whether a word stands in a list, whose words blanks separate.
fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Why a record can be archived without losing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// The record says all that it says.
    DuplicateOf(RecordId),
    /// The newer record takes its place.
    SupersededBy(RecordId),
    /// Its own end is past.
    Expired,
}

impl Ground {
    /// The record that stays in its place.
    #[must_use]
    pub fn kept(self) -> Option<RecordId> {
        match self {
            Self::DuplicateOf(id) | Self::SupersededBy(id) => Some(id),
            Self::Expired => None,
        }
    }
}

/// What a text states, for comparison.
#[derive(Debug, Default)]
struct Statement {
    /// All words but articles, in order: values (numbers, dates, names, identifiers and paths) as they are, others in lower case,
    /// of scripts without blanks pairs of neighbouring characters.
    words: Vec<String>,
    /// Of each word, whether the one behind it belongs to it if it is a number: "5 million", but not "5, million".
    goes_on: Vec<bool>,
    /// And question marks and dashes of their own: who asks says nothing.
    negations: Vec<String>,
}

impl Statement {
    /// What a record states: of a snippet nothing, since snippets are compared as they are.
    fn of_record(record: &Record) -> Self {
        match record.id.kind {
            RecordKind::Verbatim => Self::default(),
            _ => Self::of(&record.content),
        }
    }

    fn of(text: &str) -> Self {
        let mut statement = Self::default();
        let mut begins = true;
        for written in text.split_whitespace() {
            // A capital at the beginning of a sentence says nothing.
            let is_first = std::mem::replace(&mut begins, written.ends_with(['.', ':', '!', '?', ';']));
            let asked = written.matches(['?', '？']);
            statement.negations.extend(asked.map(|_| "?".to_owned()));
            let word = written.trim_matches(|c: char| PUNCTUATION.contains(c));
            let token = word.to_lowercase();
            // Capitals within a sentence are a name: hall A, 9 EST.
            let is_name = word.chars().all(char::is_uppercase) && !(is_first && word.len() == 1);
            if token.is_empty() {
                // A dash of its own may be the sign of the number behind it.
                if "–—".contains(written) {
                    statement.negations.push(written.to_owned());
                }
                continue;
            }
            if is_in(ARTICLES, &token) && !is_name {
                statement.end_number();
                continue;
            }
            let negates = is_in(NEGATIONS, &token) || is_contracted(&token);
            if negates {
                statement.negations.push(token.clone());
            }
            match token.chars().any(is_unspaced) {
                true => statement.add_unspaced(&token),
                false => statement.add(said(written, word, is_first)),
            }
            if written.ends_with(|c: char| PUNCTUATION.contains(c)) {
                statement.end_number();
            }
        }
        statement.negations.sort_unstable();
        statement
    }

    fn add(&mut self, word: String) {
        self.words.push(word);
        self.goes_on.push(true);
    }

    /// The last word, if it is a number, ends here.
    fn end_number(&mut self) {
        if let Some(last) = self.goes_on.last_mut() {
            *last = false;
        }
    }

    /// Adds a text without blanks between words: pairs of neighbouring characters, and runs of other scripts in it.
    fn add_unspaced(&mut self, token: &str) {
        let negating = token.chars().filter(|c| NEGATING_CHARS.contains(*c));
        self.negations.extend(negating.map(String::from));
        let within = NEGATING_WITHIN.split(' ').filter(|part| token.contains(part));
        let asked = token.ends_with('か').then_some("か");
        self.negations.extend(within.chain(asked).map(str::to_owned));
        let says_something = |c: &char| !c.is_alphanumeric() && !PUNCTUATION.contains(*c);
        token
            .chars()
            .filter(says_something)
            .for_each(|sign| self.add(sign.into()));
        for run in token.split(|c: char| !c.is_alphanumeric()) {
            let chars: Vec<char> = run.chars().collect();
            for part in chars.chunk_by(|one, next| is_unspaced(*one) == is_unspaced(*next)) {
                if part.len() == 1 || !is_unspaced(part[0]) {
                    self.add(part.iter().collect());
                } else {
                    part.windows(2).for_each(|pair| self.add(pair.iter().collect()));
                }
            }
            self.end_number();
        }
    }

    /// What this statement says besides another one, or what of the other one is missing in it. Linear in this one.
    fn besides(&self, other: &Self) -> Result<Vec<&String>, String> {
        if other.words.is_empty() {
            return Err("it says nothing that can be compared".to_owned());
        }
        let mut wanted = other.words.iter().peekable();
        let is_number = |word: &String| word.contains(|c: char| c.is_ascii_digit());
        let (mut more, mut number, mut before, mut found) = (Vec::new(), None, None, 0_usize);
        for (place, (word, goes_on)) in self.words.iter().zip(&self.goes_on).enumerate() {
            if wanted.next_if_eq(&word).is_some() {
                if let Some(before) = before.take().filter(|_| is_number(word)) {
                    // The words before it in the other one may be said twice: "CI needs Docker, and CI needs 8 GB".
                    let near = &other.words[found.saturating_sub(2)..found];
                    if near.is_empty() || !self.words[..place].ends_with(near) {
                        return Err(format!("`{word}` is another one in it: `{before} {word}`"));
                    }
                }
                found += 1;
                number = Some(word).filter(|word| *goes_on && is_number(word));
                continue;
            }
            before = Some(word).filter(|word| *goes_on && !is_in(AFTER_A_NUMBER, word));
            if let Some(number) = number.take().filter(|_| !is_in(AFTER_A_NUMBER, word)) {
                return Err(format!("`{number}` is another one in it: `{number} {word}`"));
            }
            more.push(word);
        }
        match wanted.peek() {
            None => Ok(more),
            Some(word) if self.words.contains(word) => Err(format!("`{word}` is elsewhere in it")),
            Some(word) => Err(format!("`{word}` is missing in it")),
        }
    }
}

/// What is compared of a word: a plain one in lower case, others as they are written, also their signs (`.env`, `*.rs`, `5"`).
/// Case counts but in the first letter of a word: `MW` is not `mW`.
fn said(written: &str, word: &str, is_first: bool) -> String {
    // Behind a number they are units.
    let units = if word.ends_with(char::is_numeric) {
        "*'\""
    } else {
        "*"
    };
    let value = written
        .trim_start_matches(|c: char| !"!.*–".contains(c) && PUNCTUATION.contains(c))
        .trim_end_matches(|c: char| !units.contains(c) && PUNCTUATION.contains(c));
    let is_emphasis = value.trim_matches('*') == word && word.ends_with(char::is_alphanumeric);
    let is_cased = word.chars().skip(1).any(char::is_uppercase) || (word.len() == 1 && !is_first);
    match (is_emphasis, is_cased) {
        (true, false) => word.to_lowercase(),
        (true, true) => word.to_owned(),
        (false, _) => value.to_owned(),
    }
}

/// Whether a character belongs to a script without blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Why a record says not all that another one says; `None` if it does. Each comes with its statement.
fn difference(
    (archived, stated): (&Record, &Statement),
    (kept, stated_by_kept): (&Record, &Statement),
) -> Option<String> {
    if !outlives(&kept.marks, &archived.marks) {
        return Some("it expires earlier".to_owned());
    }
    if archived.id.kind == RecordKind::Verbatim {
        let same = archived.content == kept.content && label(archived) == label(kept);
        return (!same).then(|| "snippets are duplicates only if they are equal".to_owned());
    }
    if archived.content.trim() == kept.content.trim() {
        return None;
    }
    let more = match stated_by_kept.besides(stated) {
        Ok(more) => more,
        Err(missing) => return Some(missing),
    };
    if stated_by_kept.negations != stated.negations {
        return Some("one of them negates what the other does not".to_owned());
    }
    let condition = more
        .into_iter()
        .find(|word| is_in(CONDITIONS, &word.to_lowercase()))?;
    Some(format!("it says so only under a condition (`{condition}`)"))
}

fn label(record: &Record) -> String {
    folded(record.label.as_deref().unwrap_or_default())
}

/// Whether a record holds at least as long as another one.
fn outlives(kept: &Marks, archived: &Marks) -> bool {
    match (kept.until, archived.until) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(kept), Some(archived)) => kept.end() >= archived.end(),
    }
}

/// A clause that says of records that it takes their place, and of nothing else: "this replaces D-1", "D-1 is superseded".
/// What follows is at most a reason, or what replaces them: "replaces D-1 on staging" leaves the rest.
const REPLACING: &str = r"(?ix)
    (?: ^ replace | \b (?: supersed | replac ) (?: es | ed | ing ) | \b instead \ of | \b ersetzt | \b löst | \b remplace
        | \b sustituye | \b reemplaza | 取代 )
        \s+ (?: (?: the | our | die | unsere | la | notre | decision | entscheidung | décision | decisión ) \s+ )*
        (?<active> ID ) (?: $ | \s+ (?: ab $ | because \b | weil \b ) )
    | (?<passive> ID ) (?: \s* 被取代
        | (?: \s+ (?: is | was | are | were | been | has | have | now | ist | sind | wird | werden | wurde | wurden | est | sont | queda ) )+
            \s+ (?: superseded | replaced | ersetzt | abgelöst | remplacée?s? | sustituid[oa]s? | reemplazad[oa]s? | atrás ) )
        (?: $ | \s+ (?: by | durch | par | por | because ) \b )";

const IDS: &str = r"\b [A-Z]{1,2}-\d+ \b (?: \s+ (?: and | und | et | y ) \s+ [A-Z]{1,2}-\d+ \b )*";

static SEARCHED_REPLACING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&REPLACING.replace("ID", IDS)).expect("a form"));

/// Words by which a sentence supposes what it says, or says that it is not so, or not wholly.
const SUPPOSING: &str = "if when unless once rejected declined dismissed withdrawn proposed suggested partly partially temporarily wenn falls \
    sobald sofern abgelehnt verworfen vorgeschlagen teilweise vorübergehend si quand rejeté rejetée refusé refusée proposé proposée \
    partiellement cuando rechazado rechazada propuesto propuesta parcialmente";

/// The records whose place a record says that it takes, in a sentence that asks, supposes and denies nothing: "replaces D-1, but
/// only on staging" leaves the rest.
fn superseded_by(newer: &Record) -> Vec<RecordId> {
    let reason = newer.reason.as_deref().unwrap_or_default();
    let text = format!("{reason}; {}", newer.content);
    let mut ids = Vec::new();
    for sentence in text.split_inclusive(['.', ';', '!', '?', '。', '；', '！', '？']) {
        let supposes = bare_words(sentence).split(' ').any(|word| is_in(SUPPOSING, word));
        if supposes || !Statement::of(sentence).negations.is_empty() {
            continue;
        }
        let part_ends = |c: char| !(c.is_alphanumeric() || c.is_whitespace() || "-'’".contains(c));
        let parts = sentence.split(part_ends).map(str::trim);
        let parts = parts.filter(|part| SEARCHED_REPLACING.is_match(part));
        for part in parts {
            let found = SEARCHED_REPLACING.captures_iter(part);
            let named = found.filter_map(|found| found.name("active").or(found.name("passive")));
            let words = named.flat_map(|named| named.as_str().split_whitespace());
            ids.extend(words.filter_map(|word| word.parse::<RecordId>().ok()));
        }
    }
    ids
}

/// The records of a head, against which grounds and merges are checked.
#[derive(Debug)]
pub(in crate::domain) struct Grounds {
    /// The records with their statements, each of which several operations may be checked against.
    records: HashMap<RecordId, (Record, Statement)>,
    now: DateTime<Utc>,
    /// How many records of a kind have a word.
    counts: HashMap<(RecordKind, Key), usize>,
}

impl Grounds {
    /// Linear in the document.
    pub(in crate::domain) fn of(document: &str, now: DateTime<Utc>) -> Self {
        let mut grounds = Self {
            records: HashMap::new(),
            now,
            counts: HashMap::new(),
        };
        for record in records(document) {
            for key in keys(&record.content) {
                *grounds.counts.entry((record.id.kind, key)).or_default() += 1;
            }
            let statement = Statement::of_record(&record);
            grounds.records.insert(record.id, (record, statement));
        }
        grounds
    }

    /// Checks the ground of an archiving. `leaves` says which other records go with it.
    ///
    /// # Errors
    /// A sentence that says what does not hold.
    pub(in crate::domain) fn check(
        &self,
        id: RecordId,
        ground: Ground,
        leaves: impl Fn(RecordId) -> bool,
    ) -> Result<(), String> {
        let Some((archived, stated)) = self.records.get(&id) else {
            return Err(format!("{id} is no active record."));
        };
        let Some(other) = ground.kept() else {
            return self.check_end(archived);
        };
        let kept = self.records.get(&other).filter(|_| !leaves(other));
        let Some((kept, stated_by_kept)) = kept.filter(|_| other != id && other.kind == id.kind) else {
            return Err(format!(
                "{other} is no active record of the same kind, or goes too, so {id} stays."
            ));
        };
        match ground {
            Ground::DuplicateOf(_) => match difference((archived, stated), (kept, stated_by_kept)) {
                None => Ok(()),
                Some(difference) => Err(format!("{other} does not say all that {id} says: {difference}.")),
            },
            _ if other.number < id.number => Err(format!("{other} is older than {id}.")),
            _ if id.kind == RecordKind::Verbatim => Err(format!(
                "{id} is kept to the byte: only an equal snippet takes its place."
            )),
            _ if !outlives(&kept.marks, &archived.marks) => {
                Err(format!("{other} expires earlier than {id}."))
            }
            _ if superseded_by(kept).contains(&id) => Ok(()),
            _ => self.check_change(archived, kept),
        }
    }

    /// Whether a record has ended: by its mark, or by a date that its text presents as its end.
    fn check_end(&self, record: &Record) -> Result<(), String> {
        let id = record.id;
        let stated = || stated_end(&record.content).filter(|_| id.kind != RecordKind::Verbatim);
        match record.marks.until.or_else(stated) {
            Some(until) if until.end() <= self.now => Ok(()),
            Some(_) => Err(format!("{id} has not expired: its end is not past.")),
            None => Err(format!(
                "{id} has no end: neither `until` nor a date that its text calls its end (2027-08-31)."
            )),
        }
    }

    /// Whether a newer record says that something has changed of what the older one says.
    fn check_change(&self, older: &Record, newer: &Record) -> Result<(), String> {
        let (id, other) = (older.id, newer.id);
        let of_newer: HashSet<Key> = keys(&newer.content).collect();
        let of_older: HashSet<Key> = keys(&older.content).collect();
        let shared: Vec<Key> = of_older.intersection(&of_newer).copied().collect();
        let of_kind = self.records.keys().filter(|record| record.kind == id.kind);
        let most = (of_kind.count() / DISTINCTIVE).max(3);
        let is_distinctive = |key: &&Key| {
            self.counts
                .get(&(id.kind, **key))
                .is_none_or(|count| *count <= most)
        };
        let distinctive = shared.iter().filter(is_distinctive).count();
        if distinctive < SHARED_WORDS || shared.len() * 2 < of_older.len() {
            return Err(format!(
                "{other} is not about what {id} is about: they share {} of its {} words, {distinctive} of them distinctive.",
                shared.len(),
                of_older.len()
            ));
        }
        // What the older one says, too, is no news.
        let (before, after) = (spaced(&older.content), spaced(&newer.content));
        let is_new =
            |phrase: &str| after.contains(&format!(" {phrase} ")) && !before.contains(&format!(" {phrase} "));
        let is_new_within =
            |phrase: &&str| newer.content.contains(*phrase) && !older.content.contains(*phrase);
        let says_so = CHANGES.split(" | ").any(is_new) || CHANGES_WITHIN.iter().any(is_new_within);
        match says_so {
            true => Ok(()),
            false => Err(format!(
                "{other} does not say that anything has changed, so {id} may hold beside it."
            )),
        }
    }

    /// Checks a merge of learnings into a new text, and returns the marks that the new record has.
    ///
    /// # Errors
    /// A sentence that says what does not hold.
    pub(in crate::domain) fn check_merge(
        &self,
        ids: &[RecordId],
        text: &str,
        leaves: impl Fn(RecordId) -> bool,
    ) -> Result<Marks, String> {
        let distinct: BTreeSet<RecordId> = ids.iter().copied().collect();
        if !(2..=MAX_MERGED).contains(&distinct.len()) || distinct.len() != ids.len() {
            return Err(format!("A merge names two to {MAX_MERGED} different learnings."));
        }
        let mut parts = Vec::with_capacity(ids.len());
        for id in ids {
            match self.records.get(id).filter(|_| !leaves(*id)) {
                Some(part) if id.kind == RecordKind::Learning => parts.push(part),
                Some(_) => return Err(format!("{id} is no learning: only learnings are merged.")),
                None => return Err(format!("{id} is no active record.")),
            }
        }
        let merged = Statement::of(text);
        let (first, _) = parts[0];
        let negations = |statement: &Statement| statement.negations.iter().cloned().collect::<BTreeSet<_>>();
        for (part, stated) in &parts {
            let id = part.id;
            if part.marks != first.marks {
                return Err(format!("{id} and {} are not pinned and ended alike.", first.id));
            }
            if let Err(missing) = merged.besides(stated) {
                return Err(format!(
                    "The new text does not say all that {id} says: {missing}."
                ));
            }
            if negations(stated) != negations(&merged) {
                return Err(format!("{id} and the new text do not negate alike."));
            }
        }
        let negated: usize = parts.iter().map(|(_, stated)| stated.negations.len()).sum();
        if merged.negations.len() != negated {
            return Err("The new text does not negate as often as its parts.".to_owned());
        }
        let own: HashSet<&String> = parts.iter().flat_map(|(_, part)| &part.words).collect();
        let is_foreign = |word: &&String| !own.contains(word) && !is_in(JOINING, word);
        match merged.words.iter().find(is_foreign) {
            Some(word) => Err(format!(
                "The new text says `{word}`, which none of its parts says."
            )),
            None => Ok(first.marks),
        }
    }
}

/// The words of a text in lower case, with one blank before and after each.
fn spaced(text: &str) -> String {
    format!(" {} ", bare_words(text))
}

/// The latest day of a text of one clause that denies nothing, if it ends with it and a word before presents it as an end: of
/// several clauses one may go on.
fn stated_end(text: &str) -> Option<Until> {
    // A short word with a full stop is an abbreviation: "no. 5".
    let ends = |word: &str| word.ends_with([';', '；', '。']) || (word.ends_with('.') && word.len() > 4);
    let goes_on = |word: &str| {
        let word = word.to_lowercase();
        ends(&word) || is_in(JOINING, &word) || is_in(DENIALS, &word) || is_contracted(&word)
    };
    if text.split_whitespace().rev().skip(1).any(goes_on) {
        return None;
    }
    let tokens: Vec<String> = text
        .split_whitespace()
        .map(|token| token.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let day = |token: &String| {
        let written = token.get(..10)?;
        let is_whole = !token[10..].starts_with(char::is_alphanumeric);
        written.parse::<Until>().ok().filter(|_| is_whole)
    };
    let days: Vec<(usize, Until)> = tokens
        .iter()
        .enumerate()
        .filter_map(|(place, token)| Some((place, day(token)?)))
        .collect();
    let last = days.iter().map(|(_, day)| day.end()).max()?;
    let is_end = |(place, day): &&(usize, Until)| {
        let before = &tokens[place.saturating_sub(BEFORE_AN_END)..*place];
        let is_time =
            |word: &String| is_in(AFTER_AN_END, word) || word.starts_with(|c: char| c.is_ascii_digit());
        day.end() == last
            && before.iter().any(|word| is_in(ENDS, word))
            && !before.last().is_some_and(|word| is_in(BEGINNINGS, word))
            && tokens[place + 1..].iter().all(is_time)
    };
    days.iter().find(is_end).map(|(_, day)| *day)
}

/// How many more records of each kind a run may archive.
#[derive(Debug, Clone)]
pub struct Share(BTreeMap<RecordKind, usize>);

impl Share {
    /// This share of the active records of each kind, but at least one.
    #[must_use]
    pub fn of(document: &str, share: f64) -> Self {
        let mut counts: BTreeMap<RecordKind, usize> = BTreeMap::new();
        for (id, _) in record_ranges(document) {
            *counts.entry(id.kind).or_default() += 1;
        }
        for count in counts.values_mut() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a share of a count"
            )]
            let most = (*count as f64 * share) as usize;
            *count = most.max(1);
        }
        Self(counts)
    }

    /// Counts records that are archived together, if all of them may be.
    pub fn take(&mut self, ids: &[RecordId]) -> bool {
        let mut left = self.0.clone();
        for id in ids {
            match left.get_mut(&id.kind) {
                Some(left) if *left > 0 => *left -= 1,
                _ => return false,
            }
        }
        self.0 = left;
        true
    }

    /// Whether none may go any more.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.0.values().all(|left| *left == 0)
    }
}

/// As a model reads it: `4 of KL-, 1 of D-`.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.0.iter().filter(|(_, left)| **left > 0);
        let left: Vec<String> = left
            .map(|(kind, left)| format!("{left} of {}-", kind.prefix()))
            .collect();
        f.write_str(&left.join(", "))
    }
}

/// Finds what can go without a model: what has expired, exact and near duplicates, and decisions that a newer one names as
/// superseded, as much as the share allows. Never a pinned record. Deterministic.
#[must_use]
pub fn find(document: &str, now: DateTime<Utc>, share: &mut Share) -> Vec<Operation> {
    let records = records(document);
    let mut operations = Vec::new();
    let (mut archived, mut kept) = (BTreeSet::new(), BTreeSet::new());
    // Archives a record, unless it is kept for another one, or what it is kept by goes.
    let mut archive = |record: &Record, ground: Ground, reason: String| {
        let id = record.id;
        let goes = ground.kept().is_some_and(|other| archived.contains(&other));
        if goes || kept.contains(&id) || archived.contains(&id) || !share.take(&[id]) {
            return;
        }
        archived.insert(id);
        kept.extend(ground.kept());
        operations.push(Operation::Archive {
            id,
            reason,
            ground: Some(ground),
        });
    };
    let open: Vec<&Record> = records.iter().filter(|record| !record.marks.pinned).collect();
    for record in &open {
        if let Some(until) = record.marks.until.filter(|_| record.marks.has_expired(now)) {
            archive(record, Ground::Expired, format!("expired on {until}"));
        }
    }
    let mut newer_of: HashMap<RecordId, &Record> = HashMap::new();
    for newer in records
        .iter()
        .filter(|record| record.id.kind == RecordKind::Decision)
    {
        for older in superseded_by(newer) {
            if older.kind == newer.id.kind && older.number < newer.id.number {
                newer_of.entry(older).or_insert(newer);
            }
        }
    }
    for record in &open {
        let newer = newer_of.get(&record.id);
        if let Some(newer) = newer.filter(|newer| outlives(&newer.marks, &record.marks)) {
            let reason = format!("{} supersedes it", newer.id);
            archive(record, Ground::SupersededBy(newer.id), reason);
        }
    }
    for (record, other) in duplicates(&records) {
        let reason = format!("duplicate of {}", other.id);
        archive(record, Ground::DuplicateOf(other.id), reason);
    }
    operations
}

/// Records and others that say all that they say: learnings and snippets that are not pinned, newest first. Of two that say the
/// same the older stays.
fn duplicates(records: &[Record]) -> Vec<(&Record, &Record)> {
    let of_kinds = |record: &&Record| matches!(record.id.kind, RecordKind::Learning | RecordKind::Verbatim);
    let statements: Vec<(&Record, Statement)> = records
        .iter()
        .filter(of_kinds)
        .map(|record| (record, Statement::of_record(record)))
        .collect();
    // A learning that says all that another one says has its rarest word.
    let mut with_word: HashMap<&str, Vec<usize>> = HashMap::new();
    let text_of = |record: &Record| match record.id.kind {
        RecordKind::Verbatim => (Some(label(record)), record.content.clone()),
        _ => (None, bare_words(&record.content)),
    };
    let mut with_text: HashMap<(Option<String>, String), Vec<usize>> = HashMap::new();
    for (place, (record, statement)) in statements.iter().enumerate() {
        for word in statement.words.iter().collect::<HashSet<_>>() {
            with_word.entry(word).or_default().push(place);
        }
        with_text.entry(text_of(record)).or_default().push(place);
    }
    let mut found = Vec::new();
    for (place, (record, statement)) in statements.iter().enumerate().rev() {
        if record.marks.pinned {
            continue;
        }
        let rarest = statement
            .words
            .iter()
            .filter_map(|word| with_word.get(word.as_str()))
            .min_by_key(|places| places.len());
        let same = with_text.get(&text_of(record));
        // The same text first: it is found however many records have the same words.
        let rarest = rarest.into_iter().flatten().take(MAX_CANDIDATES);
        let kept = same.into_iter().flatten().chain(rarest).copied().find(|other| {
            let (kept, stated_by_kept) = &statements[*other];
            let (one, another) = ((*record, statement), (*kept, stated_by_kept));
            // Of two that can both go the older stays.
            let stays = || *other < place || kept.marks.pinned || difference(another, one).is_some();
            *other != place && kept.id.kind == record.id.kind && difference(one, another).is_none() && stays()
        });
        found.extend(kept.map(|kept| (*record, statements[kept].0)));
    }
    found
}

/// Refuses what is no step of a consolidation: it only archives on grounds, and merges.
#[must_use]
pub fn steps_only(mut parsed: Parsed) -> Parsed {
    for item in parsed.items.extract_if(.., |item| !item.operation.is_grounded()) {
        let detail = "A consolidation adds and rewrites nothing: it archives a record as `duplicate of` or `superseded by` \
                      another one or as `expired`, or merges several.";
        let fault = Fault::new(FaultKind::Uncovered, detail);
        parsed.faults.push(fault.of_item(&item));
    }
    parsed
}

/// Refuses the steps that would take more than a run may.
#[must_use]
pub fn within(mut reading: Parsed, mut share: Share) -> Parsed {
    let refused = reading.items.extract_if(.., |item| {
        let ids: Vec<RecordId> = item.operation.leaving().collect();
        !share.take(&ids)
    });
    let detail =
        "More of this section than may go in one run (consolidation.max_share): leave it to the next.";
    let refused = refused.map(|item| Fault::new(FaultKind::TooManyArchives, detail).of_item(&item));
    reading.faults.extend(refused);
    reading.keep_few();
    reading
}

#[cfg(test)]
mod tests;
