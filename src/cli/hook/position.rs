//! The position up to which each transcript was sent, stored on this machine, so that nothing is sent twice.
//!
//! A part is recorded for the memory it was said for before it is sent, and removed from the record afterwards. If a hook is killed
//! in between, or the service is away, the next one sends the same part under the same key, and the service executes it once. What
//! the last hook of a session could not send is sent by a hook of a later session of the same memory, also if the session goes on
//! in another one. A transcript that no longer has what was recorded at that position was rewritten by its host and is sent from its
//! beginning.

use crate::cli::client::{Failure, note};
use crate::cli::folder::tree::Tree;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum that is read of a transcript at once; of more, the end.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// How much of what was sent last is compared, to notice that the host rewrote the transcript.
const COMPARED_BYTES: u64 = 4 * 1024;

/// The pause between attempts to get a lock that another hook of the session holds.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Records of sessions without activity for this long are removed.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// A part of a transcript: its position in bytes, and the digest of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    from: u64,
    to: u64,
    digest: String,
}

impl Span {
    /// Its text, if the transcript still has it.
    fn text_in(&self, transcript: &Path) -> io::Result<Option<Vec<u8>>> {
        let text = bytes(transcript, self.from, self.to)?;
        Ok((digest(&[&text]) == self.digest).then_some(text))
    }
}

/// A session's transcript, and the memory that it is sent to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Source {
    pub(super) session: String,
    pub(super) transcript: PathBuf,
    /// `vault/memory`.
    pub(super) memory: String,
}

/// The stored record.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Noted {
    /// Up to here everything is sent or recorded.
    sent: u64,
    /// The digest of the last bytes before that position.
    end: Option<String>,
    /// What is to be sent, and where it is from, for hooks of other sessions.
    #[serde(default)]
    recorded: Vec<(Span, Source)>,
    /// The same of earlier versions of this program: one part, behind that position.
    #[serde(default, skip_serializing)]
    pending: Option<(Span, Source)>,
}

impl Noted {
    /// Takes over what an earlier version of this program noted, unless the host has rewritten it since.
    fn record_pending(&mut self) {
        let Some((span, source)) = self.pending.take() else {
            return;
        };
        if let Ok(Some(_)) = span.text_in(&source.transcript) {
            (self.sent, self.end) = (span.to, end_of(&source.transcript, span.to).ok());
            self.recorded.push((span, source));
        }
    }
}

/// The position of one transcript, locked against other hooks.
#[derive(Debug)]
pub(super) struct Position {
    name: String,
    tree: Tree,
    noted: Noted,
    /// Locked as long as it is open.
    _lock: File,
}

