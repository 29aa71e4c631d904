//! `working-memory sync`: synchronises a folder of Markdown files with a root of the memory tool (docs/files.md): the command, the
//! two sides for the folder engine, and which files of a folder are meant.

use super::client::{Call, Failure, Look, Method, Output, Service, ServiceArgs, all, found, note};
use crate::cli::folder::engine::{Bases, Engine, Local, Report, Sent, Sides};
use crate::cli::folder::hash;
use crate::cli::folder::swap::{self, MAX_NAME_BYTES, Placed, conflict_paths};
use crate::cli::folder::tree::Tree;
use crate::cli::folder::watch;
use crate::config::limits::MOST_BYTES;
use crate::domain::handoff::Window as Length;
use crate::domain::ids::{MemoryId, RootName};
use crate::domain::memory_files::FilePath;
use crate::http::responses::PutFileBody;
use crate::storage::memories::paths::StoredFile;
use clap::Args;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// Arguments of `sync`.
#[derive(Debug, Args)]
pub struct Sync {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The tree of files on the service, as in the memory tool's `?root=`. Needed once: the folder stores it.
    #[arg(long, value_name = "ROOT")]
    root: Option<RootName>,
    /// Continue until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, the interval between two comparisons.
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "watch")]
    every: Length,
    /// All text files, not only Markdown.
    #[arg(long)]
    all: bool,
    /// Delete also more than half of the files at once.
    #[arg(long)]
    allow_deletions: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Sync {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let failed = |error| Failure::failed(format!("{} {error}", self.folder.display()));
        let tree = Tree::create(&self.folder).map_err(failed)?;
        let locked = tree.lock(FlockOperation::NonBlockingLockExclusive);
        locked.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => {
                Failure::failed(format!("another sync of {} is running", self.folder.display()))
            }
            _ => failed(error),
        })?;
        let state = self.state(State::read(&tree)?, &service)?;
        let bases = state.files.clone();
        let found = ScanResult::of(&tree, self.all).map_err(failed)?;
        let known = |path: &str, sha256: &str| bases.get(path).is_some_and(|base| base.sha256 == sha256);
        swap::recover(&tree, found.folders.iter().map(String::as_str), known)?;
        let mut root = Root {
            service: &service,
            tree,
            state,
            all: self.all,
            is_unsaved: false,
            skipped: BTreeMap::new(),
        };
        let mut engine = Engine::new(&mut root, bases);
        let mut reported: BTreeMap<String, String> = BTreeMap::new();
        watch(self.watch.then_some(&self.every), async |is_first| {
            let mut report = self.sync(&mut engine).await?;
            // Skipped files are reported once, not every two seconds.
            let skipped = report.skipped.clone();
            report.skipped.retain(|path, why| reported.get(path) != Some(why));
            reported = skipped;
            match is_first || !report.is_quiet() || !report.skipped.is_empty() {
                true => self.print(&report),
                false => Ok(()),
            }
        })
        .await
    }

    /// The state of the folder, which must match the vault and root given now.
    fn state(&self, stored: Option<State>, service: &Service) -> Result<State, Failure> {
        let (shown, vault) = (self.folder.display(), service.vault()?);
        let Some(state) = stored else {
            let root = self.root.as_ref().ok_or_else(|| {
                Failure::usage(format!(
                    "{shown} is not synchronised with anything yet: name with --root the tree of files in vault {vault}, such \
                     as --root agent-1"
                ))
            })?;
            return Ok(State {
                format: FORMAT,
                vault: vault.to_string(),
                root: root.to_string(),
                files: Bases::new(),
                memories: BTreeMap::new(),
            });
        };
        let other = self.root.as_ref().is_some_and(|root| root.as_str() != state.root);
        if other || state.vault != vault.as_str() {
            let State { root, vault, .. } = state;
            return Err(Failure::usage(format!(
                "{shown} is synchronised with root {root} of vault {vault}; use another folder for another root, or remove \
                 {NAME} in it"
            )));
        }
        Ok(state)
    }

    /// Makes both sides equal.
    async fn sync(&self, engine: &mut Engine<'_, Root<'_>>) -> Result<Report, Failure> {
        let mut report = engine.run(self.allow_deletions).await?;
        // The root is saved also if there are no files yet.
        if engine.bases.is_empty() || engine.sides.is_unsaved {
            engine.sides.save(&engine.bases).await?;
        }
        report.skipped.append(&mut engine.sides.skipped);
        Ok(report)
    }

    /// Prints what was done: one line per file, or with `--json` an object in one line.
    fn print(&self, report: &Report) -> Result<(), Failure> {
        let shown = self.folder.display();
        if self.service.is_json() {
            let mut body = json!(report);
            body["folder"] = shown.to_string().into();
            return Output::new().text(&body.to_string()).end().write();
        }
        // Line by line: a pager would hold up a folder that is watched.
        for (look, word, paths) in [
            (Look::Added, "sent", &report.sent),
            (Look::Added, "received", &report.received),
            (Look::Removed, "taken out there", &report.unlinked),
            (Look::Removed, "removed here", &report.removed),
        ] {
            for path in paths {
                let mut out = Output::new();
                out.styled(look, word).text(" ").text(path).end().write()?;
            }
        }
        if report.is_quiet() {
            let rest = if report.skipped.is_empty() {
                ""
            } else {
                ", but for what was skipped"
            };
            let line = format!("{shown}: both sides are equal{rest}");
            Output::new().text(&line).end().write()?;
        }
        for (path, copy) in &report.conflicts {
            note(&format!(
                "conflict: {path} was changed on both sides; it has the service's text now, and the folder's text is in {copy}"
            ));
        }
        for (path, why) in &report.skipped {
            note(&format!("skipped: {path}: {why}"));
        }
        Ok(())
    }
}

