//! `working-memory keys`: creates, lists, revokes and rotates API keys in the database, also while the service runs.

use super::client::{Cell, Column, Output, time, write_table};
use super::offline::{Access, on_database};
use crate::clock::{Clock, SystemClock};
use crate::config::retention::{age_form, parse_age};
use crate::domain::access::{AccessRole, ApiKey, MAX_GRACE, Token, VaultScope};
use crate::domain::ids::{ActorId, KeyId, VaultId};
use crate::http::responses::{KeyBody, NewKeyBody};
use crate::storage::Storage;
use crate::storage::access::keys::NewKey;
use chrono::{DateTime, TimeDelta, Utc};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;

/// The recorded creator of keys that this command creates.
const MADE_BY: &str = "cli";

/// Arguments of `keys`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the folder,
/// also while a service runs it; this command never creates it.
#[derive(Debug, Args)]
pub struct Keys {
    #[command(subcommand)]
    command: KeysCommand,
    /// Print JSON, one object per line.
    #[arg(long, global = true)]
    json: bool,
    /// Read this file instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Create a key and print it. It cannot be shown again. Once there is a key, the service requires one from everybody.
    Create(Create),
    /// List all keys, revoked and expired ones too.
    List,
    /// Revoke a key now; every instance rejects it within a second.
    Revoke {
        /// The part of the key between the underscores.
        key_id: KeyId,
    },
    /// Give a key a new secret and print it.
    Rotate {
        /// The part of the key between the underscores.
        key_id: KeyId,
        /// How long the old secret is accepted too, such as 1h.
        #[arg(long, value_name = "TIME", value_parser = grace)]
        grace: Option<TimeDelta>,
    },
}

#[derive(Debug, Args)]
struct Create {
    /// The holder: the actor of what is written with it.
    #[arg(long)]
    name: ActorId,
    /// reader, proposer, writer or admin.
    #[arg(long, value_parser = role)]
    role: AccessRole,
    /// A vault that the key may use; may be given several times. Without it, and without a prefix, all.
    #[arg(long = "vault", value_name = "VAULT")]
    vaults: Vec<VaultId>,
    /// The key may use the vaults whose ids begin with this prefix.
    #[arg(long, value_name = "PREFIX", conflicts_with = "vaults")]
    vault_prefix: Option<VaultId>,
    /// How long the key is valid from now, such as 90d. Without it, forever.
    #[arg(long, value_name = "TIME", value_parser = time_span)]
    expires_in: Option<TimeDelta>,
    /// Let its holder name other actors with X-Actor-Id.
    #[arg(long)]
    speaks_for_others: bool,
}

fn role(name: &str) -> Result<AccessRole, String> {
    name.parse()
        .map_err(|_| "must be reader, proposer, writer or admin".to_owned())
}

fn time_span(text: &str) -> Result<TimeDelta, String> {
    parse_age(text).ok_or_else(age_form)
}

fn grace(text: &str) -> Result<TimeDelta, String> {
    let grace = time_span(text)?;
    let most = TimeDelta::seconds(MAX_GRACE.into());
    match grace <= most {
        true => Ok(grace),
        false => Err(format!("must be at most {}d", most.num_days())),
    }
}

impl Keys {
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        let access = match self.command {
            KeysCommand::Create(_) => Access::Write,
            // An operator may need them on a schema that was migrated down.
            KeysCommand::List | KeysCommand::Revoke { .. } | KeysCommand::Rotate { .. } => Access::Read,
        };
        let work = async |storage: &Storage| self.execute(storage).await;
        let done = on_database(self.config.as_deref(), access, None, work).await?;
        // Printed at the end: no key is shown that was not saved.
        Ok(Output::bytes(done.as_bytes())?)
    }

    async fn execute(&self, storage: &Storage) -> Result<String, Box<dyn Error>> {
        let now = SystemClock.now();
        let (json, text) = match &self.command {
            KeysCommand::Create(create) => secret(storage.create_key(create.new_key(now)).await?, now),
            KeysCommand::Rotate { key_id, grace } => {
                let grace = grace.unwrap_or_default();
                secret(storage.rotate_key(key_id, grace).await?, now)
            }
            KeysCommand::Revoke { key_id } => match storage.revoke_key(key_id).await? {
                true => (
                    json!({"key_id": key_id.as_str(), "revoked": true}),
                    format!("revoked {key_id}"),
                ),
                false => return Err("there is no such key".into()),
            },
            KeysCommand::List => return self.list(storage, now).await,
        };
        Ok(match self.json {
            true => format!("{json}\n"),
            false => format!("{text}\n"),
        })
    }

    async fn list(&self, storage: &Storage, now: DateTime<Utc>) -> Result<String, Box<dyn Error>> {
        let keys = storage.list_keys(&VaultScope::All, None, i64::MAX).await?;
        let keys: Vec<Value> = keys.into_iter().map(|key| json!(KeyBody::of(key, now))).collect();
        if self.json {
            return Ok(keys.iter().map(|key| format!("{key}\n")).collect());
        }
        let mut out = Output::new();
        write_table(&mut out, &KEYS, &keys);
        Ok(out.into_text())
    }
}

/// A new secret, as JSON and as text: the only output that contains it.
fn secret((key, token): (ApiKey, Token), now: DateTime<Utc>) -> (Value, String) {
    let text = token.expose().to_owned();
    (json!(NewKeyBody::of(key, &token, now)), text)
}

impl Create {
    fn new_key(&self, now: DateTime<Utc>) -> NewKey {
        let scope = match (&self.vault_prefix, self.vaults.is_empty()) {
            (Some(prefix), _) => VaultScope::Prefix(prefix.clone()),
            (None, true) => VaultScope::All,
            (None, false) => VaultScope::List(self.vaults.iter().cloned().collect::<BTreeSet<_>>().into()),
        };
        NewKey {
            name: self.name.clone(),
            role: self.role,
            scope,
            speaks_for_others: self.speaks_for_others,
            created_by: MADE_BY.to_owned(),
            expires_at: self.expires_in.map(|time| now + time),
            quota: None,
        }
    }
}

const KEYS: [Column; 6] = [
    ("KEY", Cell::Id("key_id")),
    ("NAME", Cell::Text("name")),
    ("ROLE", Cell::Text("role")),
    ("STATUS", Cell::Made(status)),
    ("EXPIRES", Cell::Made(expiry)),
    ("VAULTS", Cell::Made(vaults)),
];

fn status(key: &Value) -> String {
    let status = match (key["revoked_at"].is_null(), key["active"].as_bool()) {
        (false, _) => "revoked",
        (true, Some(true)) => "active",
        _ => "expired",
    };
    status.to_owned()
}

fn expiry(key: &Value) -> String {
    match key["expires_at"].as_str() {
        Some(_) => time(key, "expires_at"),
        None => "never".to_owned(),
    }
}

fn vaults(key: &Value) -> String {
    match (key["vaults"].as_array(), key["vault_prefix"].as_str()) {
        (Some(vaults), _) => {
            let vaults: Vec<&str> = vaults.iter().filter_map(Value::as_str).collect();
            vaults.join(",")
        }
        (None, Some(prefix)) => format!("{prefix}…"),
        (None, None) => "all".to_owned(),
    }
}
