//! `working-memory api`: sends any request to the service, with the address, key, vault and memory of the other commands.

use super::client::{Failure, Method, Output, Service, ServiceArgs, read, read_text};
use crate::route_request::{Members, RouteRequest};
use clap::Args;
use serde_json::value::{RawValue, to_raw_value};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

/// Arguments of `api`.
#[derive(Debug, Args)]
#[command(after_help = "The routes are those of openapi.yaml. Exit codes are those of the other commands.")]
pub struct Api {
    /// GET, PUT, POST or DELETE.
    #[arg(value_name = "METHOD", value_parser = ["GET", "HEAD", "PUT", "POST", "DELETE"], ignore_case = true,
        hide_possible_values = true)]
    method: String,
    /// The path, such as `/v1/vaults` or `/v1/vaults/{vault}/memories/{memory}/log`; {vault} and {memory} stand for those of
    /// the other commands.
    #[arg(value_name = "PATH")]
    path: String,
    /// A member of the JSON body, or with GET, DELETE or --input a parameter: NAME=VALUE. A number, true, false, null, a
    /// list or an object is sent as such, anything else as text; `@FILE` is the text of a file. May be repeated.
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = field)]
    field: Vec<(String, String)>,
    /// The body: a file, or standard input for `-`. A JSON object or list is sent as JSON, anything else as text.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// A header, such as 'Accept: text/markdown'. May be repeated.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(String, String)>,
    #[command(flatten)]
    service: ServiceArgs,
}

fn field(text: &str) -> Result<(String, String), String> {
    pair(text, '=').ok_or_else(|| "must be NAME=VALUE".to_owned())
}

fn header(text: &str) -> Result<(String, String), String> {
    pair(text, ':').ok_or_else(|| "must be NAME: VALUE".to_owned())
}

fn pair(text: &str, between: char) -> Option<(String, String)> {
    let (name, value) = text.split_once(between)?;
    let value = if between == ':' { value.trim() } else { value };
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

impl Api {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let method = Method::from_str(&self.method.to_ascii_uppercase())
            .map_err(|error| Failure::usage(error.to_string()))?;
        let mut call = service.sending(RouteRequest::to_target(method, &self.target(&service)?));
        if let Some(file) = &self.input {
            call = call.json_or_text(read(file)?);
        }
        let mut members = Members::new();
        for (name, value) in &self.field {
            let text = match value.strip_prefix('@') {
                Some(file) => read_text(Path::new(file))?,
                None => value.clone(),
            };
            let typed = match RawValue::from_string(text.clone()) {
                Ok(typed) if !text.trim_start().starts_with('"') => Ok(typed),
                _ => to_raw_value(&text),
            };
            let typed = typed.map_err(|error| Failure::failed(error.to_string()))?;
            members.insert(name.clone(), typed);
        }
        call = call.members(members);
        for (name, value) in &self.header {
            call = call.named_header(name, value)?;
        }
        let answer = call.send().await?;
        match answer.text() {
            // A JSON text ends its line; any other is printed as it is.
            Ok(text) if text.starts_with(['{', '[']) => Output::of_document().whole_lines(text).write(),
            Ok(text) => Output::of_document().text(text).write(),
            // A terminal would obey bytes that are no text.
            Err(_) if std::io::stdout().is_terminal() => Output::of_document()
                .text(&String::from_utf8_lossy(&answer.body))
                .write(),
            Err(_) => Output::bytes(&answer.body),
        }
    }

    /// The path, with the vault and memory of the settings where it asks for them.
    fn target(&self, service: &Service) -> Result<String, Failure> {
        if !self.path.starts_with('/') {
            return Err(Failure::usage(format!(
                "the path {} must begin with /, as in /v1/vaults",
                self.path
            )));
        }
        let mut target = self.path.clone();
        if target.contains("{vault}") {
            target = target.replace("{vault}", service.vault()?.as_str());
        }
        if target.contains("{memory}") {
            target = target.replace("{memory}", service.memory_ref()?.memory.as_str());
        }
        Ok(target)
    }
}
