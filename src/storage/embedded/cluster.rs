//! Creates the cluster atomically, so that an interrupted start can be repeated.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Stdio;

use super::binaries::Binaries;
use super::error::{EmbeddedError, tells_full_disk};
use super::server_log::last_lines;
use super::system::{command, small_text};

/// The superuser of the cluster and owner of its database.
pub(super) const USER: &str = "working_memory";

/// Locales for character classification, best first. Sorting is always by bytes, as in the service itself, but
/// non-ASCII letters should be recognised as letters. Not every system has all of these.
const CHARACTER_TYPES: [&str; 3] = ["C.UTF-8", "en_US.UTF-8", "C"];

/// The major version of the cluster in a folder; `None` if there is no cluster.
pub(super) fn major_version(home: &Path) -> Option<u32> {
    small_text(&home.join("cluster/PG_VERSION"))?.trim().parse().ok()
}

/// Creates the cluster under a temporary name, and renames it when it is complete.
pub(super) async fn initialize(
    home: &Path,
    binaries: &Binaries,
    throw_away: bool,
) -> Result<(), EmbeddedError> {
    let unfinished = home.join("cluster.new");
    let mut log = String::new();
    for character_type in CHARACTER_TYPES {
        remove(&unfinished)?;
        let initdb = binaries.initdb();
        let mut command = command(&initdb);
        command
            .arg("-D")
            .arg(&unfinished)
            .args(["-U", USER, "-E", "UTF8", "--locale=C"]);
        command.arg(format!("--lc-ctype={character_type}"));
        // The access rules are written before the server first runs (`access`).
        command.args(["--auth-local=peer", "--auth-host=reject", "--no-instructions"]);
        if throw_away {
            command.arg("--no-sync");
        }
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
        let output = output.map_err(EmbeddedError::spawn(&initdb))?;
        if output.status.success() {
            let cluster = home.join("cluster");
            let renamed = fs::rename(&unfinished, &cluster).and_then(|()| File::open(home)?.sync_all());
            return renamed.map_err(EmbeddedError::folder("make", &cluster));
        }
        log = last_lines(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    }
    if tells_full_disk(&log) {
        let path = home.display().to_string();
        return Err(EmbeddedError::DiskFull { path });
    }
    Err(EmbeddedError::Initialize { log })
}

/// Removes the remains of an interrupted start.
fn remove(unfinished: &Path) -> Result<(), EmbeddedError> {
    match fs::remove_dir_all(unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(EmbeddedError::folder("remove", unfinished)(error))
        }
        _ => Ok(()),
    }
}
