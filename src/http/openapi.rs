//! The OpenAPI document, generated from the registered routes, so that it always matches the code.
//!
//! A route documents its parameters, bodies, responses, and each problem by status and description. What all routes
//! share is added here: the ids in paths, the schema of problems, and the problems that any request can cause.

use crate::domain::access::AccessRole;
use crate::domain::ids::{MAX_ID_BYTES, VaultId};
use crate::http::middleware::{access, document_replica, document_site, idempotency};
use crate::http::problem::{self, Kind, ProblemBody};
use crate::http::router;
use axum::http::Method;
use strum::VariantNames as _;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ArrayItems, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, ContentBuilder, Header, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    Required, Response, Schema, Server,
};
use utoipa::{PartialSchema as _, ToSchema as _};

/// Path parameters: name and description.
const PATH_PARAMETERS: &[(&str, &str)] = &[
    ("vault_id", "The vault (tenant)."),
    ("memory_id", "The memory of an agent or a task."),
    ("ref", "A version of the document: its number or its context_id."),
    ("record_id", "A record: KL-, VC-, T- or D- and its number."),
    ("update_id", "A run of the update pipeline."),
    ("handoff_id", "A handoff."),
    ("key_id", "An API key; not its secret."),
    // OpenAPI and the router both treat paths that differ only in a parameter's name as one path.
    (
        "item",
        "A prompt item by its item_id; for a PUT the category that is replaced.",
    ),
];

/// Headers of responses, with what they say wherever they are.
const HEADERS: &[(&str, &str)] = &[
    (
        "ETag",
        "The strong entity tag of this representation; of a document's text it is the context_id in double quotes.",
    ),
    (
        "Idempotency-Replayed",
        "`true` if this is the answer of an earlier request with the same key.",
    ),
    ("Last-Modified", "When the version was made."),
    ("Link", "The next page, `rel=\"next\"`; only if there is one."),
    ("Location", "The path of what was made."),
    ("Preference-Applied", "`respond-async`."),
    ("Vary", "`Accept`."),
    (
        "X-Context-Version",
        "The number of the document's version; missing without one.",
    ),
    (
        "X-Prefix-Hash",
        "SHA-256 of what rules, user_information and tool_guidance are in the prompt.",
    ),
    (
        "X-Replica-Lag",
        "Where a standby answered: how many seconds it was behind at most when the request came. `Cache-Control: no-cache` or \
         `max-age` in the request bounds it.",
    ),
];

/// The ends of the paths of writes that make no version, so that no quota refuses them.
const NO_VERSIONS: [&str; 5] = ["/items", "/items/{item}", "/redact", "/refresh", "/reject"];

/// The prefix of the schema names of lists, before the name of their entries.
const LIST_PREFIX: &str = "List_";

/// The document as YAML, in which common parts stand once.
#[must_use]
pub fn openapi_yaml() -> String {
    let mut document = document();
    share(&mut document);
    // Serializing maps with text keys cannot fail; a test reads the result.
    shortened(&document.to_yaml().unwrap_or_default())
}

/// The maximum length of a line with a list.
const MAX_LINE: usize = 120;

/// The same YAML as one writes it by hand: a list of words, and a reference alone, stand on the line of their name, and a
/// parameter does not say that it is optional, which is the default.
fn shortened(yaml: &str) -> String {
    let lines: Vec<&str> = yaml
        .lines()
        .filter(|line| line.trim() != "required: false")
        .collect();
    let mut rest = lines.as_slice();
    let mut short = String::with_capacity(yaml.len());
    while let [line, below @ ..] = rest {
        if let Some((value, taken)) = value_of_line(line, below) {
            short.push_str(&format!("{line} {value}\n"));
            rest = &below[taken..];
        } else {
            short.push_str(&format!("{line}\n"));
            rest = below;
        }
    }
    short
}

