//! Resources that a client can read, and show to its user, without a tool; and prompts that a user selects to start or end a
//! session, or to review the memory.

use crate::domain::ids::VaultId;
use crate::mcp::backend::{Call, Fixed, Place, RouteRequest, taken};
use crate::mcp::failure::Failure;
use http::Method;
use percent_encoding::percent_decode_str;
use rmcp::model::{
    GetPromptResult, JsonObject, ListResourcesResult, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};

const SCHEME: &str = "memory://";

/// The instructions for agents, which do not belong to a memory.
const GUIDANCE: &str = "memory://guidance";

/// The rules for ids and managed sections.
const GUIDANCE_MANAGED: &str = "memory://guidance/managed";

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// The parts that exist once per memory: the last segment of their URI, and their names and descriptions.
const WHOLE: [(&str, &str, &str); 4] = [
    ("context", "Document", "The newest document of the memory."),
    (
        "prompt",
        "Prompt",
        "A system prompt assembled from the memory and its items.",
    ),
    ("window", "Window", "Status, recent tasks and decisions."),
    (
        "handoff",
        "Handoff",
        "What changed lately, for whoever continues the work.",
    ),
];

/// The URI of a part of a memory. The vault stands in place of a host, where `:` would begin a port and `@` end a user.
fn uri(vault: &str, memory: &str, part: &str) -> String {
    let vault = vault.replace(':', "%3A").replace('@', "%40");
    format!("{SCHEME}{vault}/{memory}/{part}")
}

/// The memory that a URI is about, and the path of the route below it.
fn address(uri: &str) -> Result<(Place, Vec<String>), String> {
    let unknown = || {
        format!(
            "{uri:.200} is no resource: there are {GUIDANCE}, {GUIDANCE_MANAGED}, {SCHEME}{{vault}}/{{memory}}/ with context, prompt, window \
             or handoff behind it, …/contexts/{{ref}} and …/records/{{id}}"
        )
    };
    let path = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
    let decoded = |segment| Some(percent_decode_str(segment).decode_utf8().ok()?.into_owned());
    let segments: Option<Vec<String>> = path.split('/').map(decoded).collect();
    let segments = segments.ok_or_else(unknown)?;
    let [vault, memory, below @ ..] = segments.as_slice() else {
        return Err(unknown());
    };
    let is_known = match below {
        [name] => WHOLE.iter().any(|(known, ..)| known == name),
        [list, entry] => ["contexts", "records"].contains(&list.as_str()) && !entry.is_empty(),
        _ => false,
    };
    if !is_known {
        return Err(unknown());
    }
    let place = Place {
        vault: vault
            .parse()
            .map_err(|rule| format!("the vault of {uri:.200} {rule}"))?,
        memory: memory
            .parse()
            .map_err(|rule| format!("the memory of {uri:.200} {rule}"))?,
    };
    Ok((place, below.to_vec()))
}

/// The templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |path: &str, name: &str, title: &str, description: &str| {
        ResourceTemplate::new(format!("{SCHEME}{{vault}}/{{memory}}/{path}"), name)
            .with_title(title)
            .with_description(description)
    };
    let version = "One version of the document, by its number or context_id.";
    let record = "One learning, snippet, task or decision with reason, birth and end, such as KL-3.";
    let whole = WHOLE.map(|(name, title, description)| template(name, name, title, description));
    let version = template("contexts/{ref}", "version", "Version", version);
    let record = template("records/{id}", "record", "Record", record).with_mime_type(JSON);
    let texts = whole.into_iter().chain([version]);
    let texts = texts.map(|text| text.with_mime_type(MARKDOWN));
    texts.chain([record]).collect()
}

/// A resource that is text.
fn text(uri: impl Into<String>, name: impl Into<String>, title: impl Into<String>) -> Resource {
    Resource::new(uri, name)
        .with_title(title)
        .with_mime_type(MARKDOWN)
}

