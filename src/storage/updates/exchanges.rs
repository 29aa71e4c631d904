//! The stored form of a run's exchanges with models: each text is stored once.
//!
//! The three roles receive the same messages, the same instructions in every run, and everything again when they are
//! asked to correct their answer. So instructions are stored in `run_instructions`, once for each vault, and a text
//! that repeats an earlier text of the run refers to it by position. The migration that creates the table describes the
//! format. Unpacking restores every byte. Runs stored in the older form, a plain list, are returned unchanged.

use foldhash::fast::RandomState;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::mem::take;

/// Texts below this many bytes are repeated: a reference is not much shorter.
const MIN_COPY: usize = 64;

/// The JSON member of a packed value.
const PACKED: &str = "packed";

/// The JSON member with the hashes of instructions.
const INSTRUCTIONS: &str = "instructions";

/// The JSON member with the version that the number -1 refers to.
const BASE: &str = "base";

/// Replaces a quotation of a version that no longer exists. A quotation consists of whole lines.
const NOT_KEPT: &str = "[of a version that is not kept any more]\n";

/// Placeholder for a byte of such a quotation until everything is unpacked: other texts refer to positions after it.
/// Stored texts do not contain it.
const LOST: char = '\0';

/// The maximum document size that a stored value may state; more was not packed by this code.
const MOST_BYTES: usize = 64 << 20;

/// Packed exchanges and the instructions that they refer to.
#[derive(Debug)]
pub(in crate::storage) struct Packed {
    pub(in crate::storage) exchanges: Value,
    /// Texts by hash.
    pub(in crate::storage) instructions: BTreeMap<String, String>,
}

impl Packed {
    /// Packs exchanges: each text once, instructions separately, and without quotations of `base`, if given.
    pub(in crate::storage) fn of(base: Option<(i64, &str)>, request: &Value, exchanges: &Value) -> Self {
        let mut instructions = BTreeMap::new();
        let entries = match exchanges {
            Value::Array(entries) if !entries.is_empty() && entries.iter().all(may_be_packed) => entries,
            other => {
                return Self {
                    exchanges: other.clone(),
                    instructions,
                };
            }
        };
        let mut texts = Texts::default();
        texts.add(base.map_or("", |(_, text)| text));
        texts_of(request).for_each(|text| texts.add(text));
        let mut packed = entries.clone();
        for (entry, packed) in entries.iter().zip(&mut packed) {
            if let (Some(text), Some(place)) = (entry["system"].as_str(), packed.get_mut("system")) {
                let hash = hex::encode(Sha256::digest(text.as_bytes()));
                *place = json!({ INSTRUCTIONS: hash });
                instructions.insert(hash, text.to_owned());
            }
            for (turn, at) in turns(entry).iter().zip(0..) {
                let text = turn["content"].as_str();
                let place = packed.pointer_mut(&format!("/messages/{at}/content"));
                if let (Some(text), Some(place)) = (text, place) {
                    *place = texts.cut(text);
                }
                texts.add(text.unwrap_or_default());
            }
            let text = entry["answer"].as_str();
            if let (Some(text), Some(place)) = (text, packed.get_mut("answer")) {
                *place = texts.cut(text);
            }
            texts.add(text.unwrap_or_default());
        }
        let exchanges = match base {
            Some((version, _)) if texts.base_is_named => json!({ PACKED: packed, BASE: version }),
            _ => json!({ PACKED: packed }),
        };
        Self {
            exchanges,
            instructions,
        }
    }
}

/// Unpacks exchanges. Missing instructions stay as their hash. Quotations of a missing version are replaced by a note.
///
/// # Errors
/// What is wrong with the stored value.
pub(in crate::storage) fn unpack(
    base: Option<&str>,
    request: &Value,
    stored: Value,
    instructions: &Value,
) -> Result<Value, &'static str> {
    let mut entries = match stored {
        Value::Object(mut members) => match members.remove(PACKED) {
            Some(Value::Array(entries)) => entries,
            _ => return Err("is neither a list nor packed"),
        },
        plain => return Ok(plain),
    };
    let mut texts: Vec<Cow<'_, str>> = texts_of(request).map(Cow::Borrowed).collect();
    for entry in &mut entries {
        if let Some(system) = entry.get_mut("system")
            && let Some(text) = system[INSTRUCTIONS]
                .as_str()
                .and_then(|hash| instructions.get(hash))
        {
            *system = text.clone();
        }
        let turns = entry.get_mut("messages").and_then(Value::as_array_mut);
        for turn in turns.into_iter().flatten() {
            whole(turn.get_mut("content"), base, &mut texts)?;
        }
        whole(entry.get_mut("answer"), base, &mut texts)?;
    }
    Ok(Value::Array(entries))
}