/// What stands below a name, if it fits on the name's line, and how many lines it has there.
fn value_of_line(line: &str, below: &[&str]) -> Option<(String, usize)> {
    let name = line.trim_start_matches([' ', '-']).strip_suffix(':')?;
    let indent = " ".repeat(line.len() - name.len() - 1);
    let (entry, member) = (format!("{indent}- "), format!("{indent}  "));
    let entries: Vec<&str> = below.iter().map_while(|line| line.strip_prefix(&entry)).collect();
    let members = below.iter().map_while(|line| line.strip_prefix(&member));
    match members.take(2).collect::<Vec<_>>()[..] {
        [reference] if reference.starts_with("$ref: ") => Some((format!("{{ {reference} }}"), 1)),
        [] if !entries.is_empty() && entries.iter().all(|entry| is_word(entry)) => {
            let list = format!("[{}]", entries.join(", "));
            (line.len() + 1 + list.len() <= MAX_LINE).then_some((list, entries.len()))
        }
        _ => None,
    }
}

fn is_word(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_.-'".contains(&byte))
}

/// The document, in which each operation is complete.
pub(crate) fn document() -> OpenApi {
    let mut document = router::api().into_openapi();
    let components = document.components.get_or_insert_with(Components::new);
    components.schemas.insert(
        ProblemBody::name().into_owned(),
        Schema::from(problem::schema()).into(),
    );
    components
        .schemas
        .insert(VaultId::name().into_owned(), VaultId::schema());
    document.security = Some(vec![access::document(components)]);
    name_entries(components);
    components.schemas.iter_mut().for_each(require_nullable);
    for (path, item) in &mut document.paths.paths {
        for write in [&mut item.put, &mut item.post].into_iter().flatten() {
            if path.starts_with("/v1/vaults/{vault_id}") {
                idempotency::document(write);
                if !NO_VERSIONS.iter().any(|end| path.ends_with(end)) {
                    add_problem(write, Kind::Quota, Kind::Quota.title());
                }
            }
        }
        for (method, operation) in operations(item) {
            // The name of the handler, as OpenAPI spells ids.
            operation.operation_id = operation.operation_id.take().map(|name| name_of(&name));
            if method == Method::GET {
                complete_read(operation);
            }
            access::document_route(path, &method, operation);
            document_site(operation);
            document_replica(path, &method, operation);
            complete(path, operation);
        }
    }
    document
}

pub(super) fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let verbs = [
        (Method::GET, &mut item.get),
        (Method::PUT, &mut item.put),
        (Method::POST, &mut item.post),
        (Method::DELETE, &mut item.delete),
    ];
    verbs
        .into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

fn has_conditions(operation: &Operation) -> bool {
    let mut parameters = operation.parameters.iter().flatten();
    parameters.any(|parameter| matches!(parameter, RefOr::T(p) if p.name == "If-Match"))
}

/// What a read answers if it has preconditions, and if it has several representations to choose from.
fn complete_read(operation: &mut Operation) {
    let has_conditions = has_conditions(operation);
    let responses = &mut operation.responses.responses;
    if has_conditions {
        responses
            .entry("304".to_owned())
            .or_insert_with(|| RefOr::T(Response::new("The client has it already.")));
    }
    let Some(RefOr::T(good)) = responses.get_mut("200") else {
        return;
    };
    if good.content.len() > 1 && !good.content.contains_key("text/event-stream") {
        good.headers
            .insert("Vary".to_owned(), RefOr::T(Header::default()));
        add_problem(operation, Kind::NotAcceptable, Kind::NotAcceptable.title());
    }
}

/// Adds a problem, unless the operation describes that status itself.
pub(super) fn add_problem(operation: &mut Operation, kind: Kind, description: &str) {
    let status = kind.status().as_str().to_owned();
    let responses = &mut operation.responses.responses;
    responses
        .entry(status)
        .or_insert_with(|| RefOr::T(Response::new(description)));
}

