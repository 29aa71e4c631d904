//! The server's log file: appended to by the server, begun anew by each run of the service.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Its file name.
pub(super) const NAME: &str = "server.log";
/// The file name of the previous log.
const EARLIER: &str = "server.log.1";
/// How much of its end is shown in an error.
const TAIL_BYTES: u64 = 8 * 1024;
const TAIL_LINES: usize = 12;

/// Makes the log of the service's last run the previous one.
pub(super) fn turn_over(home: &Path) -> io::Result<()> {
    match fs::rename(home.join(NAME), home.join(EARLIER)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Opens the log for the server, which appends to it.
pub(super) fn open(home: &Path) -> io::Result<File> {
    let mut open = OpenOptions::new();
    open.append(true).create(true).mode(0o600);
    open.open(home.join(NAME))
}

/// The last lines of the log; empty if it cannot be read, since it only adds detail to another error.
pub(super) fn tail(home: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(home.join(NAME))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut end = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut end)?;
        Ok(end)
    };
    last_lines(&String::from_utf8_lossy(&read().unwrap_or_default()))
}

/// The last lines of a text.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_log_of_the_last_run_is_the_previous_one() {
        let dir = tempfile::tempdir().unwrap();
        for run in ["one\n", "two\n", "three\n"] {
            turn_over(dir.path()).unwrap();
            open(dir.path()).unwrap().write_all(run.as_bytes()).unwrap();
        }
        assert_eq!(tail(dir.path()), "three");
        assert_eq!(fs::read_to_string(dir.path().join(EARLIER)).unwrap(), "two\n");
    }

    #[test]
    fn the_tail_is_short() {
        let text: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        let tail = last_lines(&text);
        assert_eq!(tail.lines().count(), TAIL_LINES);
        assert!(tail.ends_with("line 99"));
    }
}