impl Position {
    /// Opens that of a session's transcript in this folder; waits for another hook that holds the lock.
    pub(super) async fn of(folder: &Path, source: &Source) -> Result<Self, Failure> {
        let broken = |error: io::Error| Failure::failed(format!("{}: {error}", folder.display()));
        let transcript = source.transcript.as_os_str().as_encoded_bytes();
        let name = digest(&[source.session.as_bytes(), &[0], transcript]);
        let tree = Tree::create(folder).map_err(broken)?;
        forget(folder);
        let lock = File::create(folder.join(format!("{name}.lock"))).map_err(broken)?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
                Err(TryLockError::Error(error)) => return Err(broken(error)),
            }
        }
        let file = state_file(&name);
        let noted = match tree.state(&file) {
            // As of another version of this program: what was sent is unknown.
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                let file = folder.join(&file);
                note(&format!(
                    "working-memory: {} cannot be parsed, so the transcript is sent from its beginning: {error}",
                    file.display()
                ));
                None
            }
            noted => noted.map_err(broken)?,
        };
        let mut noted: Noted = noted.unwrap_or_default();
        noted.record_pending();
        Ok(Self {
            noted,
            name,
            tree,
            _lock: lock,
        })
    }

    /// Records what is new in the transcript for this memory: all whole lines after the position.
    pub(super) fn record(&mut self, source: &Source) -> Result<(), Failure> {
        let new = self.new_part(&source.transcript);
        let Some(span) = new.map_err(|error| unreadable(source, &error))? else {
            return Ok(());
        };
        self.noted.sent = span.to;
        self.noted.end = end_of(&source.transcript, span.to).ok();
        self.noted.recorded.push((span, source.clone()));
        self.write()
    }

    fn new_part(&self, transcript: &Path) -> io::Result<Option<Span>> {
        // Reading a pipe might never end.
        let metadata = fs::metadata(transcript)?;
        if !metadata.is_file() {
            return Err(io::Error::other("is not a file"));
        }
        let length = metadata.len();
        let is_as_sent = match &self.noted.end {
            Some(end) => *end == end_of(transcript, self.noted.sent)?,
            // As earlier versions of this program noted it.
            None => self.noted.sent <= length,
        };
        let sent = if is_as_sent { self.noted.sent } else { 0 };
        let from = sent.max(length.saturating_sub(MOST_BYTES));
        if from > sent {
            let skipped = from - sent;
            note(&format!(
                "working-memory: {skipped} older bytes of the transcript are skipped"
            ));
        }
        let mut text = bytes(transcript, from, length)?;
        let end = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        text.truncate(end);
        let span = Span {
            from,
            to: from + end as u64,
            digest: digest(&[&text]),
        };
        Ok((end > 0).then_some(span))
    }

    /// The first part that is recorded for this memory, with its text. What the host has rewritten since is left out.
    pub(super) fn next(&mut self, source: &Source) -> Result<Option<(Span, Vec<u8>)>, Failure> {
        let of_memory = |(_, of): &&(Span, Source)| of.memory == source.memory;
        while let Some((span, _)) = self.noted.recorded.iter().find(of_memory).cloned() {
            let text = span.text_in(&source.transcript);
            if let Some(text) = text.map_err(|error| unreadable(source, &error))? {
                return Ok(Some((span, text)));
            }
            self.noted.recorded.retain(|(recorded, _)| *recorded != span);
        }
        Ok(None)
    }

    /// The `Idempotency-Key` of a part.
    pub(super) fn key(&self, span: &Span) -> String {
        // By its text, too: after a rewrite there is another one at the same position.
        format!("hook-{}-{}-{}-{}", self.name, span.digest, span.from, span.to)
    }

    /// Records that a part was sent.
    pub(super) fn done(&mut self, span: &Span) -> Result<(), Failure> {
        self.noted.recorded.retain(|(recorded, _)| recorded != span);
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        self.tree.save(&state_file(&self.name), &self.noted)
    }
}

/// The sessions of a memory with a part that their own hooks could not send.
pub(super) fn unsent(folder: &Path, memory: &str) -> Vec<Source> {
    let noted = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| {
            // The locks are no JSON.
            serde_json::from_slice::<Noted>(&fs::read(file.path()).ok()?).ok()
        });
    // One of each transcript: all its parts are sent together.
    let of_memory = |noted: Noted| {
        let parts = noted.recorded.into_iter().chain(noted.pending);
        let mut sources = parts.map(|(_, source)| source);
        sources.find(|source| source.memory == memory && source.transcript.is_file())
    };
    noted.filter_map(of_memory).collect()
}

fn unreadable(source: &Source, error: &io::Error) -> Failure {
    Failure::failed(format!("the transcript {}: {error}", source.transcript.display()))
}

fn state_file(name: &str) -> String {
    format!("{name}.json")
}