fn complete(path: &str, operation: &mut Operation) {
    let ids: Vec<_> = PATH_PARAMETERS
        .iter()
        .filter(|(name, ..)| path.contains(&format!("{{{name}}}")))
        .map(|parameter| RefOr::T(path_parameter(parameter)))
        .collect();
    let mut common = vec![Kind::Internal];
    if path != "/healthz" {
        common.push(Kind::Unavailable);
    }
    if path.starts_with("/v1/") {
        common.push(Kind::Invalid);
    }
    if operation.request_body.is_some() {
        common.extend([Kind::RequestTimeout, Kind::TooLarge, Kind::UnsupportedMediaType]);
    }
    if has_conditions(operation) {
        common.push(Kind::PreconditionFailed);
    }
    if !ids.is_empty() {
        operation.parameters.get_or_insert_default().splice(0..0, ids);
    }
    for kind in common {
        add_problem(operation, kind, kind.title());
    }
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        for (name, header) in &mut response.headers {
            if let (Some((_, description)), RefOr::T(header)) =
                (HEADERS.iter().find(|(known, _)| known == name), header)
            {
                header.description = Some((*description).to_owned());
            }
        }
        if status.starts_with(['4', '5']) {
            let schema = Ref::from_schema_name(ProblemBody::name());
            let content = ContentBuilder::new().schema(Some(schema)).build();
            let content = RefOr::T(content);
            response.content.insert(problem::MEDIA_TYPE.to_owned(), content);
        }
    }
}

/// Replaces the schemas of entries inside lists, where generic types inline them, by references.
fn name_entries(components: &mut Components) {
    let mut entries = Vec::new();
    for (list, schema) in &mut components.schemas {
        let (Some(name), RefOr::T(Schema::Object(list))) = (list.strip_prefix(LIST_PREFIX), schema) else {
            continue;
        };
        let Some(RefOr::T(Schema::Array(items))) = list.properties.get_mut("items") else {
            continue;
        };
        let by_name = ArrayItems::RefOrSchema(Box::new(RefOr::Ref(Ref::from_schema_name(name))));
        if let ArrayItems::RefOrSchema(entry) = std::mem::replace(&mut items.items, by_name) {
            entries.push((name.to_owned(), *entry));
        }
    }
    for (name, entry) in entries {
        components.schemas.entry(name).or_insert(entry);
    }
}

/// Schemas whose members may be left out although they may be null: parts of requests that take members of others' formats, and what
/// is said of some entries only. Requests that take no other members say themselves which they need.
const LEFT_OUT: [&str; 8] = [
    "McpMessage",
    "Message",
    "MessageCalled",
    "MessagePart",
    "MessageToolCall",
    "Problem",
    "RecordTaskFields",
    "ServerSentEvent",
];

/// In answers the members that may be null are always there (DESIGN §4). One of any JSON says so itself.
fn require_nullable((name, schema): (&String, &mut RefOr<Schema>)) {
    match schema {
        RefOr::T(Schema::AllOf(parts)) => {
            let parts = parts.items.iter_mut();
            parts.for_each(|part| require_nullable((name, part)));
        }
        RefOr::T(Schema::Object(object))
            if object.additional_properties.is_none() && !LEFT_OUT.contains(&name.as_str()) =>
        {
            let members = object.properties.iter();
            let is_there = |(member, schema): &(&String, &RefOr<Schema>)| {
                object.required.contains(member) || may_be_null(schema)
            };
            let required = members.filter(is_there).map(|(member, _)| member.clone());
            object.required = required.collect();
        }
        _ => {}
    }
}

fn may_be_null(schema: &RefOr<Schema>) -> bool {
    let is_null = |of: &SchemaType| match of {
        SchemaType::Type(one) => *one == Type::Null,
        SchemaType::Array(several) => several.contains(&Type::Null),
        SchemaType::AnyValue => false,
    };
    match schema {
        RefOr::T(Schema::Object(object)) => is_null(&object.schema_type),
        RefOr::T(Schema::Array(list)) => is_null(&list.schema_type),
        RefOr::T(Schema::OneOf(forms)) => forms.items.iter().any(may_be_null),
        _ => false,
    }
}

fn path_parameter((name, description): &(&str, &str)) -> Parameter {
    let schema = match *name {
        "record_id" => record_id(),
        _ => Ref::from_schema_name(VaultId::name()).into(),
    };
    ParameterBuilder::new()
        .name(*name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(*description))
        .schema(Some(schema))
        .build()
}

