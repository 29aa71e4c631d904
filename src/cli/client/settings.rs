//! The service, vault and memory of a command: its options, then the environment, then
//! `.working-memory.toml` of the current folder or one above, then defaults.
//!
//! The variables have one underscore (`WORKING_MEMORY_URL`); those of the service have two
//! (`WORKING_MEMORY__HTTP__BIND`), so neither reads the other's.

use crate::cli::client::failure::Failure;
use crate::cli::client::input::{ask, read_text};
use crate::domain::ids::{ActorId, MemoryId, VaultId};
use crate::domain::text::single_blanks;
use clap::Args;
use secrecy::SecretString;
use std::collections::HashMap;
use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// The default address of a service.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// The variable with the key.
pub(in crate::cli) const KEY_VARIABLE: &str = "WORKING_MEMORY_API_KEY";

/// The maximum size of a key.
const MAX_KEY_BYTES: usize = 4 * 1024;

/// Options that name a memory.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct MemoryArgs {
    /// The vault [env: WORKING_MEMORY_VAULT].
    #[arg(long, value_name = "VAULT", help_heading = "Service and memory")]
    pub(in crate::cli) vault: Option<VaultId>,
    /// The memory [env: WORKING_MEMORY_MEMORY].
    #[arg(long, value_name = "MEMORY", help_heading = "Service and memory")]
    pub(in crate::cli) memory: Option<MemoryId>,
}

/// Options of every command that calls a service.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct ServiceArgs {
    /// Address of the service [env: WORKING_MEMORY_URL] [default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL", help_heading = "Service and memory")]
    pub(in crate::cli) url: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) memory_ref: MemoryArgs,
    /// The author of changes [env: WORKING_MEMORY_ACTOR].
    #[arg(long, value_name = "ACTOR", help_heading = "Service and memory")]
    pub(in crate::cli) actor: Option<ActorId>,
    /// A file with the API key; without it the key is that of the environment's WORKING_MEMORY_API_KEY.
    #[arg(long, value_name = "FILE", help_heading = "Service and memory")]
    pub(in crate::cli) key_file: Option<PathBuf>,
    /// The timeout of a response, in seconds.
    #[arg(long, value_name = "SECONDS", help_heading = "Service and memory", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(in crate::cli) timeout: Option<u32>,
    /// Print the service's JSON as it is; the same as -o json.
    #[arg(long, conflicts_with = "output")]
    pub(in crate::cli) json: bool,
    /// The output format: table, for people, or json, the service's JSON as it is.
    #[arg(short, long, value_name = "FORMAT", value_parser = ["table", "json"])]
    pub(in crate::cli) output: Option<String>,
    /// Print control characters of texts as they are, not escaped as \u001b.
    #[arg(long)]
    pub(in crate::cli) raw: bool,
}

/// A memory of a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct MemoryRef {
    /// The vault.
    pub(in crate::cli) vault: VaultId,
    /// The memory.
    pub(in crate::cli) memory: MemoryId,
}

/// The connection settings of a service.
#[derive(Debug)]
pub(in crate::cli) struct Connection {
    /// Its address.
    pub(in crate::cli) url: Url,
    /// Whether only a file in the folder names it.
    pub(in crate::cli) by_file: bool,
    /// The vault, if one is named.
    pub(in crate::cli) vault: Option<VaultId>,
    /// The memory, if one is named.
    pub(in crate::cli) memory: Option<MemoryId>,
    /// The author of changes, if one is named.
    pub(in crate::cli) actor: Option<ActorId>,
    /// Where the key is stored.
    pub(in crate::cli) key: KeySource,
}

/// Where a key is stored.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) enum KeySource {
    /// There is none.
    None,
    /// In this file.
    File(PathBuf),
    /// In `WORKING_MEMORY_API_KEY`.
    Variable,
}

impl ServiceArgs {
    /// The timeout of a response, where `--timeout` sets one.
    pub(in crate::cli) fn timeout(&self) -> Option<Duration> {
        self.timeout.map(|seconds| Duration::from_secs(seconds.into()))
    }

    /// Whether the output is the service's JSON.
    pub(in crate::cli) fn is_json(&self) -> bool {
        self.json || self.output.as_deref() == Some("json")
    }
}

impl MemoryArgs {
    /// The memory of the command.
    pub(in crate::cli) fn memory_ref(&self) -> Result<MemoryRef, Failure> {
        let surroundings = SettingSources::of_process(self.vault.is_some() && self.memory.is_some())?;
        let vault = surroundings.id(self.vault.as_ref(), "vault")?;
        let memory = surroundings.id(self.memory.as_ref(), "memory")?;
        Ok(MemoryRef {
            vault: vault.ok_or_else(|| not_named("vault"))?,
            memory: memory.ok_or_else(|| not_named("memory"))?,
        })
    }
}