/// The bytes between two positions, as far as they exist.
fn bytes(transcript: &Path, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(transcript)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(to.saturating_sub(from).min(MOST_BYTES))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The digest of the last bytes before a position.
fn end_of(transcript: &Path, position: u64) -> io::Result<String> {
    let from = position.saturating_sub(COMPARED_BYTES);
    Ok(digest(&[&bytes(transcript, from, position)?]))
}

pub(super) fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hex::encode(&hash.finalize()[..16])
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

    fn source(transcript: &Path) -> Source {
        Source {
            session: "s".to_owned(),
            transcript: transcript.to_owned(),
            memory: "v/m".to_owned(),
        }
    }

    async fn of(folder: &Path, transcript: &Path) -> Position {
        let source = source(transcript);
        let mut position = Position::of(&folder.join("hooks"), &source).await.unwrap();
        let _ = position.record(&source);
        position
    }

    #[tokio::test]
    async fn only_the_end_of_a_huge_transcript_is_read_and_no_pipe_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        let lines = "x".repeat(1023) + "\n";
        fs::write(&transcript, lines.repeat(9 * 1024)).unwrap();
        let mut position = of(folder.path(), &transcript).await;
        let (span, text) = position.next(&source(&transcript)).unwrap().unwrap();
        assert_eq!(text.len() as u64, MOST_BYTES);
        assert_eq!(span.from, 1024 * 1024);
        let mut of_folder = of(folder.path(), folder.path()).await;
        assert!(of_folder.record(&source(folder.path())).is_err());
    }

    #[tokio::test]
    async fn a_position_of_an_earlier_version_counts() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        fs::write(&transcript, "{}\n[]\n").unwrap();
        let name = of(folder.path(), &transcript).await.name;
        let file = folder.path().join("hooks").join(state_file(&name));
        // Of the last one the transcript has become shorter since.
        for (sent, from) in [(0, 0), (3, 3), (9, 0)] {
            fs::write(&file, format!(r#"{{"sent":{sent},"pending":null}}"#)).unwrap();
            let mut position = of(folder.path(), &transcript).await;
            assert_eq!(
                position.next(&source(&transcript)).unwrap().unwrap().0.from,
                from,
                "{sent}"
            );
        }
    }

    #[tokio::test]
    async fn a_part_that_an_earlier_version_could_not_send_is_sent_also_after_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        fs::write(&transcript, "{}\n[]\n").unwrap();
        let source = source(&transcript);
        let hooks = folder.path().join("hooks");
        let name = Position::of(&hooks, &source).await.unwrap().name;
        let span = serde_json::json!({"from": 0, "to": 3, "digest": digest(&[b"{}\n"])});
        let noted = serde_json::json!({"sent": 0, "end": null, "pending": [span, source]});
        fs::write(hooks.join(state_file(&name)), noted.to_string()).unwrap();
        assert_eq!(unsent(&hooks, "v/m").len(), 1);
        let mut position = Position::of(&hooks, &source).await.unwrap();
        let (span, text) = position.next(&source).unwrap().unwrap();
        assert_eq!((span.from, &text[..]), (0, &b"{}\n"[..]));
        position.done(&span).unwrap();
        assert!(unsent(&hooks, "v/m").is_empty());
        position.record(&source).unwrap();
        assert_eq!(position.next(&source).unwrap().unwrap().1, b"[]\n");
    }

    #[tokio::test]
    async fn a_position_that_cannot_be_parsed_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        fs::write(&transcript, "{}\n").unwrap();
        let name = of(folder.path(), &transcript).await.name;
        let file = folder.path().join("hooks").join(state_file(&name));
        let pending =
            r#"{"sent": 3, "end": null, "pending": {"from": 0, "to": 3, "digest": "", "skipped": 0}}"#;
        for text in ["", "{", pending] {
            fs::write(&file, text).unwrap();
            let mut position = of(folder.path(), &transcript).await;
            let (span, lines) = position.next(&source(&transcript)).unwrap().unwrap();
            assert_eq!((span.from, span.to, &lines[..]), (0, 3, &b"{}\n"[..]), "{text}");
            // From then on it can be parsed.
            position.done(&span).unwrap();
            drop(position);
            let mut position = of(folder.path(), &transcript).await;
            assert!(position.next(&source(&transcript)).unwrap().is_none(), "{text}");
        }
    }
}
