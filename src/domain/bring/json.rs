//! mem0's memories and Letta's agent file, both JSON.

use super::file::{BadInput, SourceFile};
use super::{Piece, Pieces, brief, memory_of};
use crate::domain::document::written_time;
use crate::domain::text::one_line;
use chrono::{DateTime, Datelike as _, NaiveDateTime, Timelike as _, Utc};
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

const MEM0: &str = "expected the JSON of mem0's get_all: {\"results\": [{\"memory\": \"…\", \"user_id\": \"…\"}]}, or that list";
const LETTA: &str = "expected Letta's agent file (an object with agents and blocks, or with core_memory) or a list of \
                     archival passages ([{\"text\": \"…\"}])";

/// Reads a file of JSON, of which this form was expected.
fn read<T: DeserializeOwned>(file: &SourceFile, form: &str) -> Result<T, BadInput> {
    serde_json::from_str(&file.text).map_err(|error| {
        let line = file.lines.get(error.line().saturating_sub(1));
        let at = line.copied().unwrap_or_default() + error.column().saturating_sub(1);
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        file.bad(at.min(file.text.len()), format!("{what}; {form}"))
    })
}

/// A time of RFC 3339, or without an offset, which is UTC; a blank may stand for its `T`.
fn time<'de, D: Deserializer<'de>>(json: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let Some(text) = Option::<String>::deserialize(json)? else {
        return Ok(None);
    };
    let text = text.replacen(' ', "T", 1);
    let read = DateTime::parse_from_rfc3339(&text).map(|time| time.to_utc());
    let read = read.or_else(|_| text.parse::<NaiveDateTime>().map(|time| time.and_utc()));
    // A leap second is the last second of its minute: documents know no other.
    // Those of other years are no times in a document.
    read.ok()
        .filter(|time| (1..=9999).contains(&time.year()))
        .map(|time| time.with_nanosecond(time.nanosecond() % 1_000_000_000))
        .ok_or_else(|| {
            D::Error::custom("created_at and updated_at must be times such as 2024-07-01T12:00:00Z")
        })
}

/// A text that must be there, but may be null.
fn nullable<'de, D: Deserializer<'de>>(json: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(json)?.unwrap_or_default())
}

/// Adds a learning, if it has a text.
fn add(found: &mut Pieces, kind: &str, learning: Piece) {
    match learning.text.is_empty() {
        true => found
            .left
            .push(format!("{}: a {kind} without text", learning.place)),
        false => found.pieces.push(learning),
    }
}

