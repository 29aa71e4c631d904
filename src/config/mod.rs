//! Configuration: defaults, then `working-memory.toml`, then the environment (DESIGN §9).
//!
//! Environment variables are `WORKING_MEMORY__SECTION__KEY`, and the names that other tools use:
//! `DATABASE_URL`, `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`. The service does not start with an unknown key:
//! a misspelt limit would otherwise have no effect.

pub mod consolidation;
pub mod database;
pub mod embeddings;
pub mod events;
pub mod handoff;
pub mod hosts;
pub mod http;
pub mod limits;
pub mod llm;
pub mod pipeline;
pub mod prices;
pub mod retention;
pub mod telemetry;
mod values;
pub mod window;

use config::ValueKind;
use secrecy::SecretString;
use serde::Deserialize;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The default file.
pub const DEFAULT_FILE: &str = "working-memory.toml";

const PREFIX: &str = "WORKING_MEMORY";

/// The whole configuration.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP server.
    pub http: http::HttpConfig,
    /// The database.
    pub database: database::DatabaseConfig,
    /// Maximum sizes of requests and documents, and quotas.
    pub limits: limits::LimitsConfig,
    /// What happens to a put that drops much of a document.
    pub guard: limits::GuardConfig,
    /// The models of updates.
    pub llm: llm::LlmConfig,
    /// The embedding model for searches by meaning.
    pub embeddings: embeddings::EmbeddingsConfig,
    /// How updates are run.
    pub pipeline: pipeline::PipelineConfig,
    /// When memories are consolidated, and how far.
    pub consolidation: consolidation::ConsolidationConfig,
    /// Retention and limits of events.
    pub events: events::EventsConfig,
    /// How handoffs are made.
    pub handoff: handoff::HandoffConfig,
    /// Which old versions are pruned.
    pub retention: retention::RetentionConfig,
    /// Expiry of proposals.
    pub review: retention::ReviewConfig,
    /// How many recent tasks and decisions are in a document.
    pub window: window::WindowConfig,
    /// What the service writes to its log.
    pub log: telemetry::LogConfig,
    /// Traces.
    pub telemetry: telemetry::TelemetryConfig,
}

/// The configuration is invalid. Every message names the key or the file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file or variable that cannot be read, or an unknown key.
    #[error("configuration: {0}")]
    Unreadable(#[from] config::ConfigError),
    /// A named file that does not exist.
    #[error("configuration: {0} does not exist")]
    NoSuchFile(PathBuf),
    /// Settings that no longer exist, each with what to do instead.
    #[error("configuration: these settings no longer exist; remove each of them:{0}")]
    Removed(String),
    /// An invalid value.
    #[error("configuration: {0}")]
    Invalid(String),
}

/// The settings by their types. The parser would round 5.5 where a whole number is expected, and take true, on and off as 1 and 0
/// where any number is, so it also gets in their place what it refuses there, and accepts wherever it accepts them.
fn typed(read: &config::Config) -> Result<Config, ConfigError> {
    let explained = |error: config::ConfigError| match wanted_number(&error) {
        Some((key, wanted)) => {
            let found = read.get::<config::Value>(&key);
            let found = found.map_or(String::new(), |found| format!(", not {found}"));
            ConfigError::Invalid(format!("{key} must be {wanted}{found}"))
        }
        None => error.into(),
    };
    let config = read.clone().try_deserialize().map_err(explained)?;
    let mut strict = read.clone();
    unlike_numbers(&mut strict.cache);
    strict.try_deserialize::<Config>().map_err(explained)?;
    Ok(config)
}

/// The words that the parser takes as numbers.
const WORDS: [&str; 6] = ["true", "on", "yes", "false", "off", "no"];

/// Puts -1 for each number with a point that is not a whole one from 0 on, and a blank before each of the [`WORDS`].
fn unlike_numbers(value: &mut config::Value) {
    match &mut value.kind {
        ValueKind::Table(table) => table.values_mut().for_each(unlike_numbers),
        ValueKind::Float(number) if number.fract() == 0.0 && (0.0..1e15).contains(number) => {}
        ValueKind::Float(_) => value.kind = ValueKind::I64(-1),
        ValueKind::Boolean(flag) => value.kind = ValueKind::String(format!(" {flag}")),
        ValueKind::String(text) if WORDS.contains(&&*text.to_lowercase()) => text.insert(0, ' '),
        _ => {}
    }
}

/// Removes blank texts, which count as unset in the file too.
fn without_blanks(value: &mut config::Value) {
    if let ValueKind::Table(table) = &mut value.kind {
        table.retain(|_, value| !matches!(&value.kind, ValueKind::String(text) if text.trim().is_empty()));
        table.values_mut().for_each(without_blanks);
    }
}

/// The key that expects a number, and which, which is all that the parser says about it.
fn wanted_number(error: &config::ConfigError) -> Option<(String, &'static str)> {
    match error {
        config::ConfigError::Type { expected, key, .. } => {
            let wanted = match expected {
                integer if integer.contains("integer") => "a whole number from 0 on",
                number if number.contains("floating") => "a number",
                _ => return None,
            };
            Some((key.clone().unwrap_or_default(), wanted))
        }
        config::ConfigError::At { error, key, .. } => {
            let (inner, wanted) = wanted_number(error)?;
            let key = key.clone().filter(|_| inner.is_empty());
            Some((key.unwrap_or(inner), wanted))
        }
        _ => None,
    }
}

