//! Resources that a client can read, and show to its user, without a tool.

use super::arguments::Fixed;
use super::backend::{Backend, RouteRequest, json, success};
use super::failure::Failure;
use crate::domain::ids::{MemoryId, VaultId};
use http::Method;
use rmcp::model::{
    Extensions, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::Value;
use std::str::FromStr;

const SCHEME: &str = "memory://";

/// The instructions for agents, which do not belong to a memory.
const GUIDANCE: &str = "memory://guidance";

/// The rules for ids and managed sections.
const GUIDANCE_MANAGED: &str = "memory://guidance/managed";

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// The parts of a memory that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Context,
    Prompt,
    Window,
    Handoff,
    Version(String),
    Record(String),
}

/// The parts that exist once per memory: the last segment of their URI, and their names and descriptions.
const WHOLE: [(&str, Part, &str, &str); 4] = [
    (
        "context",
        Part::Context,
        "Document",
        "The newest document of the memory.",
    ),
    (
        "prompt",
        Part::Prompt,
        "Prompt",
        "A system prompt assembled from the memory and its items.",
    ),
    (
        "window",
        Part::Window,
        "Window",
        "Status, recent tasks and decisions.",
    ),
    (
        "handoff",
        Part::Handoff,
        "Handoff",
        "What changed lately, for whoever continues the work.",
    ),
];

/// A parsed URI.
#[derive(Debug)]
enum Address {
    Guidance,
    GuidanceManaged,
    Of {
        vault: VaultId,
        memory: MemoryId,
        part: Part,
    },
}

impl FromStr for Address {
    type Err = String;

    fn from_str(uri: &str) -> Result<Self, String> {
        if uri == GUIDANCE {
            return Ok(Self::Guidance);
        }
        if uri == GUIDANCE_MANAGED {
            return Ok(Self::GuidanceManaged);
        }
        let unknown = || {
            format!(
                "{uri:.200} is no resource: there are {GUIDANCE}, {GUIDANCE_MANAGED}, {SCHEME}{{vault}}/{{memory}}/ with context, prompt, window \
                 or handoff behind it, …/contexts/{{ref}} and …/records/{{id}}"
            )
        };
        let path = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
        let segments: Vec<String> = path
            .split('/')
            .map(decoded)
            .collect::<Option<_>>()
            .ok_or_else(unknown)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let (vault, memory, rest) = match segments.as_slice() {
            [vault, memory, rest @ ..] => (vault, memory, rest),
            _ => return Err(unknown()),
        };
        let part = match rest {
            ["contexts", version] if !version.is_empty() => Part::Version((*version).to_owned()),
            ["records", id] if !id.is_empty() => Part::Record((*id).to_owned()),
            [name] => {
                let whole = WHOLE
                    .iter()
                    .find(|(known, ..)| known == name)
                    .ok_or_else(unknown)?;
                whole.1.clone()
            }
            _ => return Err(unknown()),
        };
        Ok(Self::Of {
            vault: vault
                .parse()
                .map_err(|rule| format!("the vault of {uri:.200} {rule}"))?,
            memory: memory
                .parse()
                .map_err(|rule| format!("the memory of {uri:.200} {rule}"))?,
            part,
        })
    }
}

fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let whole = WHOLE.map(|(name, _, title, description)| {
        ResourceTemplate::new(format!("{SCHEME}{{vault}}/{{memory}}/{name}"), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(MARKDOWN)
    });
    let version = ResourceTemplate::new(
        format!("{SCHEME}{{vault}}/{{memory}}/contexts/{{ref}}"),
        "version",
    )
    .with_title("Version")
    .with_description("One version of the document, by its number or context_id.")
    .with_mime_type(MARKDOWN);
    let record = ResourceTemplate::new(format!("{SCHEME}{{vault}}/{{memory}}/records/{{id}}"), "record")
        .with_title("Record")
        .with_description("One learning, snippet, task or decision with reason, birth and end, such as KL-3.")
        .with_mime_type(JSON);
    whole.into_iter().chain([version, record]).collect()
}