/// What a record's reason says beside its place.
fn details(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Metadata as compact JSON, unless there is none.
fn metadata(value: Option<&Value>) -> Option<String> {
    let value = value.filter(|value| !value.is_null() && **value != Value::Object(serde_json::Map::new()))?;
    Some(format!("metadata {value}"))
}

fn tags(name: &str, tags: Option<&Vec<String>>) -> Option<String> {
    let tags = tags.filter(|tags| !tags.is_empty())?;
    Some(format!("{name} {}", one_line(&tags.join(" "))))
}

#[derive(Deserialize)]
struct Mem0Page {
    results: Vec<Mem0Entry>,
    #[serde(default)]
    relations: Option<Vec<IgnoredAny>>,
    /// The address of the next page.
    #[serde(default)]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Mem0Entry {
    #[serde(deserialize_with = "nullable")]
    memory: String,
    id: Option<String>,
    user_id: Option<String>,
    agent_id: Option<String>,
    app_id: Option<String>,
    run_id: Option<String>,
    metadata: Option<Value>,
    categories: Option<Vec<String>>,
    #[serde(default, deserialize_with = "time")]
    created_at: Option<DateTime<Utc>>,
    #[serde(default, deserialize_with = "time")]
    updated_at: Option<DateTime<Utc>>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// Reads the memories of mem0: one memory for each user, or for each agent of memories without a user, oldest first.
///
/// # Errors
///
/// The file has another form.
pub fn mem0(file: &SourceFile) -> Result<Pieces, BadInput> {
    let mut found = Pieces::default();
    let (list, relations) = match file.text.trim_start().starts_with('[') {
        true => (read::<Vec<Mem0Entry>>(file, MEM0)?, None),
        false => {
            let page: Mem0Page = read(file, MEM0)?;
            if page.next.is_some() {
                let left = format!(
                    "{}: `next`, which says that more pages follow: bring them too",
                    file.name
                );
                found.left.push(left);
            }
            (page.results, page.relations)
        }
    };
    let mut not_kept: BTreeMap<String, usize> = BTreeMap::new();
    for entry in list {
        let created = entry.created_at;
        let updated = entry.updated_at.filter(|time| Some(*time) != created);
        let owners = [
            ("user", &entry.user_id),
            ("agent", &entry.agent_id),
            ("app", &entry.app_id),
            ("run", &entry.run_id),
        ];
        let mut owners = owners
            .iter()
            .filter_map(|(kind, id)| Some((*kind, id.as_deref()?)));
        let memory = owners.next().map(|(kind, id)| memory_of(kind, id));
        let others = owners.map(|(kind, id)| Some(format!("{kind} {}", brief(id))));
        let detail = [
            entry.id.as_deref().map(|id| format!("mem0 id {}", brief(id))),
            updated.map(|time| format!("updated {}", written_time(time))),
            tags("categories", entry.categories.as_ref()),
            metadata(entry.metadata.as_ref()),
        ];
        for (name, _) in entry.rest.into_iter().filter(|(_, value)| !value.is_null()) {
            *not_kept.entry(name).or_default() += 1;
        }
        let learning = Piece {
            memory,
            text: one_line(&entry.memory),
            place: file.name.clone(),
            detail: details(others.chain(detail)),
            time: created,
            ..Piece::default()
        };
        add(&mut found, "memory", learning);
    }
    found.pieces.sort_by_key(|piece| piece.time);
    if let Some(list) = relations.filter(|list| !list.is_empty()) {
        not_kept.insert("relations".to_owned(), list.len());
    }
    for (name, number) in not_kept {
        found
            .left
            .push(format!("{}: {name} of mem0 ({number})", file.name));
    }
    Ok(found)
}

#[derive(Deserialize)]
struct AgentFile {
    agents: Option<Vec<Agent>>,
    core_memory: Option<IgnoredAny>,
    blocks: Option<Vec<Block>>,
    files: Option<Vec<IgnoredAny>>,
    sources: Option<Vec<IgnoredAny>>,
    tools: Option<Vec<IgnoredAny>>,
    groups: Option<Vec<IgnoredAny>>,
    mcp_servers: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct Agent {
    name: Option<String>,
    block_ids: Option<Vec<String>>,
    memory_blocks: Option<Vec<Block>>,
    core_memory: Option<Vec<Block>>,
    messages: Option<Vec<IgnoredAny>>,
    system: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    id: Option<String>,
    label: Option<String>,
    #[serde(deserialize_with = "nullable")]
    value: String,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Passage {
    #[serde(deserialize_with = "nullable")]
    text: String,
    id: Option<String>,
    #[serde(default, deserialize_with = "time")]
    created_at: Option<DateTime<Utc>>,
    tags: Option<Vec<String>>,
    metadata: Option<Value>,
}

/// Reads Letta's agent file, of its first or second version: each block is a section. Of several agents each has its
/// own memory. The agent file has no archival passages; a list of them, as Letta's interface returns it, gives a
/// learning each.
///
/// # Errors
///
/// The file has another form.
pub fn letta(file: &SourceFile) -> Result<Pieces, BadInput> {
    if file.text.trim_start().starts_with('[') {
        return passages(file);
    }
    let whole: AgentFile = read(file, LETTA)?;
    let agents = match (whole.agents, whole.core_memory) {
        (Some(agents), _) => agents,
        // The first version is one agent.
        (None, Some(_)) => vec![read(file, LETTA)?],
        (None, None) => return Err(file.bad(0, LETTA)),
    };
    let mut shared: Vec<(Block, bool)> = Vec::new();
    let mut of_id: HashMap<String, Vec<usize>> = HashMap::new();
    for block in whole.blocks.into_iter().flatten() {
        if let Some(id) = &block.id {
            of_id.entry(id.clone()).or_default().push(shared.len());
        }
        shared.push((block, false));
    }
    let mut found = Pieces::default();
    let is_only = agents.len() == 1;
    for agent in agents {
        let name = agent.name.unwrap_or_else(|| "without a name".to_owned());
        let memory = (!is_only).then(|| memory_of("agent", &name));
        let mut add = |block: &Block| {
            let label = block.label.as_deref().unwrap_or("block");
            let description = block.description.as_deref().unwrap_or_default();
            if !description.trim().is_empty() {
                let left = format!("{}: the description of block {}", file.name, brief(label));
                found.left.push(left);
            }
            if !block.value.trim().is_empty() {
                let section = Piece::section(label, &block.value, file, file.name.clone());
                found.pieces.push(Piece {
                    memory: memory.clone(),
                    ..section
                });
            }
        };
        let mut seen = HashSet::new();
        for id in agent.block_ids.iter().flatten().filter(|id| seen.insert(*id)) {
            for index in of_id.get(id).into_iter().flatten() {
                let (block, is_used) = &mut shared[*index];
                add(block);
                *is_used = true;
            }
        }
        let own = [&agent.memory_blocks, &agent.core_memory];
        own.into_iter().flatten().flatten().for_each(add);
        let messages = agent.messages.map_or(0, |messages| messages.len());
        let system = agent.system.is_some_and(|system| !system.is_empty());
        let system = if system { "system prompt, " } else { "" };
        found.left.push(format!(
            "{}: of agent {}: {system}{messages} messages, settings",
            file.name,
            brief(&name)
        ));
    }
    for (block, _) in shared.iter().filter(|(_, is_used)| !is_used) {
        let label = brief(block.label.as_deref().unwrap_or("block"));
        let left = format!("{}: block {label}, which no agent has", file.name);
        found.left.push(left);
    }
    let lists = [
        ("tools", whole.tools),
        ("files", whole.files),
        ("sources", whole.sources),
        ("groups", whole.groups),
        ("MCP servers", whole.mcp_servers),
    ];
    for (name, list) in lists {
        let number = list.map_or(0, |list| list.len());
        if number > 0 {
            found.left.push(format!("{}: {name} ({number})", file.name));
        }
    }
    Ok(found)
}

fn passages(file: &SourceFile) -> Result<Pieces, BadInput> {
    let mut found = Pieces::default();
    for passage in read::<Vec<Passage>>(file, LETTA)? {
        let detail = [
            passage.id.as_deref().map(brief),
            tags("tags", passage.tags.as_ref()),
            metadata(passage.metadata.as_ref()),
        ];
        let learning = Piece {
            text: one_line(&passage.text),
            place: file.name.clone(),
            detail: details(detail),
            time: passage.created_at,
            ..Piece::default()
        };
        add(&mut found, "passage", learning);
    }
    found.pieces.sort_by_key(|piece| piece.time);
    Ok(found)
}
