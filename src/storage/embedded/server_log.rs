//! The server's log file: appended to by the server, kept small by the service.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Beyond this size the log becomes `server.log.1` and begins anew.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How much of the end is worth showing in an error.
const TAIL_BYTES: u64 = 8 * 1024;
const TAIL_LINES: usize = 12;

/// Opens the log for the server to write to. It appends, so that truncating works under its feet.
pub(super) fn open(path: &Path) -> io::Result<File> {
    rotate(path)?;
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

/// Copies a log that has grown too large aside and empties it; the server keeps its open file.
pub(super) fn rotate(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() > MAX_BYTES => {
            fs::copy(path, path.with_extension("log.1"))?;
            OpenOptions::new().write(true).open(path)?.set_len(0)
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The last few lines of the log; empty if it cannot be read, since it only illustrates another error.
pub(super) fn tail(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        Ok(end)
    };
    last_lines(&String::from_utf8_lossy(&read().unwrap_or_default()))
}

/// The last few lines of a text.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_log_that_grew_too_large_moves_aside_and_the_server_writes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.log");
        let mut server = open(&path).unwrap();
        server.write_all(&vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        rotate(&path).unwrap();
        server.write_all(b"after\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after\n");
        assert_eq!(
            fs::metadata(dir.path().join("server.log.1")).unwrap().len(),
            MAX_BYTES + 1
        );
    }

    #[test]
    fn a_small_log_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.log");
        fs::write(&path, "one\n").unwrap();
        rotate(&path).unwrap();
        assert_eq!(tail(&path), "one");
    }

    #[test]
    fn the_tail_is_short() {
        let text: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        let tail = last_lines(&text);
        assert_eq!(tail.lines().count(), TAIL_LINES);
        assert!(tail.ends_with("line 99"));
    }
}