/// The route below the vault.
const FILES: [&str; 2] = ["memory-tool", "files"];

/// The name of the state file.
const NAME: &str = ".working-memory-sync.json";

/// The version of the file's format.
const FORMAT: u32 = 1;

/// The stored state of a folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    format: u32,
    /// The vault that the folder is synchronised with.
    vault: String,
    /// The root in it.
    root: String,
    /// By path below the folder, the base of each file.
    files: Bases,
    /// By path, the memory that each file is on the service.
    #[serde(default)]
    memories: BTreeMap<String, String>,
}

impl State {
    /// Reads the folder's file; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged. The state is not guessed: with a wrong base, deletions would look like new files.
    fn read(tree: &Tree) -> Result<Option<Self>, Failure> {
        let why = match tree.state::<Self>(NAME) {
            Ok(Some(state)) if state.format != FORMAT => format!("format {} is not supported", state.format),
            Ok(state) => return Ok(state),
            Err(error) => error.to_string(),
        };
        Err(Failure::failed(format!(
            "{NAME} is damaged ({why}); remove it to begin anew: then files that differ are kept twice, and deletions that \
             were not carried over come back"
        )))
    }
}

/// Both sides.
struct Root<'r> {
    service: &'r Service,
    tree: Tree,
    state: State,
    /// Whether files of all kinds are synchronised.
    all: bool,
    /// Whether memories were found that the state file does not have.
    is_unsaved: bool,
    /// What was skipped in the folder and on the service since the last scan began, and why.
    skipped: BTreeMap<String, String>,
}