/// Record ids of up to eighteen digits. Ids of nineteen digits below 2^63 are accepted too.
fn record_id() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(MAX_ID_BYTES))
        .pattern(Some("^(KL|VC|T|D)-[1-9][0-9]{0,17}$"))
        .into()
}

const TAGS: &[(&str, &str)] = &[
    ("vaults", "The tenants."),
    ("memories", "The memories of a vault as a whole."),
    ("contexts", "The document of a memory and its versions."),
    ("updates", "Changes by models and by operations, and their runs."),
    ("records", "Single entries of documents, active and archived."),
    (
        "prompt",
        "Prompt items, and the system prompt assembled of them and the document.",
    ),
    (
        "window",
        "The living window: status, recent tasks, decisions, and the archive behind them.",
    ),
    ("handoff", "Views of recent changes for whoever continues."),
    ("search", "Full text of the newest documents."),
    ("mcp", "The same as tools of the Model Context Protocol."),
    ("keys", "API keys."),
    ("health", "The state of the service."),
];

/// The static part of the document.
pub(crate) fn preamble() -> OpenApi {
    let license = LicenseBuilder::new()
        .name(env!("CARGO_PKG_LICENSE"))
        .identifier(Some(env!("CARGO_PKG_LICENSE")))
        .build();
    let info = InfoBuilder::new()
        .title("working-memory")
        .version(env!("CARGO_PKG_VERSION"))
        .license(Some(license))
        .description(Some(
            "Keeps the working memory of agents: one plain-text document per memory, every change of it a new \
             immutable version.",
        ))
        .build();
    let tags = TAGS.iter().map(|(name, description)| {
        TagBuilder::new()
            .name(*name)
            .description(Some(*description))
            .build()
    });
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new("/")]))
        .tags(Some(tags))
        .build()
}

/// Moves what operations have in common to `components`: problems, and parameters and headers that occur more than once. What
/// differs from the shared part of its name stays where it is, except that a reference to a problem may have a description of its
/// own, as OpenAPI 3.1 allows.
fn share(document: &mut OpenApi) {
    let mut components = document.components.take().unwrap_or_default();
    let mut seen: Vec<RefOr<Parameter>> = Vec::new();
    for (_, operation) in document.paths.paths.values_mut().flat_map(operations) {
        for parameter in operation.parameters.iter().flatten() {
            let RefOr::T(part) = parameter else { continue };
            if seen.contains(parameter) {
                let shared = components.parameters.entry(name_of(&part.name));
                shared.or_insert_with(|| parameter.clone());
            }
            seen.push(parameter.clone());
        }
        for response in operation.responses.responses.values() {
            // Each name has one form.
            if let RefOr::T(response) = response {
                let headers = response.headers.iter();
                let headers = headers.map(|(name, header)| (name_of(name), header.clone()));
                components.headers.extend(headers);
            }
        }
    }
    for (_, operation) in document.paths.paths.values_mut().flat_map(operations) {
        for parameter in operation.parameters.iter_mut().flatten() {
            let RefOr::T(part) = &parameter else { continue };
            let name = name_of(&part.name);
            if components.parameters.get(&name) == Some(parameter) {
                *parameter = RefOr::Ref(Ref::new(format!("#/components/parameters/{name}")));
            }
        }
        for (status, response) in &mut operation.responses.responses {
            if let RefOr::T(response) = response {
                for (name, header) in &mut response.headers {
                    *header = RefOr::Ref(Ref::new(format!("#/components/headers/{}", name_of(name))));
                }
            }
            refer_to_problem(&mut components, status, response);
        }
    }
    document.components = Some(components);
}

