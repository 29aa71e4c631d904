//! Small files, and programs of PostgreSQL.

use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use tokio::process::Command;

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
