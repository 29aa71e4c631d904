//! The position up to which each transcript was sent, stored on this machine, so that nothing is sent twice.
//!
//! A part is recorded before it is sent and removed from the record afterwards. If a hook is killed in between, the
//! next one sends the same part under the same key, and the service executes it once.

use crate::cli::client::Failure;
use crate::cli::handoff;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum that is read of a transcript at once; of more, the end.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// The pause between attempts to get a lock that another hook of the session holds.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Records of sessions without activity for this long are removed.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// A part of a transcript, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    from: u64,
    to: u64,
}

/// The stored record.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Noted {
    sent: u64,
    pending: Option<Span>,
}

/// The position of one transcript, locked against other hooks.
#[derive(Debug)]
pub(super) struct Position {
    name: String,
    file: PathBuf,
    noted: Noted,
    /// Locked as long as it is open.
    _lock: File,
}

impl Position {
    /// Opens that of a session's transcript; waits for another hook that holds the lock.
    pub(super) async fn of(session: &str, transcript: &Path) -> Result<Self, Failure> {
        let folder = handoff::home()?.join("hooks");
        Self::below(&folder, session, transcript).await
    }

    async fn below(folder: &Path, session: &str, transcript: &Path) -> Result<Self, Failure> {
        let broken = |error: io::Error| Failure::failed(format!("{}: {error}", folder.display()));
        let mut hash = Sha256::new();
        hash.update(session.as_bytes());
        hash.update([0]);
        hash.update(transcript.as_os_str().as_encoded_bytes());
        let name = hex::encode(&hash.finalize()[..16]);
        fs::create_dir_all(folder).map_err(broken)?;
        forget(folder);
        let lock = File::create(folder.join(format!("{name}.lock"))).map_err(broken)?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
                Err(TryLockError::Error(error)) => return Err(broken(error)),
            }
        }
        let file = folder.join(format!("{name}.json"));
        let noted = match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| Failure::failed(format!("{} is damaged: {error}", file.display())))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Noted::default(),
            Err(error) => return Err(broken(error)),
        };
        Ok(Self {
            name,
            file,
            noted,
            _lock: lock,
        })
    }

    /// The next part to send: the recorded one, or else all whole lines after the position.
    pub(super) fn next(&self, transcript: &Path) -> Result<Option<Span>, Failure> {
        if let Some(pending) = self.noted.pending {
            return Ok(Some(pending));
        }
        let span = self.new_lines(transcript);
        span.map_err(|error| Failure::failed(format!("the transcript {}: {error}", transcript.display())))
    }

    fn new_lines(&self, transcript: &Path) -> io::Result<Option<Span>> {
        // Reading a pipe might never end.
        if !fs::metadata(transcript)?.is_file() {
            return Err(io::Error::other("is no file"));
        }
        let length = fs::metadata(transcript)?.len();
        let from = self.noted.sent.max(length.saturating_sub(MOST_BYTES));
        if from >= length {
            return Ok(None);
        }
        let bytes = Span { from, to: length }.bytes(transcript)?;
        let end = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at as u64 + 1);
        Ok((end > 0).then_some(Span { from, to: from + end }))
    }

    /// The `Idempotency-Key` of a part.
    pub(super) fn key(&self, span: Span) -> String {
        format!("hook-{}-{}-{}", self.name, span.from, span.to)
    }

    /// Records that a part is about to be sent.
    pub(super) fn begin(&mut self, span: Span) -> Result<(), Failure> {
        self.noted.pending = Some(span);
        self.write()
    }

    /// Records that it was sent.
    pub(super) fn done(&mut self, span: Span) -> Result<(), Failure> {
        self.noted = Noted {
            sent: span.to,
            pending: None,
        };
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        let broken = |error: io::Error| Failure::failed(format!("{}: {error}", self.file.display()));
        let text = serde_json::to_vec(&self.noted).map_err(|error| broken(error.into()))?;
        // Atomically.
        let unfinished = self.file.with_extension("new");
        fs::write(&unfinished, text).map_err(broken)?;
        fs::rename(&unfinished, &self.file).map_err(broken)
    }
}

impl Span {
    /// The bytes of the part, as far as they exist.
    pub(super) fn bytes(self, transcript: &Path) -> io::Result<Vec<u8>> {
        let mut file = File::open(transcript)?;
        file.seek(SeekFrom::Start(self.from))?;
        let mut bytes = Vec::new();
        file.take((self.to - self.from).min(MOST_BYTES))
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Removes old records. Errors are ignored.
fn forget(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry
            .metadata()
            .and_then(|data| data.modified())
            .map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age > FORGOTTEN_AFTER) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn of(folder: &Path, transcript: &Path) -> Position {
        Position::below(&folder.join("hooks"), "s", transcript)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn whole_lines_are_sent_once_and_an_unfinished_piece_again_under_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        fs::write(&transcript, "one\ntwo\nhalf a li").unwrap();
        let mut position = of(folder.path(), &transcript).await;
        let first = position.next(&transcript).unwrap().unwrap();
        assert_eq!(first, Span { from: 0, to: 8 });
        position.begin(first).unwrap();
        let key = position.key(first);
        drop(position);

        // The program was killed while sending, and the transcript has grown.
        fs::write(&transcript, "one\ntwo\nhalf a line\n").unwrap();
        let mut position = of(folder.path(), &transcript).await;
        assert_eq!(position.next(&transcript).unwrap(), Some(first));
        assert_eq!(position.key(first), key);
        position.done(first).unwrap();
        let second = position.next(&transcript).unwrap().unwrap();
        assert_eq!(second.bytes(&transcript).unwrap(), b"half a line\n");
        position.done(second).unwrap();
        drop(position);
        assert_eq!(
            of(folder.path(), &transcript).await.next(&transcript).unwrap(),
            None
        );
    }

    #[tokio::test]
    async fn only_the_end_of_a_huge_transcript_is_read_and_no_pipe_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        let lines = "x".repeat(1023) + "\n";
        fs::write(&transcript, lines.repeat(9 * 1024)).unwrap();
        let span = of(folder.path(), &transcript)
            .await
            .next(&transcript)
            .unwrap()
            .unwrap();
        assert_eq!(span.to - span.from, MOST_BYTES);
        assert!(
            of(folder.path(), folder.path())
                .await
                .next(folder.path())
                .is_err()
        );
    }
}