/// A variable; an empty one counts as not set. One that is not UTF-8 is no value that a setting may have, and is refused as
/// such.
pub(in crate::cli) fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.trim().is_empty()).then_some(value)
}

/// The sources of settings besides the options: the environment and the nearest file.
pub(super) struct SettingSources {
    project: Option<Project>,
}

impl SettingSources {
    /// Those of this process. A file of another user is refused; if `is_named`, the options name what the command needs, or the
    /// environment names the service, it is passed over.
    pub(super) fn of_process(is_named: bool) -> Result<Self, Failure> {
        // A folder that was deleted has no file.
        let folder = std::env::current_dir().unwrap_or_default();
        let mut paths = folder.ancestors().map(|folder| folder.join(FILE_NAME));
        let Some(path) = paths.find(|path| path.is_file()) else {
            return Ok(Self { project: None });
        };
        let opened = open_trusted(&path);
        match opened.map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))? {
            Ok(file) => Ok(Self {
                project: Some(Project::read(path, file)?),
            }),
            Err(_) if is_named || variable("WORKING_MEMORY_URL").is_some() => Ok(Self { project: None }),
            Err(owner) => Err(Failure::usage(format!(
                "{} belongs to the user {owner}, neither to you nor to root, and is not used: make it yours (chown), or name \
                 service and memory with --url, --vault and --memory",
                path.display()
            ))),
        }
    }

    /// The value of a setting and where it was found: a variable, or the file.
    fn find(&self, name: &str) -> Option<(String, String)> {
        let origin = format!("WORKING_MEMORY_{}", name.to_uppercase());
        if let Some(value) = variable(&origin) {
            return Some((value, origin));
        }
        let project = self.project.as_ref()?;
        let value = project.settings.get(name)?.clone();
        Some((value, format!("{}: {name}", project.path.display())))
    }

    fn id<T: FromStr<Err: Display> + Clone>(
        &self,
        option: Option<&T>,
        name: &str,
    ) -> Result<Option<T>, Failure> {
        match (option, self.find(name)) {
            (Some(option), _) => Ok(Some(option.clone())),
            (None, None) => Ok(None),
            (None, Some((value, origin))) => {
                let id = value.trim().parse();
                id.map(Some)
                    .map_err(|rule| Failure::usage(format!("{origin} {rule}")))
            }
        }
    }

    /// The address of the service, and where it was found.
    fn address(&self, option: Option<&String>) -> Result<(Url, String), Failure> {
        let found = match option {
            Some(url) => Some((url.clone(), "--url".to_owned())),
            None => self.find("url"),
        };
        let (text, origin) = found.unwrap_or_else(|| (DEFAULT_URL.to_owned(), "default".to_owned()));
        match checked_url(&text) {
            Ok(url) => Ok((url, origin)),
            Err(rule) => Err(Failure::usage(format!("{origin} {rule}"))),
        }
    }

    /// The service with what is selected there, and its key if there is one.
    pub(super) fn connection(
        &self,
        args: &ServiceArgs,
    ) -> Result<(Connection, Option<SecretString>), Failure> {
        let (url, origin) = self.address(args.url.as_ref())?;
        let by_file = !["--url", "WORKING_MEMORY_URL", "default"].contains(&origin.as_str());
        let (source, key) = self.key(args)?;
        // A folder that came from someone else must not be able to have a key sent to its own address; on this machine
        // another account may listen there. Its own key is meant for that address, if it stays on this machine, and to the
        // default address the key is sent without the file, too.
        let is_its_own = args.key_file.is_none() && matches!(source, KeySource::File(_));
        let is_harmless =
            (is_its_own && is_loopback(&url)) || url.as_str().trim_end_matches('/') == DEFAULT_URL;
        let question = format!("{origin} names {url}. Send your key there?");
        if key.is_some() && by_file && !is_harmless && ask(&question) != Some(true) {
            return Err(Failure::usage(format!(
                "{origin} names {url}, and no key is sent to an address that only a file in the folder names: if you \
                 trust it, set WORKING_MEMORY_URL or --url too"
            )));
        }
        let connection = Connection {
            url,
            by_file,
            vault: self.id(args.memory_ref.vault.as_ref(), "vault")?,
            memory: self.id(args.memory_ref.memory.as_ref(), "memory")?,
            actor: self.id(args.actor.as_ref(), "actor")?,
            key: source,
        };
        Ok((connection, key))
    }

    /// Where the key is stored, and the key, if there is one.
    fn key(&self, args: &ServiceArgs) -> Result<(KeySource, Option<SecretString>), Failure> {
        let of_project = || self.project.as_ref().map_or(Ok(None), Project::key_file);
        let source = match &args.key_file {
            Some(path) => KeySource::File(path.clone()),
            None if variable(KEY_VARIABLE).is_some() => KeySource::Variable,
            None => of_project()?.map_or(KeySource::None, KeySource::File),
        };
        let (origin, text) = match &source {
            KeySource::None => return Ok((source, None)),
            KeySource::Variable => (
                KEY_VARIABLE.to_owned(),
                Ok(variable(KEY_VARIABLE).unwrap_or_default()),
            ),
            KeySource::File(path) => (format!("the key file {}", path.display()), read_text(path)),
        };
        let wrong = |why: &str| Failure::usage(format!("{origin} {why}"));
        let text = text.map_err(|failure| Failure::usage(format!("the API key: {failure}")))?;
        let key = checked_key(&text).map_err(wrong)?;
        Ok((source, Some(key)))
    }
}

