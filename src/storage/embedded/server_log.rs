//! The server's log file: appended to by the server, limited in size by the service. It is in a folder of the server's
//! account, so it is accessed by handle ([`super::handle`]).

use super::handle::Folder;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

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
pub(super) fn open(home: &Folder) -> io::Result<File> {
    rotate(home)?;
    home.private_file(NAME, OFlags::APPEND)
}

/// Copies a log that is too large to the previous log and truncates it; the server keeps its open file.
pub(super) fn rotate(home: &Folder) -> io::Result<()> {
    let log = match home.file(NAME) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if log.metadata()?.len() <= MAX_BYTES {
        return Ok(());
    }
    let mut log = home.private_file(NAME, OFlags::empty())?;
    // Copies only the content, not the mode.
    io::copy(&mut log, &mut home.new_file(EARLIER)?)?;
    log.set_len(0)
}

/// The last lines of the log; empty if it cannot be read, since it only adds detail to another error.
pub(super) fn tail(home: &Folder) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = home.file(NAME)?;
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
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_log_that_grew_too_large_moves_aside_and_the_server_writes_on() {
        let dir = tempfile::tempdir().unwrap();
        let home = Folder::open(dir.path()).unwrap();
        let mut server = open(&home).unwrap();
        server.write_all(&vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        rotate(&home).unwrap();
        server.write_all(b"after\n").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(NAME)).unwrap(), "after\n");
        assert_eq!(
            fs::metadata(dir.path().join(EARLIER)).unwrap().len(),
            MAX_BYTES + 1
        );
    }

    #[test]
    fn a_program_that_was_planted_as_the_log_does_not_get_its_mode_copied() {
        let dir = tempfile::tempdir().unwrap();
        let home = Folder::open(dir.path()).unwrap();
        let path = dir.path().join(NAME);
        fs::write(&path, vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o6755)).unwrap();
        rotate(&home).unwrap();
        for name in [NAME, EARLIER] {
            let mode = fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o600, "{name}");
        }
    }

    #[test]
    fn a_link_in_the_logs_place_is_neither_written_nor_shown() {
        let dir = tempfile::tempdir().unwrap();
        let home = Folder::open(dir.path()).unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "secret\n").unwrap();
        symlink(&victim, dir.path().join(NAME)).unwrap();
        assert!(open(&home).is_err());
        assert_eq!(tail(&home), "");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "secret\n");
        // A link in place of the previous log is not followed either.
        fs::remove_file(dir.path().join(NAME)).unwrap();
        fs::write(dir.path().join(NAME), vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        symlink(&victim, dir.path().join(EARLIER)).unwrap();
        rotate(&home).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "secret\n");
    }

    #[test]
    fn a_small_log_stays() {
        let dir = tempfile::tempdir().unwrap();
        let home = Folder::open(dir.path()).unwrap();
        fs::write(dir.path().join(NAME), "one\n").unwrap();
        rotate(&home).unwrap();
        assert_eq!(tail(&home), "one");
    }

    #[test]
    fn the_tail_is_short() {
        let text: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        let tail = last_lines(&text);
        assert_eq!(tail.lines().count(), TAIL_LINES);
        assert!(tail.ends_with("line 99"));
    }
}