/// The variables that count. A blank one counts as unset: compose files and shells create those. The names of settings are
/// read in any case of their letters, so each is one variable.
///
/// # Errors
/// A variable that would have no effect, or one that another's value decides.
fn variables(
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<HashMap<String, String>, ConfigError> {
    let variables: HashMap<String, String> = environment
        .into_iter()
        .filter(|(_, value)| !value.trim().is_empty())
        .map(|(name, value)| match name.to_uppercase() {
            upper if upper.starts_with(PREFIX) => (upper, value),
            _ => (name, value),
        })
        .collect();
    let misnamed = |name: &String| {
        let rest = name.strip_prefix(PREFIX)?.strip_prefix('_')?;
        let below = format!("{name}__");
        let problem = match rest.strip_prefix('_') {
            None if rest.contains("__") => "is not read: the names of settings begin with WORKING_MEMORY__",
            // Their ids would lose their case.
            Some(key) if key.starts_with("WINDOW__VAULTS") => "is not read: it can be set in the file only",
            Some(_) if variables.keys().any(|other| other.starts_with(&below)) => "is the name of a section",
            _ => return None,
        };
        Some(ConfigError::Invalid(format!("{name} {problem}")))
    };
    match variables.keys().find_map(misnamed) {
        Some(error) => Err(error),
        None => Ok(variables),
    }
}

fn path_of(file: Option<&Path>) -> &Path {
    file.unwrap_or(Path::new(DEFAULT_FILE))
}

/// The text of a configuration file; `None` if there is none and none was named. One that is there and cannot be read would
/// otherwise count as no settings: the service would be open, and have another database.
fn text_of(file: Option<&Path>) -> Result<Option<String>, ConfigError> {
    let path = path_of(file);
    match std::fs::read_to_string(path) {
        // Some editors write a byte order mark.
        Ok(text) => Ok(Some(text.trim_start_matches('\u{feff}').to_owned())),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let shown = path.display();
            Err(ConfigError::Invalid(format!("cannot read {shown}: {error}")))
        }
        Err(_) if file.is_some() => Err(ConfigError::NoSuchFile(path.to_owned())),
        Err(_) => Ok(None),
    }
}

impl Config {
    /// Whether the service reads a variable of this name.
    #[must_use]
    pub fn reads(variable: &str) -> bool {
        let is_shared = ["DATABASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"].contains(&variable);
        is_shared || variable.to_uppercase().starts_with("WORKING_MEMORY__")
    }

    /// Reads the configuration. `file` is a file that must exist; without it `working-memory.toml` of
    /// the working folder is read if it exists. `environment` is the process's.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let environment = variables(environment)?;
        let mut builder = config::Config::builder();
        if let Some(text) = text_of(file)? {
            builder = builder.add_source(config::File::from_str(&text, config::FileFormat::Toml));
        }
        if let Some(url) = environment.get("DATABASE_URL") {
            // The service's own variable, added below, takes precedence.
            let shared = config::Config::builder().set_override("database.url", url.as_str())?;
            builder = builder.add_source(shared.build()?);
        }
        let own = config::Environment::with_prefix(PREFIX)
            .prefix_separator("__")
            .separator("__")
            .source(Some(environment.clone()));
        let mut read = builder.add_source(own).build().map_err(|error| match error {
            config::ConfigError::FileParse { cause, .. } => {
                // The lines behind the first quote the file, whose values may be secret, and repeat where that is.
                let cause = cause.to_string();
                let lines = cause.lines().filter(|line| !line.contains(" |"));
                let what = lines.collect::<Vec<_>>().join(": ");
                ConfigError::Invalid(format!("{}: {what}", path_of(file).display()))
            }
            other => other.into(),
        })?;
        without_blanks(&mut read.cache);
        if let Some(removed) = removed_settings(&read) {
            return Err(ConfigError::Removed(removed));
        }
        let mut config = typed(&read)?;
        let key = |name: &str| environment.get(name).map(|key| SecretString::from(key.trim()));
        config.llm = config
            .llm
            .with_environment(key("OPENAI_API_KEY"), key("ANTHROPIC_API_KEY"));
        config.embeddings = config.embeddings.with_environment(key("OPENAI_API_KEY"));
        config.validate()?;
        Ok(config)
    }

    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// The first invalid value, with its key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let sections = [
            self.http.validate(),
            self.database.validate(),
            self.limits.validate(),
            self.pipeline.ranges(),
            self.pipeline.queue.ranges(),
            self.consolidation.validate(),
            self.events.ranges(),
            self.handoff.ranges(),
            self.retention.validate(),
            self.review.ranges(),
            self.telemetry.ranges(),
            self.window.validate(),
            self.embeddings.validate(),
            self.llm.validate(),
            self.log.validate(),
        ];
        sections
            .into_iter()
            .collect::<Result<(), String>>()
            .map_err(ConfigError::Invalid)
    }
}

/// Keys that no longer exist, each with what to do instead. One that is still set is named at the start: silence would let
/// the operator believe that it has an effect.
const REMOVED: &str = include_str!("removed.txt");

/// A line for each removed key that is set; `None` if none is.
fn removed_settings(read: &config::Config) -> Option<String> {
    let removed = REMOVED.lines().filter_map(|line| line.split_once(": "));
    let lines: String = removed
        .filter(|(key, _)| read.get::<config::Value>(key).is_ok())
        .map(|(key, instead)| format!("\n  {key}: {instead}"))
        .collect();
    (!lines.is_empty()).then_some(lines)
}

#[cfg(test)]
mod tests;