impl Root<'_> {
    /// A request about a file.
    fn file(&self, method: Method, path: &str) -> Result<Call<'_>, Failure> {
        let call = self.service.of_vault(method, &FILES)?;
        let call = call.query("root", &self.state.root);
        Ok(call.query("path", format!("{ROOT}{path}")))
    }

    /// Whether the service has the text that a file had when both sides were equal. A file that is deleted there leaves its memory
    /// with all versions; a deleted memory, another service or a new database has none of them.
    async fn has_text(&self, path: &str) -> Result<bool, Failure> {
        let (Some(base), Some(memory)) = (self.state.files.get(path), self.state.memories.get(path)) else {
            return Ok(false);
        };
        let version = ["memories", memory, "contexts", &base.version];
        let answer = self.service.of_vault(Method::GET, &version)?.exchange().await?;
        match answer.status {
            404 => Ok(false),
            // It was redacted: what is not to be read there is not to be read here.
            410 => Ok(true),
            _ => answer.into_success(&format!("file {path}")).map(|_| true),
        }
    }

    fn remember(&mut self, path: &str, memory: &MemoryId) {
        let before = self.state.memories.insert(path.to_owned(), memory.to_string());
        self.is_unsaved |= before.is_none_or(|before| before != memory.as_str());
    }

    /// The result of a change. An error of a single file is reported and the other files continue; a full disk ends the work.
    fn placed(&mut self, path: &str, done: io::Result<Placed>) -> Result<Placed, Failure> {
        use ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        done.or_else(|error| match error.kind() {
            StorageFull | QuotaExceeded | ReadOnlyFilesystem => Err(self.tree.failed(path, &error)),
            _ => {
                self.skipped.insert(path.to_owned(), error.to_string());
                Ok(Placed::Blocked)
            }
        })
    }
}

