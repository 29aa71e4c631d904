//! The files of the cluster, created atomically, so that an interrupted start can be repeated; and the programs of PostgreSQL.
//!
//! Authentication is by `peer`, so the operating system identifies the client. Only the service's own user and root may
//! connect. Both files that say so are written at every start.

use super::binaries::Binaries;
use super::error::{EmbeddedError, tells_full_disk};
use super::server_log::last_lines;
use rustix::fs::OFlags;
use std::fs;
use std::fs::{File, OpenOptions};
use std::io;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

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
        // The access rules are written before the server first runs (`write_access`).
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
        return Err(EmbeddedError::disk_full(home));
    }
    Err(EmbeddedError::Unusable(format!(
        "making a new PostgreSQL cluster failed; initdb said:\n{log}"
    )))
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

const HBA: &str = "# Written by working-memory at every start.\n\
                   local all all peer map=working_memory\n";

/// Writes both files.
pub(super) async fn write_access(cluster: &Path) -> Result<(), EmbeddedError> {
    let uid = rustix::process::geteuid().as_raw();
    let own = name_of(uid).await.ok_or_else(|| {
        EmbeddedError::Unusable(format!(
            "the user of the service ({uid}) has no name in this system, by which PostgreSQL could let it in"
        ))
    })?;
    // Root may become any user, so it is let in by its own name.
    let ident = format!(
        "# Written by working-memory at every start.\nworking_memory \"{own}\" {USER}\nworking_memory root {USER}\n"
    );
    put(cluster, "pg_ident.conf", &ident)?;
    put(cluster, "pg_hba.conf", HBA)
}

/// The name of a user, if it has one that can be written to the file. Asks `id`, because the system may know users that
/// `/etc/passwd` does not list.
async fn name_of(uid: u32) -> Option<String> {
    let asked = Command::new("id").args(["-nu", &uid.to_string()]).output().await;
    let asked = asked.ok().filter(|output| output.status.success())?;
    let name = String::from_utf8(asked.stdout).ok()?.trim_end().to_owned();
    // It is quoted; a slash at its beginning would make it a pattern.
    let is_writable = !name.starts_with('/') && !name.contains(|c: char| c == '"' || c.is_control());
    (!name.is_empty() && is_writable).then_some(name)
}

/// Replaces a file of the cluster atomically.
fn put(cluster: &Path, name: &str, text: &str) -> Result<(), EmbeddedError> {
    let (path, new) = (cluster.join(name), cluster.join(format!("{name}.new")));
    let put = || -> std::io::Result<()> {
        let mut open = OpenOptions::new();
        open.write(true).create(true).truncate(true).mode(0o600);
        open.open(&new)?.write_all(text.as_bytes())?;
        fs::rename(&new, &path)
    };
    put().map_err(EmbeddedError::folder("write", &path))
}

/// The beginning of a small file, which must be a regular one: root may look into a folder of others here, and a pipe
/// would never end.
pub(super) fn small_text(path: &Path) -> Option<String> {
    const SMALL: u64 = 64 * 1024;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut open = OpenOptions::new();
    let file = open
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(SMALL).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Environment variables passed to programs of PostgreSQL. All others are removed, including the service's secrets and
/// `PG…` settings meant for clients.
const PASSED_ON: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"];

/// A command outside the process group of the service: Ctrl-C at the terminal must reach only the service, which stops its
/// server last.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("LC_ALL", "C")
        .process_group(0)
        .current_dir("/");
    command.envs(
        PASSED_ON
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn users_have_names_or_none() {
        assert_eq!(name_of(0).await.as_deref(), Some("root"));
        assert_eq!(name_of(3_999_999_999).await, None);
    }
}
