//! The embedded database of a command: in this process or, as root, in a process of another account.

use crate::storage::embedded::{Account, EmbeddedOptions, EmbeddedServer};
use rustix::process::{Pid, Signal};
use std::error::Error;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// What the other process runs: it prints the URL, and ends when its input ends, as with this process.
const TELL_AND_WAIT: &str = "echo \"$DATABASE_URL\"; read -r _";

/// A running embedded server.
pub(super) enum Embedded {
    /// In this process.
    Own(EmbeddedServer),
    /// In a process of another account.
    OfAccount(Helper),
}

impl Embedded {
    /// Starts it. With `throw_away` the other process chooses a temporary folder of its own.
    pub(super) async fn start(options: EmbeddedOptions) -> Result<Self, Box<dyn Error>> {
        let data_dir = (!options.throw_away).then_some(&*options.data_dir);
        match Account::instead_of_root(data_dir)? {
            None => Ok(Self::Own(EmbeddedServer::start(options).await?)),
            Some(account) => {
                let mut helper = Helper::begin(&account, data_dir, options.max_connections)?;
                helper.wait_until_ready().await?;
                Ok(Self::OfAccount(helper))
            }
        }
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Own(server) => server.url(),
            Self::OfAccount(helper) => helper.url.clone(),
        }
    }

    pub(super) async fn stop(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Own(server) => Ok(server.stop().await?),
            Self::OfAccount(helper) => helper.stop().await,
        }
    }
}

/// `with-postgres` of another account. It ends with this process, however that ends.
pub(super) struct Helper {
    child: Child,
    url: String,
}

impl Helper {
    fn begin(
        account: &Account,
        data_dir: Option<&Path>,
        max_connections: u32,
    ) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::from(account.this_program());
        command.arg("with-postgres");
        if let Some(data_dir) = data_dir {
            let data_dir = std::path::absolute(data_dir)?;
            account.make_data_dir(&data_dir)?;
            command.arg("--data-dir").arg(data_dir);
        }
        command.args(["--max-connections", &max_connections.to_string()]);
        command.args(["--", "/bin/sh", "-c", TELL_AND_WAIT]);
        // Ctrl-C at the terminal must reach only this process, which ends it last.
        command.process_group(0).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command
            .spawn()
            .map_err(|error| format!("cannot run this program as {}: {error}", account.name()))?;
        Ok(Self {
            child,
            url: String::new(),
        })
    }

    /// Waits for its URL. Where it cannot start it has said why.
    async fn wait_until_ready(&mut self) -> Result<(), Box<dyn Error>> {
        if let Some(printed) = self.child.stdout.take() {
            BufReader::new(printed).read_line(&mut self.url).await?;
        }
        if self.url.ends_with('\n') {
            self.url.pop();
            return Ok(());
        }
        self.child.wait().await?;
        Err("the embedded database did not start".into())
    }

    async fn stop(mut self) -> Result<(), Box<dyn Error>> {
        drop(self.child.stdin.take());
        self.child.wait().await?;
        Ok(())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // An interrupted start: it removes what it has made.
        let pid = self.child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
    }
}
