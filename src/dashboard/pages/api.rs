//! `/ui/api`: the routes of the HTTP interface, from the OpenAPI document, and calls of each with the visitor's rights.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::markdown;
use super::super::parts::Markup;
use super::super::visit::Visit;
use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::Value;

/// Bytes of a response that are shown.
const ANSWER_BYTES: usize = 60_000;

/// Routes that cannot be called from a page: they use another protocol.
const NOT_CALLED: [&str; 1] = ["SpeakMcp"];

/// One operation of the document.
struct Operation<'d> {
    id: &'d str,
    method: String,
    path: &'d str,
    tag: &'d str,
    value: &'d Value,
}

impl Operation<'_> {
    fn text(&self, name: &str) -> &str {
        self.value[name].as_str().unwrap_or_default()
    }
}

/// All operations, in the document's order.
fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let all = paths.flat_map(|(path, item)| {
        let verbs = item.as_object().into_iter().flatten();
        verbs.filter_map(move |(verb, value)| {
            Some(Operation {
                id: value["operationId"].as_str()?,
                method: verb.to_uppercase(),
                path,
                tag: value["tags"][0].as_str().unwrap_or_default(),
                value,
            })
        })
    });
    all.collect()
}

fn find<'d>(document: &'d Value, id: &str) -> Result<Operation<'d>, Failure> {
    let found = operations(document)
        .into_iter()
        .find(|operation| operation.id == id);
    found.ok_or_else(|| Failure::with_status(StatusCode::NOT_FOUND, "The service has no such operation."))
}

#[derive(Template)]
#[template(path = "pages/api.html")]
struct ListView {
    page: Page,
    tags: Vec<Tag>,
}

struct Tag {
    name: String,
    about: String,
    operations: Vec<Entry>,
}

struct Entry {
    id: String,
    method: String,
    path: String,
    summary: String,
}

/// The list of operations.
pub(in crate::dashboard) async fn list(visit: Visit) -> Result<Response, Failure> {
    let document = (visit.services.document)();
    let all = operations(document);
    let tags = document["tags"].as_array().into_iter().flatten().map(|tag| {
        let name = tag["name"].as_str().unwrap_or_default();
        let of_tag = all.iter().filter(|operation| operation.tag == name);
        Tag {
            name: name.to_owned(),
            about: tag["description"].as_str().unwrap_or_default().to_owned(),
            operations: of_tag
                .map(|operation| Entry {
                    id: operation.id.to_owned(),
                    method: operation.method.clone(),
                    path: operation.path.to_owned(),
                    summary: operation.text("summary").to_owned(),
                })
                .collect(),
        }
    });
    layout::render(&ListView {
        page: Page::of(&visit, "API reference").crumb(Crumb::here("API")),
        tags: tags.collect(),
    })
}

#[derive(Template)]
#[template(path = "pages/operation.html")]
struct View {
    page: Page,
    id: String,
    method: String,
    path: String,
    summary: String,
    about: Markup,
    parameters: Vec<Parameter>,
    media_types: Vec<String>,
    schema: String,
    answers: Vec<(String, String)>,
    can_call: bool,
    body: String,
    media_type: String,
    called: Option<Called>,
}

struct Parameter {
    name: String,
    field: String,
    place: String,
    required: bool,
    about: Markup,
    value: String,
}

/// The result of a call.
struct Called {
    request: String,
    status: u16,
    reason: &'static str,
    headers: String,
    body: String,
    more: usize,
}

/// One operation, with a form to call it.
pub(in crate::dashboard) async fn show(visit: Visit, Path(id): Path<String>) -> Result<Response, Failure> {
    let document = (visit.services.document)();
    let operation = find(document, &id)?;
    layout::render(&view(&visit, document, &operation, |_| String::new()))
}