pub(super) fn not_named(what: &str) -> Failure {
    let variable = what.to_uppercase();
    Failure::usage(format!(
        "no {what} is named: pass --{what}, set WORKING_MEMORY_{variable}, or write {what} = \"…\" into {FILE_NAME}"
    ))
}

/// The address of the service from an option, the environment or the default, not from a file of the folder.
///
/// # Errors
/// It is invalid.
pub(in crate::cli) fn base_url(option: Option<&String>) -> Result<Url, Failure> {
    Ok(SettingSources { project: None }.address(option)?.0)
}

fn checked_url(text: &str) -> Result<Url, String> {
    let wrong_start = || format!("must begin with http:// or https://, as in {DEFAULT_URL}");
    let url = Url::parse(text.trim()).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => wrong_start(),
        error => format!("is not a URL: {error}"),
    })?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong_start());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user or password; use a key".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not contain ? or #".to_owned());
    }
    Ok(url)
}

/// Whether the address is on this machine.
pub(in crate::cli) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

/// The message never contains the key.
fn checked_key(text: &str) -> Result<SecretString, &'static str> {
    let key = text.trim();
    if key.is_empty() || key.len() > MAX_KEY_BYTES || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("must contain one key of visible ASCII characters and nothing else");
    }
    Ok(SecretString::from(key))
}

/// The file's name, in the current folder or one above.
pub(in crate::cli) const FILE_NAME: &str = ".working-memory.toml";

/// What it may name. `key_file`, a file with the API key, is relative to its folder.
const SETTINGS: [&str; 5] = ["url", "vault", "memory", "actor", "key_file"];

/// Opens a file of this user or of root; an error within names another owner, of the file or of a link to it. Who may write to a
/// folder above could otherwise put a file there that sends this user's key and words to a port of theirs. As for git, only
/// owners count, not permissions: those of groups, and of mounted disks, often let others write.
fn open_trusted(path: &Path) -> io::Result<Result<File, u32>> {
    let user = rustix::process::geteuid().as_raw();
    let is_foreign = |found: &Metadata| ![0, user].contains(&found.uid());
    let link = path.symlink_metadata()?;
    if is_foreign(&link) {
        return Ok(Err(link.uid()));
    }
    // The open file is asked: the one at the path may be another one by now.
    let file = File::open(path)?;
    let found = file.metadata()?;
    Ok(match is_foreign(&found) {
        true => Err(found.uid()),
        false => Ok(file),
    })
}

/// A file and its location.
#[derive(Debug)]
struct Project {
    path: PathBuf,
    settings: HashMap<String, String>,
}

impl Project {
    /// # Errors
    /// It cannot be read, is not TOML, or has an unknown key.
    fn read(path: PathBuf, file: File) -> Result<Self, Failure> {
        let wrong = |error: &str| Failure::usage(format!("{}: {error}", path.display()));
        let text = io::read_to_string(file).map_err(|error| wrong(&error.to_string()))?;
        let settings: HashMap<String, String> = config::Config::builder()
            .add_source(config::File::from_str(&text, config::FileFormat::Toml))
            .build()
            .and_then(config::Config::try_deserialize)
            .map_err(|error| wrong(&single_blanks(&error.to_string())))?;
        match settings.keys().find(|name| !SETTINGS.contains(&name.as_str())) {
            Some(name) => Err(wrong(&format!(
                "unknown setting {name}, not one of {}",
                SETTINGS.join(", ")
            ))),
            None => Ok(Self { path, settings }),
        }
    }

    /// The key file that it names. It must be inside its folder: a folder that came from someone else must not name other
    /// files of its user.
    ///
    /// # Errors
    /// It is outside, also by way of a symbolic link.
    fn key_file(&self) -> Result<Option<PathBuf>, Failure> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let Some(key_file) = self.settings.get("key_file").map(|name| folder.join(name)) else {
            return Ok(None);
        };
        match (key_file.canonicalize(), folder.canonicalize()) {
            (Ok(file), Ok(inside)) if !file.starts_with(&inside) => Err(Failure::usage(format!(
                "{}: key_file must be inside {}: name it with --key-file, or set {KEY_VARIABLE}",
                self.path.display(),
                folder.display()
            ))),
            // A missing file is reported when it is read.
            _ => Ok(Some(key_file)),
        }
    }
}