impl Sides for Root<'_> {
    async fn local(&mut self, bases: &Bases) -> Result<BTreeMap<String, Local>, Failure> {
        let found = ScanResult::of(&self.tree, self.all);
        let found = found.map_err(|error| self.tree.failed("", &error))?;
        self.skipped = found.skipped;
        let mut files = found.files;
        for path in bases.keys() {
            if files.contains_key(path) {
                continue;
            }
            // Of a folder that could not be read nothing is known.
            if self
                .skipped
                .keys()
                .any(|skipped| skipped.ends_with('/') && path.starts_with(skipped))
            {
                files.insert(path.clone(), Local::Unusable);
                continue;
            }
            match self.tree.read(path) {
                // Below what is a file by now there is none.
                Err(error) if error.kind() == ErrorKind::NotADirectory => {}
                // A file behind a symbolic link does not count as deleted.
                Err(_) => drop(files.insert(path.clone(), Local::Unusable)),
                Ok(_) => {}
            }
        }
        Ok(files)
    }

    async fn remote(&mut self) -> Result<BTreeMap<String, String>, Failure> {
        let list = || {
            let call = self.service.of_vault(Method::GET, &FILES)?;
            Ok(call.query("root", &self.state.root))
        };
        let entries: Vec<StoredFile> = all(list).await?;
        let mut versions = BTreeMap::new();
        for entry in entries {
            match path_in_folder(entry.path.as_str()) {
                Ok(path) if is_wanted(path, self.all) => {
                    self.remember(path, &entry.memory_id);
                    versions.insert(path.to_owned(), entry.context_id.to_string());
                }
                Ok(_) => {}
                Err(why) => drop(self.skipped.insert(entry.path.to_string(), why)),
            }
        }
        Ok(versions)
    }

    async fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let read = self.tree.read(path);
        read.map_err(|error| self.tree.failed(path, &error))
    }

    async fn write(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Placed, Failure> {
        let done = match expected {
            Some(expected) => swap::replace(&self.tree, path, text.as_bytes(), expected),
            None => swap::create(&self.tree, path, text.as_bytes(), ""),
        };
        self.placed(path, done)
    }

    async fn remove(&mut self, path: &str, expected: &str) -> Result<Placed, Failure> {
        if !self.has_text(path).await? {
            let why = format!(
                "the service has neither the file nor its text: the memory was deleted, or this is another service; delete the \
                 file here too, or send it again by removing {NAME}"
            );
            self.skipped.insert(path.to_owned(), why);
            return Ok(Placed::Blocked);
        }
        let done = swap::remove(&self.tree, path, expected);
        self.placed(path, done)
    }

    async fn keep(&mut self, path: &str, text: &[u8]) -> Result<String, Failure> {
        let kept = swap::keep(&self.tree, path, conflict_paths(path, &hash(text)), text);
        kept.map_err(|error| self.tree.failed(path, &error))
    }

    async fn fetch(&mut self, path: &str) -> Result<Option<(String, String)>, Failure> {
        let Some(memory) = self.state.memories.get(path) else {
            return Ok(None);
        };
        let call = self
            .service
            .of_vault(Method::GET, &["memories", memory, "context"])?;
        let Some(answer) = found(call.accept("text/plain").send().await)? else {
            return Ok(None);
        };
        let version = answer.version()?.trim_matches('"').to_owned();
        Ok(Some((version, answer.text()?.to_owned())))
    }

    async fn send(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Sent, Failure> {
        let call = self.file(Method::PUT, path)?.text(text.as_bytes().to_vec());
        let answer = call.on_version(expected)?.exchange().await?;
        let status = answer.status;
        match answer.into_success(&format!("file {path}")) {
            Ok(answer) => {
                let written: PutFileBody = answer.json()?;
                self.remember(path, &written.file.memory_id);
                Ok(Sent::Version(written.file.context_id.to_string()))
            }
            Err(_) if status == 412 => Ok(Sent::Moved),
            // These are caused by the file; others can continue.
            Err(failure) if matches!(status, 409 | 413 | 422) => Ok(Sent::Refused(failure.sentence)),
            Err(failure) => Err(failure),
        }
    }

    async fn unlink(&mut self, path: &str, version: &str) -> Result<bool, Failure> {
        let call = self.file(Method::DELETE, path)?;
        let answer = call.if_match(Some(version))?.exchange().await?;
        if matches!(answer.status, 404 | 412) {
            return Ok(false);
        }
        answer.into_success(&format!("file {path}")).map(|_| true)
    }

    async fn save(&mut self, bases: &Bases) -> Result<(), Failure> {
        self.state.files.clone_from(bases);
        self.state.memories.retain(|path, _| bases.contains_key(path));
        self.is_unsaved = false;
        self.tree.save(NAME, &self.state)
    }
}

/// The root of the paths on the service.
const ROOT: &str = "/memories/";

/// The most files that a folder may have.
const MAX_FILES: usize = 20_000;

/// The maximum depth of folders; the service accepts no more.
const MAX_DEPTH: usize = 19;

/// The result of a scan.
#[derive(Debug, Default)]
struct ScanResult {
    /// By path, files to synchronise, and entries at the path of such a file that are not files.
    files: BTreeMap<String, Local>,
    /// What was skipped, and why.
    skipped: BTreeMap<String, String>,
    /// The folders, each with a trailing slash, but for the first.
    folders: Vec<String>,
}

impl ScanResult {
    /// Scans a folder for the files to synchronise: Markdown only, or all text files.
    ///
    /// # Errors
    /// A folder cannot be read, or there are too many files.
    fn of(tree: &Tree, all: bool) -> io::Result<Self> {
        let mut found = Self {
            folders: vec![String::new()],
            ..Self::default()
        };
        let mut next = 0;
        while let Some(above) = found.folders.get(next).cloned() {
            next += 1;
            match found.scan_folder(tree, all, &above) {
                Err(error) if error.kind() == ErrorKind::PermissionDenied && !above.is_empty() => {
                    found.skipped.insert(above, error.to_string());
                }
                scanned => scanned?,
            }
        }
        Ok(found)
    }

    fn scan_folder(&mut self, tree: &Tree, all: bool, above: &str) -> io::Result<()> {
        let Some((folder, _)) = tree.parent(&format!("{above}x"), false)? else {
            return Ok(());
        };
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                let shown = format!("{above}{}", entry.file_name().to_string_lossy());
                self.skipped.insert(shown, "its name is not UTF-8".to_owned());
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            let path = format!("{above}{name}");
            let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(rustix::io::Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            let kind = FileType::from_raw_mode(stat.st_mode);
            if kind == FileType::Directory {
                match path.matches('/').count() + 1 < MAX_DEPTH {
                    true => self.folders.push(format!("{path}/")),
                    false => drop(self.skipped.insert(path, "it is too deep".to_owned())),
                }
                continue;
            }
            let leads_to_folder = || {
                let target = rustix::fs::statat(&folder, name, AtFlags::empty());
                target.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
            };
            let is_reported = is_wanted(&path, all) || kind == FileType::Symlink && leads_to_folder();
            if !is_reported {
                continue;
            }
            if self.files.len() >= MAX_FILES {
                return Err(io::Error::other(format!("has over {MAX_FILES} files")));
            }
            let local = match read(tree, &path, kind, stat.st_size) {
                Ok(sha256) => Local::Text(sha256),
                Err(why) => {
                    self.skipped.insert(path.clone(), why);
                    Local::Unusable
                }
            };
            self.files.insert(path, local);
        }
        Ok(())
    }
}

/// The hash of a file of so many bytes that can be synchronised, or why it cannot.
fn read(tree: &Tree, path: &str, kind: FileType, bytes: i64) -> Result<String, String> {
    check(path)?;
    match kind {
        FileType::RegularFile => {}
        FileType::Symlink => return Err("it is a symbolic link, which is not followed".to_owned()),
        _ => return Err("it is not a regular file".to_owned()),
    }
    let too_large = || format!("it is over {MOST_BYTES} bytes");
    // What no service accepts is not read every two seconds.
    if u64::try_from(bytes).is_ok_and(|bytes| bytes > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let bytes = tree.read(path).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("it went away")?;
    if bytes.len() > MOST_BYTES {
        return Err(too_large());
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8")?;
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    Ok(hash(text.as_bytes()))
}

/// The path below the folder of a file on the service. The service is not trusted.
///
/// # Errors
///
/// Why the path is not allowed.
fn path_in_folder(path: &str) -> Result<&str, String> {
    let relative = path.strip_prefix(ROOT).ok_or("it is no path below /memories")?;
    check(relative).map(|()| relative)
}

/// Checks a path below the folder: the service spells it alike, and it cannot leave the folder or be hidden.
///
/// # Errors
///
/// Why the path is not allowed.
fn check(relative: &str) -> Result<(), String> {
    let whole = format!("{ROOT}{relative}");
    let path = FilePath::parse(&whole).map_err(|refusal| refusal.to_string())?;
    if path.as_str() != whole {
        return Err("its name is not spelt in NFC; rename it".to_owned());
    }
    for name in relative.split('/') {
        if name.starts_with('.') {
            return Err("hidden files and folders are left alone".to_owned());
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(format!("a name in its path is over {MAX_NAME_BYTES} bytes"));
        }
    }
    Ok(())
}

/// Whether a file is synchronised: Markdown only, or any file with `all`.
fn is_wanted(relative: &str, all: bool) -> bool {
    let extension = relative.rsplit_once('.').map(|(_, extension)| extension);
    all || extension.is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_folder_and_are_the_same_on_both_sides() {
        for relative in ["a.md", "notes/tea ü 漢.md", "x/y/z.txt"] {
            check(relative).unwrap();
            assert_eq!(path_in_folder(&format!("{ROOT}{relative}")).unwrap(), relative);
        }
        let long = format!("{}.md", "ä".repeat(78));
        for copy in conflict_paths(&long, "0123456789abcdef").take(9) {
            assert!(check(&copy).is_ok(), "{copy}");
        }
        let bad = "|/etc/passwd|/memories|/memories/|/memories/../x.md|/memories/a//b.md|/memories/a/|\
                   /memories/.ssh/id.md|/memories/a\\b.md|/memories/a\nb.md|/memories/%2e%2e/x.md|/memoriesx/a.md|\
                   /memories/u\u{308}.md";
        for bad in bad.split('|') {
            assert!(path_in_folder(bad).is_err(), "{bad:?}");
        }
        let long = "x".repeat(161);
        for bad in ["u\u{308}.md", ".a.md", "a/.b/c.md", "a\\b.md", "", &long] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
