//! `working-memory mcp`: the Model Context Protocol on standard input and output, for clients that start a process.

use crate::cli::client::{Call, Connection, Failure, KeySource, OpenResponse, Output, Service, ServiceArgs};
use crate::mcp::{Backend, Fixed, RouteRequest, RouteResponse, Server, StreamResponse, Unreachable};
use clap::{Args, ValueEnum};
use futures::{StreamExt as _, TryStreamExt as _};
use rmcp::ServiceExt as _;
use rmcp::model::Extensions;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Models may take minutes.
const ANSWER_TIME: Duration = Duration::from_secs(900);

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Print the configuration that this client needs to start this program, and exit.
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_config: Option<Client>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Mcp {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        if let Some(client) = self.print_config {
            let text = configuration(client, &service.connection()?)?;
            return Output::of_document().whole_lines(&text).write();
        }
        let server = Server::new(Arc::new(Remote::new(service)?));
        let broken =
            |error: &dyn std::fmt::Display| Failure::failed(format!("the client cannot be served: {error}"));
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // A client that disconnects before it has sent anything is not an error.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(broken(&error)),
        };
        running.waiting().await.map(drop).map_err(|error| broken(&error))
    }
}

/// The service of the command line's settings.
pub(super) struct Remote {
    service: Service,
    fixed: Fixed,
}

impl Remote {
    /// # Errors
    /// A vault or memory has an invalid name.
    pub(super) fn new(service: Service) -> Result<Self, Failure> {
        let (vault, memory) = service.named()?;
        Ok(Self {
            service,
            fixed: Fixed { vault, memory },
        })
    }

    fn call(&self, ask: RouteRequest) -> Result<Call<'_>, Unreachable> {
        let call = self.service.target(ask.method.clone(), &ask.target());
        Ok(call.map_err(away)?.headers(ask.headers).body(ask.body))
    }
}

impl Backend for Remote {
    fn fixed(&self, _: &Extensions) -> Fixed {
        self.fixed.clone()
    }

    async fn ask(&self, _: &Extensions, ask: RouteRequest) -> Result<RouteResponse, Unreachable> {
        self.call(ask)?.exchange().await.map(Into::into).map_err(away)
    }

    async fn open(&self, _: &Extensions, ask: RouteRequest) -> Result<StreamResponse, Unreachable> {
        Ok(match self.call(ask)?.begin().await.map_err(away)? {
            OpenResponse::Success(response) => {
                let lost = |_| Unreachable("the connection to the service was lost".to_owned());
                StreamResponse::Stream(response.bytes_stream().map_err(lost).boxed())
            }
            OpenResponse::Other(answer) => StreamResponse::Whole(answer.into()),
        })
    }
}

fn away(failure: Failure) -> Unreachable {
    Unreachable(failure.sentence)
}

/// The name of the entry.
const NAME: &str = "working-memory";

const KEY_VARIABLE: &str = "WORKING_MEMORY_API_KEY";

/// A supported client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// `.mcp.json` of a project.
    ClaudeCode,
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `.cursor/mcp.json`.
    Cursor,
    /// `.vscode/mcp.json`.
    Vscode,
    /// `~/.codex/config.toml`.
    Codex,
}

/// The entry of a client.
fn configuration(client: Client, connection: &Connection) -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(format!("the path of this program cannot be determined: {error}"))
    })?;
    entry(client, &path(&program)?, connection)
}

