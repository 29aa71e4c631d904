//! The entry of this program in the configuration files of clients, printed or added to what a file holds already.

use crate::cli::client::{Connection, Failure, KEY_VARIABLE, KeySource};
use crate::cli::folder::file::write_file;
use clap::ValueEnum;
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// The name of the entry.
const NAME: &str = "working-memory";

/// Members of an entry that reaches the service over HTTP. Clients refuse them beside a command.
const OF_HTTP: [&str; 6] = [
    "type",
    "url",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
];

/// A supported client.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Client {
    /// `.mcp.json` of a project.
    ClaudeCode,
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `.cursor/mcp.json` of a project.
    Cursor,
    /// `.vscode/mcp.json` of a project.
    Vscode,
    /// `~/.codex/config.toml`.
    Codex,
    /// `~/.config/zed/settings.json`.
    Zed,
}

/// What belongs into a client's file.
struct Entry {
    /// The member that holds the servers.
    servers: &'static str,
    program: String,
    args: Vec<String>,
    /// What the client replaces by the key, which is in a variable.
    key: Option<&'static str>,
}

impl Client {
    /// A file that holds the entry and nothing else.
    pub(super) fn configuration(self, connection: &Connection) -> Result<String, Failure> {
        self.changed("", &self.entry(&program()?, connection)?)
            .map_err(Failure::failed)
    }

    /// Adds the entry to the client's file, in place of an older one. Says what was done.
    pub(super) fn install(self, file: Option<PathBuf>, connection: &Connection) -> Result<String, Failure> {
        let file = match file {
            Some(file) => file,
            None => self.file()?,
        };
        let entry = self.entry(&program()?, connection)?;
        // A link, as people have who keep their settings in a repository, is followed and stays.
        let file = fs::canonicalize(&file).unwrap_or(file);
        let failed = |error: &dyn std::fmt::Display| {
            Failure::failed(format!("{}: {error}; nothing was written", file.display()))
        };
        let before = match fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(&error)),
        };
        let after = self
            .changed(before.as_deref().unwrap_or_default(), &entry)
            .map_err(|error| failed(&error))?;
        let after = format!("{}\n", after.trim_end_matches('\n'));
        if before.as_ref() == Some(&after) {
            return Ok(format!("{} is already in {}", NAME, file.display()));
        }
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        let mode = fs::metadata(&file).map_or(0o644, |found| found.permissions().mode() & 0o777);
        write_file(&file, &after, mode, before.is_some())?;
        Ok(format!(
            "{NAME} is now in {}; restart the client, or reload its servers",
            file.display()
        ))
    }

    /// The file that the client reads.
    fn file(self) -> Result<PathBuf, Failure> {
        let folders = || choose_native_strategy().map_err(|error| Failure::failed(error.to_string()));
        let below = |variable: &str, folder: &str| {
            let set = std::env::var_os(variable).filter(|value| !value.is_empty());
            let home = || Ok::<_, Failure>(folders()?.home_dir().join(folder));
            set.map_or_else(home, |set| Ok(PathBuf::from(set)))
        };
        Ok(match self {
            Self::ClaudeCode => ".mcp.json".into(),
            Self::Cursor => ".cursor/mcp.json".into(),
            Self::Vscode => ".vscode/mcp.json".into(),
            Self::Codex => below("CODEX_HOME", ".codex")?.join("config.toml"),
            Self::Zed => below("XDG_CONFIG_HOME", ".config")?.join("zed/settings.json"),
            Self::ClaudeDesktop if cfg!(target_os = "macos") => {
                folders()?.data_dir().join("Claude/claude_desktop_config.json")
            }
            Self::ClaudeDesktop => folders()?.config_dir().join("Claude/claude_desktop_config.json"),
        })
    }

    /// The member of its file that holds the servers, and how it hands the variable with the key on, if it does.
    fn form(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::ClaudeCode => ("mcpServers", Some("${WORKING_MEMORY_API_KEY}")),
            Self::ClaudeDesktop => ("mcpServers", None),
            Self::Cursor => ("mcpServers", Some("${env:WORKING_MEMORY_API_KEY}")),
            Self::Vscode => ("servers", None),
            Self::Codex => ("mcp_servers", Some(KEY_VARIABLE)),
            Self::Zed => ("context_servers", None),
        }
    }

    fn entry(self, program: &str, connection: &Connection) -> Result<Entry, Failure> {
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
        if let KeySource::File(file) = &connection.key {
            let file = std::path::absolute(file)
                .map_err(|error| Failure::failed(format!("the key file {}: {error}", file.display())))?;
            add("--key-file", path(&file)?);
        }
        let (servers, variable) = self.form();
        let key = variable.filter(|_| connection.key == KeySource::Variable);
        if connection.key == KeySource::Variable && key.is_none() {
            return Err(Failure::usage(format!(
                "this client's configuration cannot take the key from {KEY_VARIABLE}: write it into a file of your own and \
                 name that with --key-file"
            )));
        }
        Ok(Entry {
            servers,
            program: program.to_owned(),
            args,
            key,
        })
    }

    /// The text of a configuration file with the entry in it; whatever else it holds keeps its bytes.
    fn changed(self, text: &str, entry: &Entry) -> Result<String, String> {
        match self {
            Self::Codex => in_toml(text, entry),
            _ => self.in_json(text, entry),
        }
    }

    fn in_json(self, text: &str, entry: &Entry) -> Result<String, String> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        let root = CstRootNode::parse(text, &ParseOptions::default())
            .map_err(|error| format!("it is not JSON: {error}"))?;
        let object = root.object_value().ok_or("it is not a JSON object")?;
        let servers = object
            .object_value_or_create(entry.servers)
            .ok_or_else(|| format!("its `{}` is not a JSON object", entry.servers))?;
        let of_http = servers
            .object_value(NAME)
            .filter(|there| there.get("url").is_some());
        if let Some(there) = of_http {
            OF_HTTP
                .iter()
                .filter_map(|name| there.get(name))
                .for_each(CstObjectProp::remove);
        }
        let mut server: Vec<(String, CstInputValue)> = vec![
            ("args".to_owned(), entry.args.clone().into()),
            ("command".to_owned(), entry.program.as_str().into()),
        ];
        if let Some(key) = entry.key {
            let variables = vec![(KEY_VARIABLE.to_owned(), CstInputValue::from(key))];
            server.push(("env".to_owned(), variables.into()));
        }
        if matches!(self, Self::ClaudeCode | Self::Vscode) {
            server.push(("type".to_owned(), "stdio".into()));
        }
        set(&servers, NAME, CstInputValue::Object(server));
        Ok(root.to_string())
    }
}