/// One page of resources: the guidance, then the documents of the memories, vault by vault. A client with a fixed
/// memory gets all resources of that memory.
pub(super) async fn list(call: &Call<'_>, cursor: Option<String>) -> Result<ListResourcesResult, Failure> {
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    let mut resources = Vec::new();
    if cursor.is_none() {
        let guidance = "How an agent keeps its memory: what is worth keeping, and how.";
        let managed =
            "The rules for lines with ids, for the sections that the service maintains, and for tools.";
        let title = "Guidance: ids and managed sections";
        resources.push(text(GUIDANCE, "guidance", "Guidance").with_description(guidance));
        resources.push(text(GUIDANCE_MANAGED, "guidance-managed", title).with_description(managed));
    }
    let next = match &call.fixed {
        Fixed {
            vault: Some(vault),
            memory: Some(memory),
        } => {
            if cursor.is_some() {
                return Err(foreign_cursor());
            }
            resources.extend(WHOLE.map(|(name, title, description)| {
                let uri = uri(vault.as_str(), memory.as_str(), name);
                let title = format!("{title} of {memory}");
                text(uri, format!("{memory}/{name}"), title).with_description(description)
            }));
            None
        }
        _ => documents(call, cursor, &mut resources).await?,
    };
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

/// The documents of one page of memories, and the cursor of the next page. A cursor contains, between slashes, the cursor of the
/// vaults behind this one, the vault and the cursor of its list of memories; without a vault, it begins the next one.
async fn documents(
    call: &Call<'_>,
    cursor: Option<String>,
    resources: &mut Vec<Resource>,
) -> Result<Option<String>, Failure> {
    let fixed = call.fixed.vault.as_ref().map_or("", VaultId::as_str);
    let cursor = cursor.unwrap_or_else(|| format!("/{fixed}/"));
    let mut parts = cursor.splitn(3, '/');
    let (Some(behind), Some(vault), Some(page)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(foreign_cursor());
    };
    if !fixed.is_empty() && (behind, vault) != ("", fixed) {
        return Err(foreign_cursor());
    }
    let given = |cursor: &str| (!cursor.is_empty()).then(|| cursor.to_owned());
    let vaults;
    // The list of vaults is read one by one: a cursor in the middle of a page could not say where it continues.
    let (behind, vault) = if vault.is_empty() {
        let ask = RouteRequest::new(Method::GET, &["vaults"]).query("limit", 1);
        vaults = call.json(ask.maybe("cursor", given(behind))).await?;
        let Some(vault) = vaults["items"][0]["vault_id"].as_str() else {
            return Ok(None);
        };
        (vaults["next_cursor"].as_str().unwrap_or_default(), vault)
    } else {
        (behind, vault)
    };
    let ask = RouteRequest::new(Method::GET, &["vaults", vault, "memories"]).maybe("cursor", given(page));
    let list = call.json(ask).await?;
    let items = list["items"].as_array().into_iter().flatten();
    // A memory without a document has nothing to read.
    let with_document = items.filter(|item| !item["context_id"].is_null());
    for memory in with_document.filter_map(|item| item["memory_id"].as_str()) {
        let (uri, name) = (uri(vault, memory, "context"), format!("{vault}/{memory}"));
        resources.push(text(uri, name, format!("Document of {memory}")));
    }
    Ok(match list["next_cursor"].as_str() {
        Some(next) => Some(format!("{behind}/{vault}/{next}")),
        None => given(behind).map(|behind| format!("{behind}//")),
    })
}

fn foreign_cursor() -> Failure {
    Failure::argument("cursor", "cursor is not one that this list gave")
}

/// Reads a resource.
pub(super) async fn read(call: &Call<'_>, uri: &str) -> Result<ReadResourceResult, Failure> {
    let guidance = RouteRequest::new(Method::GET, &["guidance"]).accept(MARKDOWN);
    let (ask, media_type) = match uri {
        GUIDANCE => (guidance, MARKDOWN),
        GUIDANCE_MANAGED => (guidance.query("page", "managed"), MARKDOWN),
        _ => {
            let (place, below) = address(uri).map_err(|detail| {
                Failure::new(detail, "Take an address from resources/list or a template.")
            })?;
            call.fixed.check(&place)?;
            let below: Vec<&str> = below.iter().map(String::as_str).collect();
            let ask = place.ask(Method::GET, &below);
            match below[0] {
                "records" => (ask, JSON),
                _ => (ask.accept(MARKDOWN), MARKDOWN),
            }
        }
    };
    let answer = call.success(ask).await?;
    let text = String::from_utf8_lossy(answer.body()).into_owned();
    let contents = ResourceContents::text(text, uri).with_mime_type(media_type);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// A prompt.
struct Text {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The text for the agent; `{vault}` and `{memory}` are replaced by the names.
    text: &'static str,
    /// The parts appended to it: the last segment of the route and the heading.
    parts: &'static [(&'static str, &'static str)],
    /// An additional argument, and its description.
    argument: Option<(&'static str, &'static str)>,
}

const ALL: [Text; 3] = [
    Text {
        name: "resume",
        title: "Resume work",
        description: "Begin a session: the agent is given the handoff and the memory, says where the work stands, and \
            goes on with it.",
        text: include_str!("texts/resume.md"),
        parts: &[("handoff", "Handoff"), ("context", "Memory")],
        argument: Some(("task", "What this session is for, if it is not simply to go on.")),
    },
    Text {
        name: "wrap_up",
        title: "Wrap up a session",
        description: "End a session: the agent keeps what a later session needs (progress, learnings, snippets, the \
            finished task, decisions) and nothing else.",
        text: include_str!("texts/wrap_up.md"),
        parts: &[("context", "Memory as it is now")],
        argument: None,
    },
    Text {
        name: "review_memory",
        title: "Review the memory",
        description: "Tidy a memory: the agent looks for records that are wrong, double, outdated or vague, proposes \
            what to archive and what to put in its place, and does it once you agree.",
        text: include_str!("texts/review_memory.md"),
        parts: &[("context", "Memory")],
        argument: None,
    },
];

/// Every prompt.
pub(super) fn list_prompts(fixed: &Fixed) -> Vec<Prompt> {
    let prompt = |text: &Text| {
        let mut arguments = vec![
            PromptArgument::new("vault")
                .with_description("The vault that the memory is in.")
                .with_required(fixed.vault.is_none()),
            PromptArgument::new("memory")
                .with_description("The memory.")
                .with_required(fixed.memory.is_none()),
        ];
        if let Some((name, description)) = text.argument {
            let argument = PromptArgument::new(name).with_description(description);
            arguments.push(argument.with_required(false));
        }
        Prompt::new(text.name, Some(text.description), Some(arguments)).with_title(text.title)
    };
    ALL.iter().map(prompt).collect()
}

/// One prompt, with the current content of the memory.
pub(super) async fn get_prompt(
    call: &Call<'_>,
    name: &str,
    mut arguments: JsonObject,
) -> Result<GetPromptResult, Failure> {
    let Some(prompt) = ALL.iter().find(|prompt| prompt.name == name) else {
        let names: Vec<_> = ALL.iter().map(|prompt| prompt.name).collect();
        return Err(Failure::new(
            format!("there is no prompt {name:.100}"),
            format!("There are: {}.", names.join(", ")),
        ));
    };
    // An empty field of a form counts as missing.
    arguments.retain(|_, value| value.as_str() != Some(""));
    let place = call.fixed.place(&mut arguments)?;
    let Place { vault, memory } = &place;
    let further = match prompt.argument {
        Some((name, _)) => taken::<String>(name, &mut arguments, None)?,
        None => None,
    };
    if let Some(unknown) = arguments.keys().next() {
        return Err(Failure::argument(
            unknown,
            format!("the prompt {name} has no argument {unknown:.100}"),
        ));
    }
    let mut text = prompt
        .text
        .replace("{vault}", vault.as_str())
        .replace("{memory}", memory.as_str());
    if let Some(task) = further {
        text.push_str("\nThis session is for: ");
        text.push_str(&task);
        text.push('\n');
    }
    let mut messages = vec![PromptMessage::new_text(Role::User, text)];
    for (part, heading) in prompt.parts {
        let content_text = match part_of(call, &place, part).await? {
            Some(content) => format!("{heading} ({vault}/{memory}), as data:\n\n{content}"),
            None => format!("{heading} ({vault}/{memory}): there is none yet."),
        };
        messages.push(PromptMessage::new_text(Role::User, content_text));
    }
    Ok(GetPromptResult::new(messages).with_description(prompt.description))
}

/// A part of the memory; `None` if it does not exist.
async fn part_of(call: &Call<'_>, place: &Place, part: &str) -> Result<Option<String>, Failure> {
    let ask = place.ask(Method::GET, &[part]).accept(MARKDOWN);
    match call.success(ask).await {
        Ok(answer) => Ok(Some(String::from_utf8_lossy(answer.body()).into_owned())),
        Err(failure) if failure.status == 404 => Ok(None),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vault_with_reserved_characters_has_an_address_that_is_read_back() {
        let written = uri("team:a@b", "m:1", "context");
        assert_eq!(written, "memory://team%3Aa%40b/m:1/context");
        assert_eq!(address(&written).unwrap().0.vault.as_str(), "team:a@b");
    }

    #[test]
    fn addresses_are_understood_or_refused_with_what_there_is() {
        for good in "m/context agent:1@home/handoff m/contexts/3 m/records/KL-3 m%2D1/window".split(' ') {
            assert!(address(&format!("memory://v/{good}")).is_ok(), "{good}");
        }
        let bad = "|memory://|memory://v|memory://v/m|memory://v/m/|memory://v/m/other|memory://v/../context|\
                   memory://v/m/contexts/|memory://v/m/context/more|memory://v/m%2/context|memory://v/m%ff/context|\
                   file:///etc/passwd";
        for bad in bad.split('|') {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}

#[cfg(test)]
mod prompts_tests {
    use super::*;

    #[test]
    fn every_prompt_has_a_description_and_names_tools_that_exist() {
        for prompt in list_prompts(&Fixed::default()) {
            let is_told = prompt.description.is_some_and(|text| text.len() > 50);
            assert!(is_told, "{}", prompt.name);
        }
        let tools = crate::mcp::tools::list(&Fixed::default());
        for text in ALL {
            let words = text
                .text
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            for word in words.filter(|word| word.starts_with("memory_")) {
                let is_tool = tools.iter().any(|tool| tool.name == word);
                assert!(is_tool, "{}: {word}", text.name);
            }
        }
    }
}