fn entry(client: Client, program: &str, connection: &Connection) -> Result<String, Failure> {
    let mut args = vec!["mcp".to_owned(), "--url".to_owned(), connection.url.to_string()];
    let mut add = |option: &str, value: String| args.extend([option.to_owned(), value]);
    if let Some(vault) = &connection.vault {
        add("--vault", vault.to_string());
    }
    if let Some(memory) = &connection.memory {
        add("--memory", memory.to_string());
    }
    if let Some(actor) = &connection.actor {
        add("--actor", actor.to_string());
    }
    if let KeySource::File(file) | KeySource::Project(file) = &connection.key {
        let file = std::path::absolute(file)
            .map_err(|error| Failure::failed(format!("the key file {}: {error}", file.display())))?;
        add("--key-file", path(&file)?);
    }
    let by_variable = connection.key == KeySource::Variable;
    if client == Client::Codex {
        return Ok(toml(program, &args, by_variable));
    }
    let mut server = Map::new();
    if matches!(client, Client::ClaudeCode | Client::Vscode) {
        server.insert("type".to_owned(), json!("stdio"));
    }
    server.insert("command".to_owned(), json!(program));
    server.insert("args".to_owned(), json!(args));
    if by_variable {
        let value = match client {
            Client::ClaudeCode => format!("${{{KEY_VARIABLE}}}"),
            Client::Cursor => format!("${{env:{KEY_VARIABLE}}}"),
            Client::Vscode => "${input:working-memory-key}".to_owned(),
            _ => {
                return Err(Failure::usage(format!(
                    "Claude Desktop does not hand {KEY_VARIABLE} on, and a key does not belong into its configuration: \
                     write the key into a file of your own and name it with --key-file"
                )));
            }
        };
        server.insert("env".to_owned(), json!({ KEY_VARIABLE: value }));
    }
    let mut config = Map::new();
    let servers = if client == Client::Vscode {
        "servers"
    } else {
        "mcpServers"
    };
    config.insert(servers.to_owned(), json!({ NAME: server }));
    if client == Client::Vscode && by_variable {
        let input = json!({ "type": "promptString", "id": "working-memory-key", "password": true,
            "description": "API key of working-memory" });
        config.insert("inputs".to_owned(), json!([input]));
    }
    serde_json::to_string_pretty(&Value::Object(config)).map_err(|error| Failure::failed(error.to_string()))
}

/// The entry as TOML. A JSON string is a valid TOML string.
fn toml(program: &str, args: &[String], by_variable: bool) -> String {
    let mut text = format!(
        "[mcp_servers.{NAME}]\ncommand = {}\nargs = {}\n",
        json!(program),
        json!(args)
    );
    if by_variable {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "env_vars = {}", json!([KEY_VARIABLE]));
    }
    text.trim_end().to_owned()
}

fn path(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::failed(format!(
            "the path {} is not UTF-8, which configurations must be",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(key: KeySource) -> Connection {
        Connection {
            url: "https://memory.example/base/".parse().unwrap(),
            vault: Some("acme".parse().unwrap()),
            memory: None,
            actor: None,
            key,
        }
    }

    #[test]
    fn every_client_starts_the_program_with_what_is_set() {
        for client in Client::value_variants() {
            let text = entry(
                *client,
                "/opt/a \"b\"/working-memory",
                &connection(KeySource::None),
            )
            .unwrap();
            let (command, args) = match client {
                Client::Codex => {
                    let file = config::File::from_str(&text, config::FileFormat::Toml);
                    let read = config::Config::builder().add_source(file).build().unwrap();
                    let read: Value = read.try_deserialize().unwrap();
                    let server = &read["mcp_servers"][NAME];
                    (server["command"].clone(), server["args"].clone())
                }
                _ => {
                    let read: Value = serde_json::from_str(&text).unwrap();
                    let servers = if *client == Client::Vscode {
                        "servers"
                    } else {
                        "mcpServers"
                    };
                    let server = &read[servers][NAME];
                    assert!(server["env"].is_null());
                    (server["command"].clone(), server["args"].clone())
                }
            };
            assert_eq!(command, "/opt/a \"b\"/working-memory");
            assert_eq!(
                args,
                json!(["mcp", "--url", "https://memory.example/base/", "--vault", "acme"])
            );
        }
    }

    #[test]
    fn a_key_is_named_and_never_written() {
        for client in Client::value_variants() {
            match entry(*client, "/bin/wm", &connection(KeySource::Variable)) {
                Ok(text) => assert!(text.contains(KEY_VARIABLE), "{client:?}: {text}"),
                Err(failure) => assert_eq!(*client, Client::ClaudeDesktop, "{failure:?}"),
            }
            let of_file = entry(*client, "/bin/wm", &connection(KeySource::File("/k/key".into()))).unwrap();
            assert!(
                of_file.contains("--key-file") && of_file.contains("/k/key"),
                "{of_file}"
            );
        }
    }
}
