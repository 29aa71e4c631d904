//! The server's log file: appended to by the server, limited in size by the service.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Its file name.
pub(super) const NAME: &str = "server.log";
/// The file name of the previous log.
const EARLIER: &str = "server.log.1";
/// The size beyond which it is rotated.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How much of its end is shown in an error.
const TAIL_BYTES: u64 = 8 * 1024;
const TAIL_LINES: usize = 12;

/// Opens the log for the server. The server appends, so the file can be truncated while it is open.
pub(super) fn open(home: &Path) -> io::Result<File> {
    rotate(home)?;
    let mut open = OpenOptions::new();
    open.append(true).create(true).mode(0o600);
    open.open(home.join(NAME))
}

/// Copies a log that is too large to the previous log and truncates it; the server keeps its open file.
pub(super) fn rotate(home: &Path) -> io::Result<()> {
    let log = home.join(NAME);
    match fs::metadata(&log) {
        Ok(found) if found.len() > MAX_BYTES => {
            fs::copy(&log, home.join(EARLIER))?;
            OpenOptions::new().write(true).open(&log)?.set_len(0)
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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
    fn a_log_that_grew_too_large_moves_aside_and_the_server_writes_on() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let mut server = open(home).unwrap();
        server.write_all(&vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        rotate(home).unwrap();
        server.write_all(b"after\n").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(NAME)).unwrap(), "after\n");
        assert_eq!(
            fs::metadata(dir.path().join(EARLIER)).unwrap().len(),
            MAX_BYTES + 1
        );
    }

    #[test]
    fn a_small_log_stays() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        fs::write(dir.path().join(NAME), "one\n").unwrap();
        rotate(home).unwrap();
        assert_eq!(tail(home), "one");
    }

    #[test]
    fn the_tail_is_short() {
        let text: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        let tail = last_lines(&text);
        assert_eq!(tail.lines().count(), TAIL_LINES);
        assert!(tail.ends_with("line 99"));
    }
}