/// The page of an operation; `entered` returns the value entered into a field.
fn view(
    visit: &Visit,
    document: &Value,
    operation: &Operation<'_>,
    entered: impl Fn(&str) -> String,
) -> View {
    let parameters = operation.value["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|parameter| {
            let text = |name: &str| parameter[name].as_str().unwrap_or_default();
            let field = format!("{}:{}", text("in"), text("name"));
            Parameter {
                value: entered(&field),
                field,
                name: text("name").to_owned(),
                place: text("in").to_owned(),
                required: parameter["required"].as_bool().unwrap_or(false),
                about: Markup(markdown::render(text("description"))),
            }
        });
    let content = operation.value["requestBody"]["content"].as_object();
    let media_types: Vec<String> = content
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    let schema = content
        .and_then(|content| content.values().next())
        .map(|body| resolved(document, &body["schema"]));
    let answers = operation.value["responses"].as_object().into_iter().flatten();
    let answers = answers.map(|(status, answer)| {
        let about = answer["description"].as_str().unwrap_or_default();
        (status.clone(), about.to_owned())
    });
    View {
        page: Page::of(visit, operation.id)
            .crumb(Crumb::to("API", "/ui/api".to_owned()))
            .crumb(Crumb::here(operation.id)),
        id: operation.id.to_owned(),
        method: operation.method.clone(),
        path: operation.path.to_owned(),
        summary: operation.text("summary").to_owned(),
        about: Markup(markdown::render(operation.text("description"))),
        parameters: parameters.collect(),
        media_type: Some(entered("media_type"))
            .filter(|entered| !entered.is_empty())
            .unwrap_or_default(),
        media_types,
        schema: schema
            .and_then(|schema| serde_json::to_string_pretty(&schema).ok())
            .unwrap_or_default(),
        answers: answers.collect(),
        can_call: !NOT_CALLED.contains(&operation.id),
        body: entered("body"),
        called: None,
    }
}

/// A schema, with its reference resolved.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let named = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    named
        .and_then(|pointer| document.pointer(pointer))
        .unwrap_or(schema)
}

/// Calls an operation, with the visitor's rights.
pub(in crate::dashboard) async fn call(Path(id): Path<String>, form: Form) -> Result<Response, Failure> {
    let document = (form.visit.services.document)();
    let operation = find(document, &id)?;
    let mut view = view(&form.visit, document, &operation, |field| {
        form.text(field).to_owned()
    });
    if !view.can_call {
        return Err(Failure::with_status(
            StatusCode::NOT_FOUND,
            "This operation cannot be called from here.",
        ));
    }
    let mut path = operation.path.to_owned();
    for parameter in view
        .parameters
        .iter()
        .filter(|parameter| parameter.place == "path")
    {
        let value = link::path(&[&parameter.value]);
        path = path.replace(&format!("{{{}}}", parameter.name), value.trim_start_matches('/'));
    }
    let method = Method::from_bytes(operation.method.as_bytes()).map_err(Failure::internal)?;
    let mut ask = form
        .visit
        .api
        .ask_path(method, path.clone())
        .header("accept", "application/json");
    for parameter in view
        .parameters
        .iter()
        .filter(|parameter| !parameter.value.is_empty())
    {
        ask = match parameter.place.as_str() {
            "query" => ask.query(&parameter.name, &parameter.value),
            "header" => ask.header(&parameter.name, parameter.value.as_str()),
            _ => ask,
        };
    }
    if !view.body.is_empty() {
        let media_type = Some(view.media_type.clone()).filter(|chosen| view.media_types.contains(chosen));
        let media_type = media_type
            .or_else(|| view.media_types.first().cloned())
            .unwrap_or_default();
        ask = ask
            .header("content-type", media_type)
            .body(view.body.replace("\r\n", "\n").into_bytes());
    }
    let answer = ask.answer().await?;
    let text = String::from_utf8_lossy(&answer.body);
    let text = match serde_json::from_str::<Value>(&text) {
        Ok(json) => serde_json::to_string_pretty(&json).unwrap_or_else(|_| text.into_owned()),
        Err(_) => text.into_owned(),
    };
    let end = text.floor_char_boundary(ANSWER_BYTES.min(text.len()));
    let headers = answer
        .headers
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}: {}", value.to_str().ok()?)));
    view.called = Some(Called {
        request: format!("{} {path}", operation.method),
        status: answer.status.as_u16(),
        reason: answer.status.canonical_reason().unwrap_or_default(),
        headers: headers.collect::<Vec<_>>().join("\n"),
        body: text[..end].to_owned(),
        more: text.len() - end,
    });
    layout::render(&view)
}
