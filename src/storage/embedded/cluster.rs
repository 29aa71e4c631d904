//! Making the cluster: in one step as seen from outside, so a start that was killed half-way is repeated.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use super::account::Account;
use super::binaries::Binaries;
use super::error::EmbeddedError;
use super::server_log::last_lines;

/// The superuser of the cluster, and the owner of its database.
pub(super) const USER: &str = "working_memory";

/// Character types to ask for, the best first: order is by bytes everywhere (as the service itself compares),
/// but letters beyond ASCII are to be known as letters. Not every system has each of these locales.
const CHARACTER_TYPES: [&str; 3] = ["C.UTF-8", "en_US.UTF-8", "C"];

/// Major version of the cluster, or none if it has not been made.
pub(super) fn major_version(cluster: &Path) -> Option<u32> {
    fs::read_to_string(cluster.join("PG_VERSION"))
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Makes the cluster under a name of its own, and gives it its place when it is complete.
pub(super) async fn initialize(
    cluster: &Path,
    binaries: &Binaries,
    account: Account,
    throw_away: bool,
) -> Result<(), EmbeddedError> {
    let unfinished = cluster.with_file_name("cluster.new");
    let mut log = String::new();
    for character_type in CHARACTER_TYPES {
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).map_err(EmbeddedError::folder("remove", &unfinished))?;
        }
        let initdb = binaries.initdb();
        let mut command = account.command(&initdb);
        command
            .arg("-D")
            .arg(&unfinished)
            .args(["-U", USER, "-E", "UTF8", "--locale=C"]);
        command.arg(format!("--lc-ctype={character_type}"));
        // The way to the socket is a folder that nobody else may enter; there is no other way in.
        command.args(["--auth=trust", "--no-instructions"]);
        if throw_away {
            command.arg("--no-sync");
        }
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
        let output = output.map_err(EmbeddedError::spawn(&initdb))?;
        if output.status.success() {
            return take_place(&unfinished, cluster);
        }
        log = last_lines(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    }
    Err(EmbeddedError::Initialize { log })
}

fn take_place(unfinished: &Path, cluster: &Path) -> Result<(), EmbeddedError> {
    fs::rename(unfinished, cluster).map_err(EmbeddedError::folder("make", cluster))?;
    let parent = cluster.parent().unwrap_or(cluster);
    File::open(parent)
        .and_then(|dir| dir.sync_all())
        .map_err(EmbeddedError::folder("write", parent))
}