/// Sets a member; of one that is an object already, the members that the value has: what the user added stays.
fn set(object: &CstObject, name: &str, value: CstInputValue) {
    match (object.object_value(name), object.get(name), value) {
        (Some(there), _, CstInputValue::Object(members)) => {
            members
                .into_iter()
                .for_each(|(name, value)| set(&there, &name, value));
        }
        (_, Some(property), value) => property.set_value(value),
        (_, None, value) => drop(object.append(name, value)),
    }
}

fn in_toml(text: &str, entry: &Entry) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("it is not TOML: {error}"))?;
    let servers = document.entry(entry.servers).or_insert_with(|| {
        let mut table = Table::new();
        // Its heading would say nothing.
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers
        .as_table_mut()
        .ok_or_else(|| format!("its `{}` is not a table", entry.servers))?;
    // What the user added to the entry stays.
    if !servers.get(NAME).is_some_and(Item::is_table_like) {
        servers.insert(NAME, Item::Table(Table::new()));
    }
    let server = &mut servers[NAME];
    server["args"] = value(entry.args.iter().collect::<Array>());
    server["command"] = value(&entry.program);
    if let Some(server) = server.as_table_like_mut() {
        OF_HTTP.iter().for_each(|name| drop(server.remove(name)));
    }
    if let Some(variable) = entry.key {
        server["env_vars"] = value(Array::from_iter([variable]));
    }
    Ok(document.to_string().trim_end().to_owned())
}

/// The path of this program.
fn program() -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(format!("the path of this program cannot be determined: {error}"))
    })?;
    path(&program)
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
    use serde_json::{Value, json};

    fn connection(key: KeySource) -> Connection {
        Connection {
            url: "https://memory.example/base/".parse().unwrap(),
            by_file: false,
            vault: Some("acme".parse().unwrap()),
            memory: None,
            actor: None,
            key,
        }
    }

    #[test]
    fn every_client_starts_the_program_with_what_is_set() {
        for client in Client::value_variants() {
            let entry = client
                .entry("/opt/a \"b\"/working-memory", &connection(KeySource::None))
                .unwrap();
            let text = client.changed("", &entry).unwrap();
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
                    let server = &read[entry.servers][NAME];
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
    fn an_entry_over_http_becomes_one_that_starts_the_program() {
        let json = r#"{"S": {"working-memory": {"url": "http://x/mcp", "type": "http", "headers": {"a": "b"}, "disabled": true}}}"#;
        let toml = "[mcp_servers.working-memory]\nurl = \"http://x/mcp\"\nbearer_token_env_var = \"K\"\ntimeout = 9\n";
        for client in Client::value_variants() {
            let entry = client.entry("/bin/wm", &connection(KeySource::None)).unwrap();
            let (before, kept) = match client {
                Client::Codex => (toml.to_owned(), "timeout = 9"),
                _ => (json.replace('S', entry.servers), "\"disabled\": true"),
            };
            let after = client.changed(&before, &entry).unwrap();
            for gone in ["http://x", "\"http\"", "headers", "bearer"] {
                assert!(!after.contains(gone), "{after}");
            }
            assert!(after.contains(kept) && after.contains("/bin/wm"), "{after}");
        }
    }

    #[test]
    fn a_file_of_another_form_is_refused_with_the_place() {
        let cases = [
            (Client::Cursor, "{\n  \"mcpServers\": [", "line 2"),
            (Client::Cursor, "[]", "not a JSON object"),
            (Client::Cursor, "{\"mcpServers\": 3}", "`mcpServers` is not"),
            (Client::Codex, "a = \n", "line 1"),
            (Client::Codex, "mcp_servers = 3\n", "`mcp_servers` is not"),
        ];
        for (client, before, told) in cases {
            let entry = client.entry("/bin/wm", &connection(KeySource::None)).unwrap();
            let error = client.changed(before, &entry).unwrap_err();
            assert!(error.contains(told), "{before}: {error}");
        }
    }
}