/// Problems of one kind, and refusals for want of one role, are one response; another description stays with the reference.
fn refer_to_problem(components: &mut Components, status: &str, response: &mut RefOr<Response>) {
    let of_status = || Kind::ALL.iter().filter(|kind| kind.status().as_str() == status);
    let RefOr::T(part) = &*response else { return };
    let is_problem = part.content.len() == 1 && part.content.contains_key(problem::MEDIA_TYPE);
    if !is_problem || !part.headers.is_empty() {
        return;
    }
    let mut roles = AccessRole::VARIANTS.iter();
    let titled = of_status().find(|kind| kind.title() == part.description);
    let (name, title) = match (roles.find(|role| access::needs(role) == part.description), titled) {
        (Some(role), _) => (name_of(&format!("{role}-needed")), part.description.clone()),
        (None, titled) => {
            let Some(kind) = titled.or_else(|| of_status().next()) else {
                return;
            };
            (format!("{kind:?}"), kind.title().to_owned())
        }
    };
    let mut reference = Ref::from_response_name(&name);
    if part.description != title {
        reference.description.clone_from(&part.description);
    }
    components.responses.entry(name).or_insert_with(|| {
        let mut shared = part.clone();
        shared.description = title;
        RefOr::T(shared)
    });
    *response = RefOr::Ref(reference);
}

/// `If-Match`, `vault_id` and `get_record` as `IfMatch`, `VaultId` and `GetRecord`.
fn name_of(name: &str) -> String {
    let words = name.split(['-', '_']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn operations_have_ids_parameters_problems_and_bodies_of_one_form() {
        let document = serde_json::to_value(document()).unwrap();
        assert_eq!(document["security"], serde_json::json!([{"key": []}]));
        let mut ids = std::collections::BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for operation in item.as_object().unwrap().values() {
                let id = operation["operationId"].as_str().unwrap();
                assert!(ids.insert(id.to_owned()), "{id} twice");
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let places = parameters.filter(|parameter| parameter["in"] == "path").count();
                assert_eq!(places, path.matches('{').count(), "{path}");
                for (status, response) in operation["responses"].as_object().unwrap() {
                    let is_problem = response["content"].get(problem::MEDIA_TYPE).is_some();
                    assert_eq!(is_problem, status.as_str() >= "400", "{path} {status}");
                }
                let is_public = ["/healthz", "/readyz", "/openapi.yaml"].contains(&path.as_str());
                let asks_for_none = operation["security"] == serde_json::json!([]);
                assert_eq!(asks_for_none, is_public, "{path}");
                if let Some(content) = operation["requestBody"]["content"].as_object() {
                    assert_eq!(content.keys().next().unwrap(), "application/json", "{path}");
                }
            }
        }
    }

    #[test]
    fn lists_name_their_entries_and_every_name_is_there() {
        let document = serde_json::to_value(document()).unwrap();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let mut lists = 0;
        for (name, list) in schemas {
            if let Some(entry) = name.strip_prefix(LIST_PREFIX) {
                let named = format!("#/components/schemas/{entry}");
                assert_eq!(list["properties"]["items"]["items"]["$ref"], named, "{name}");
                assert!(schemas.contains_key(entry), "{entry}");
                lists += 1;
            }
        }
        assert!(lists > 5, "{lists}");
    }

    /// Replaces references to shared parts by the parts; a description of the reference stands for the part's.
    fn resolve(document: &Value, node: &mut Value) {
        let shared = node["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
        let shared = shared.filter(|name| !name.starts_with("/components/schemas/"));
        if let Some(part) = shared.map(|name| document.pointer(name).unwrap().clone()) {
            let mut description = node["description"].take();
            *node = part;
            if !description.is_null() {
                node["description"] = description.take();
            }
        }
        if !node["in"].is_null() && node["required"].is_null() {
            node["required"] = false.into();
        }
        match node {
            Value::Object(members) => members.values_mut().for_each(|member| resolve(document, member)),
            Value::Array(entries) => entries.iter_mut().for_each(|entry| resolve(document, entry)),
            _ => {}
        }
    }

    #[test]
    fn what_is_shared_says_what_each_operation_says() {
        let complete = serde_json::to_value(document()).unwrap();
        let shared: Value = yaml_serde::from_str(&openapi_yaml()).unwrap();
        let mut resolved = shared["paths"].clone();
        assert_ne!(resolved, complete["paths"]);
        resolve(&shared, &mut resolved);
        assert_eq!(resolved, complete["paths"]);
    }
}