/// Unpacks a text and adds it to those that later texts may refer to.
fn whole(
    place: Option<&mut Value>,
    base: Option<&str>,
    texts: &mut Vec<Cow<'_, str>>,
) -> Result<(), &'static str> {
    let mut text = String::new();
    match place {
        Some(place @ Value::Array(_)) => {
            for piece in place.as_array().into_iter().flatten() {
                let part = text_of(piece, base, texts).filter(|part| text.len() + part.len() <= MOST_BYTES);
                text.push_str(&part.ok_or("names a place that is not there")?);
            }
            *place = Value::String(shown(&text));
        }
        Some(Value::String(whole)) => text.clone_from(whole),
        _ => {}
    }
    texts.push(Cow::Owned(text));
    Ok(())
}

/// The text for display: a lost quotation is replaced by a note.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(LOST) {
        match part.strip_suffix(LOST) {
            Some("") if shown.ends_with(NOT_KEPT) => {}
            Some(before) => shown.extend([before, NOT_KEPT]),
            None => shown.push_str(part),
        }
    }
    shown
}

/// The text of a piece.
fn text_of<'p>(piece: &'p Value, base: Option<&'p str>, texts: &'p [Cow<'_, str>]) -> Option<Cow<'p, str>> {
    if let Value::String(text) = piece {
        return Some(Cow::Borrowed(text));
    }
    let number = |at: usize| {
        piece
            .get(at)?
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
    };
    let range = number(1)?..number(2)?;
    if piece.get(0)?.as_i64() == Some(-1) {
        return match base {
            Some(text) => text.get(range).map(Cow::Borrowed),
            None => {
                let bytes = range
                    .end
                    .checked_sub(range.start)
                    .filter(|bytes| *bytes <= MOST_BYTES)?;
                Some(Cow::Owned(LOST.to_string().repeat(bytes)))
            }
        };
    }
    texts.get(number(0)?)?.get(range).map(Cow::Borrowed)
}

/// The texts of the task and the messages.
fn texts_of(request: &Value) -> impl Iterator<Item = &str> {
    let task = request["task"].as_str().unwrap_or_default();
    let messages = request["messages"].as_array().map(Vec::as_slice);
    let contents = messages.unwrap_or_default().iter();
    std::iter::once(task).chain(contents.map(|message| message["content"].as_str().unwrap_or_default()))
}

fn turns(entry: &Value) -> &[Value] {
    entry["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Whether it contains nothing that packing itself produces.
fn may_be_packed(entry: &Value) -> bool {
    let is_text = |value: &Value| value.is_string() || value.is_null();
    entry.is_object()
        && is_text(&entry["system"])
        && is_text(&entry["answer"])
        && turns(entry).iter().all(|turn| is_text(&turn["content"]))
}

/// Earlier texts, indexed by their lines.
#[derive(Default)]
struct Texts<'t> {
    /// The text of the version is the first.
    all: Vec<&'t str>,
    /// Whether a piece of the version is referenced.
    base_is_named: bool,
    /// The first occurrence of each line: index of the text and byte offset.
    lines: HashMap<&'t str, (usize, usize), RandomState>,
}

/// A piece of a text: its own words, or a range of bytes of an earlier text.
enum Piece {
    Own(String),
    Copied { text: usize, start: usize, end: usize },
}

impl<'t> Texts<'t> {
    fn add(&mut self, text: &'t str) {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let place = (self.all.len(), at);
            self.lines.entry(line.trim_end_matches('\n')).or_insert(place);
            at += line.len();
        }
        self.all.push(text);
    }

    /// Splits a text into pieces; returns it unchanged if it repeats no earlier text.
    fn cut(&mut self, text: &str) -> Value {
        let mut pieces = Vec::new();
        for line in text.split_inclusive('\n') {
            let body = line.trim_end_matches('\n');
            self.cut_line(body, &mut pieces);
            self.cut_line(&line[body.len()..], &mut pieces);
        }
        let mut stored: Vec<Value> = Vec::new();
        let mut own = String::new();
        for piece in pieces {
            match piece {
                Piece::Own(text) => own.push_str(&text),
                Piece::Copied { text, start, end } if end - start < MIN_COPY => {
                    own.push_str(&self.all[text][start..end]);
                }
                Piece::Copied { text, start, end } => {
                    if !own.is_empty() {
                        stored.push(take(&mut own).into());
                    }
                    self.base_is_named |= text == 0;
                    // The version's text is not one of the run's texts, which are counted from 0.
                    let number = i64::try_from(text).unwrap_or(i64::MAX) - 1;
                    stored.push(json!([number, start, end]));
                }
            }
        }
        if stored.is_empty() {
            return own.into();
        }
        if !own.is_empty() {
            stored.push(own.into());
        }
        stored.into()
    }

    /// Adds a line without its end, or the end of one: where the earlier text goes on with it, to the same piece.
    fn cut_line(&self, line: &str, pieces: &mut Vec<Piece>) {
        if let Some(Piece::Copied { text, end, .. }) = pieces.last_mut()
            && self.all[*text][*end..].starts_with(line)
        {
            *end += line.len();
            return;
        }
        pieces.push(match self.lines.get(line) {
            Some((text, start)) => Piece::Copied {
                text: *text,
                start: *start,
                end: start + line.len(),
            },
            None => Piece::Own(line.to_owned()),
        });
    }
}

#[cfg(test)]
mod tests;