/// One page of resources: the guidance, then the documents of the memories, vault by vault. A client with a fixed
/// memory gets all resources of that memory.
pub(super) async fn list<B: Backend>(
    backend: &B,
    from: &Extensions,
    cursor: Option<String>,
) -> Result<ListResourcesResult, Failure> {
    let fixed = backend.fixed(from);
    let mut resources = Vec::new();
    if cursor.is_none() {
        let guidance = Resource::new(GUIDANCE, "guidance")
            .with_title("Guidance")
            .with_description("How an agent keeps its memory: what is worth keeping, and how.")
            .with_mime_type(MARKDOWN);
        let managed = Resource::new(GUIDANCE_MANAGED, "guidance-managed")
            .with_title("Guidance: ids and managed sections")
            .with_description(
                "The rules for lines with ids, for the sections that the service maintains, and for tools.",
            )
            .with_mime_type(MARKDOWN);
        resources.extend([guidance, managed]);
    }
    let next = match &fixed {
        Fixed {
            vault: Some(vault),
            memory: Some(memory),
        } => {
            resources.extend(WHOLE.map(|(name, _, title, description)| {
                Resource::new(
                    format!("{SCHEME}{vault}/{memory}/{name}"),
                    format!("{memory}/{name}"),
                )
                .with_title(format!("{title} of {memory}"))
                .with_description(description)
                .with_mime_type(MARKDOWN)
            }));
            None
        }
        _ => documents(backend, from, &fixed, cursor, &mut resources).await?,
    };
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

/// The documents of one page of memories, and the cursor of the next page. A cursor contains the vault, a slash and the
/// cursor of its list of memories.
async fn documents<B: Backend>(
    backend: &B,
    from: &Extensions,
    fixed: &Fixed,
    cursor: Option<String>,
    resources: &mut Vec<Resource>,
) -> Result<Option<String>, Failure> {
    let vaults = match &fixed.vault {
        Some(vault) => vec![vault.to_string()],
        None => {
            let ask = RouteRequest::new(Method::GET, &["vaults"]).query("limit", 500);
            names(&json(backend, from, ask).await?, "vault_id")
        }
    };
    let (vault, page) = match &cursor {
        None => match vaults.first() {
            Some(vault) => (vault.clone(), None),
            None => return Ok(None),
        },
        Some(cursor) => {
            let bad = || Failure::argument("cursor", "cursor is not one that this list gave");
            let (vault, page) = cursor.split_once('/').ok_or_else(bad)?;
            let known = vaults.iter().any(|known| known == vault);
            (
                known.then(|| vault.to_owned()).ok_or_else(bad)?,
                Some(page).filter(|page| !page.is_empty()),
            )
        }
    };
    let ask = RouteRequest::new(Method::GET, &["vaults", &vault, "memories"]).maybe("cursor", page);
    let list = json(backend, from, ask).await?;
    let items = list["items"].as_array().into_iter().flatten();
    // A memory without a document has nothing to read.
    let with_document = items.filter(|item| !item["context_id"].is_null());
    resources.extend(
        with_document
            .filter_map(|item| item["memory_id"].as_str())
            .map(|memory| {
                Resource::new(
                    format!("{SCHEME}{vault}/{memory}/context"),
                    format!("{vault}/{memory}"),
                )
                .with_title(format!("Document of {memory}"))
                .with_mime_type(MARKDOWN)
            }),
    );
    Ok(match list["next_cursor"].as_str() {
        Some(next) => Some(format!("{vault}/{next}")),
        None => vaults
            .iter()
            .skip_while(|known| **known != vault)
            .nth(1)
            .map(|next| format!("{next}/")),
    })
}

/// The values of a member in a page of a list.
fn names(list: &Value, member: &str) -> Vec<String> {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .filter_map(|item| item[member].as_str().map(str::to_owned))
        .collect()
}

/// Reads a resource.
pub(super) async fn read<B: Backend>(
    backend: &B,
    from: &Extensions,
    uri: &str,
) -> Result<ReadResourceResult, Failure> {
    let address: Address = uri.parse().map_err(|detail: String| {
        Failure::new(detail, "Take an address from resources/list or a template.")
    })?;
    let (ask, media_type) = match &address {
        Address::Guidance => (
            RouteRequest::new(Method::GET, &["guidance"]).accept(MARKDOWN),
            MARKDOWN,
        ),
        Address::GuidanceManaged => {
            let ask = RouteRequest::new(Method::GET, &["guidance"]).query("page", "managed");
            (ask.accept(MARKDOWN), MARKDOWN)
        }
        Address::Of { vault, memory, part } => {
            backend.fixed(from).check(vault, memory)?;
            let of = |below: &[&str]| {
                let path = ["vaults", vault.as_str(), "memories", memory.as_str()];
                RouteRequest::new(Method::GET, &[&path, below].concat())
            };
            match part {
                Part::Context => (of(&["context"]).accept(MARKDOWN), MARKDOWN),
                Part::Prompt => (of(&["prompt"]).accept(MARKDOWN), MARKDOWN),
                Part::Window => (of(&["window"]).accept(MARKDOWN), MARKDOWN),
                Part::Handoff => (of(&["handoff"]).accept(MARKDOWN), MARKDOWN),
                Part::Version(version) => (of(&["contexts", version]).accept(MARKDOWN), MARKDOWN),
                Part::Record(id) => (of(&["records", id]), JSON),
            }
        }
    };
    let answer = success(backend, from, ask).await?;
    let text = String::from_utf8_lossy(answer.body()).into_owned();
    let contents = ResourceContents::text(text, uri).with_mime_type(media_type);
    Ok(ReadResourceResult::new(vec![contents]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood_or_refused_with_what_there_is() {
        for good in [
            "memory://guidance",
            "memory://guidance/managed",
            "memory://v/m/context",
            "memory://v/agent:1@home/handoff",
            "memory://v/m/contexts/3",
            "memory://v/m/records/KL-3",
            "memory://v/m%2D1/window",
        ] {
            assert!(good.parse::<Address>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "memory://",
            "memory://v",
            "memory://v/m",
            "memory://v/m/",
            "memory://v/m/other",
            "memory://v/../context",
            "memory://v/m/contexts/",
            "memory://v/m/context/more",
            "memory://v/m%2/context",
            "memory://v/m%ff/context",
            "file:///etc/passwd",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }
}
