//! Making the cluster: in one step as seen from outside, so a start that was killed half-way is repeated.

use std::path::Path;
use std::process::Stdio;

use super::account::Account;
use super::binaries::Binaries;
use super::error::EmbeddedError;
use super::handle::Folder;
use super::server_log::last_lines;

/// The superuser of the cluster, and the owner of its database.
pub(super) const USER: &str = "working_memory";

/// Character types to ask for, the best first: order is by bytes everywhere (as the service itself compares),
/// but letters beyond ASCII are to be known as letters. Not every system has each of these locales.
const CHARACTER_TYPES: [&str; 3] = ["C.UTF-8", "en_US.UTF-8", "C"];

/// Major version of the cluster in a folder, or none if it has not been made.
pub(super) fn major_version(home: &Folder) -> Option<u32> {
    let cluster = home.folder("cluster").ok()?;
    cluster.text("PG_VERSION").ok()?.trim().parse().ok()
}

/// Makes the cluster under a name of its own, and gives it its place when it is complete.
pub(super) async fn initialize(
    home: &Folder,
    binaries: &Binaries,
    account: Account,
    throw_away: bool,
) -> Result<(), EmbeddedError> {
    let unfinished = home.path().join("cluster.new");
    let mut log = String::new();
    for character_type in CHARACTER_TYPES {
        remove(&unfinished, account).await?;
        let initdb = binaries.initdb();
        let mut command = account.command(&initdb);
        command
            .arg("-D")
            .arg(&unfinished)
            .args(["-U", USER, "-E", "UTF8", "--locale=C"]);
        command.arg(format!("--lc-ctype={character_type}"));
        // Who is let in is written before the server first runs (`access`).
        command.args(["--auth-local=peer", "--auth-host=reject", "--no-instructions"]);
        if throw_away {
            command.arg("--no-sync");
        }
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
        let output = output.map_err(EmbeddedError::spawn(&initdb))?;
        if output.status.success() {
            let place = home.path().join("cluster");
            return home
                .rename("cluster.new", "cluster")
                .map_err(EmbeddedError::folder("make", &place));
        }
        log = last_lines(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    }
    Err(EmbeddedError::Initialize { log })
}

/// Removes what a start that was broken off has left, as the account whose it is.
async fn remove(unfinished: &Path, account: Account) -> Result<(), EmbeddedError> {
    let program = Path::new("rm");
    let mut command = account.command(program);
    let output = command.args(["-rf", "--"]).arg(unfinished).output().await;
    let output = output.map_err(EmbeddedError::spawn(program))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(EmbeddedError::folder("remove", unfinished)(
        std::io::Error::other(said),
    ))
}
