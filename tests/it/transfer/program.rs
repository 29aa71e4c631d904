//! The program as its users run it, and a database filled by a service.

use crate::harness::{Service, holds};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use working_memory::domain::ids::{MemoryId, VaultId};
use working_memory::storage::Storage;
use working_memory::storage::transfer::{ImportOptions, Imported, OnConflict};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_working-memory");

/// The program with these arguments, in a folder without a configuration file.
pub(super) fn program(database: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .env("DATABASE_URL", database);
    command
}

/// Exports a vault to standard output; it must succeed.
#[track_caller]
pub(crate) fn export(database: &str, arguments: &[&str]) -> String {
    let mut export = program(database, &[&["export"], arguments].concat());
    let output = export.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "no progress where there is no terminal");
    String::from_utf8(output.stdout).unwrap()
}

/// Imports a text from standard input.
pub(super) fn import(database: &str, arguments: &[&str], text: &str) -> Output {
    let mut child = program(database, &[&["import"], arguments].concat())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The program stops reading after it rejected a line.
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The export of a vault, by the storage.
pub(crate) async fn exported(storage: &Storage, vault: &str) -> Vec<u8> {
    exported_of(storage, &vault.parse().unwrap(), None).await
}

/// The same, perhaps of one memory.
pub(crate) async fn exported_of(storage: &Storage, vault: &VaultId, memory: Option<&MemoryId>) -> Vec<u8> {
    let mut file = Vec::new();
    let export = storage.export_vault(vault, memory, &mut file);
    export.await.unwrap();
    file
}

/// Imports a file, by the storage.
pub(crate) async fn imported(
    storage: &Storage,
    file: &[u8],
    into_vault: Option<&str>,
    on_conflict: OnConflict,
) -> Result<Imported, String> {
    let options = ImportOptions {
        into_vault: into_vault.map(|vault| vault.parse().unwrap()),
        on_conflict,
    };
    let mut done = Imported::default();
    let import = storage.import_vault(file, &options, &mut done);
    import.await.map_err(|error| error.to_string())?;
    Ok(done)
}

/// Another service that imported the vault `acme` of this one, which had so many memories: it exports the same file, and a
/// second import changes nothing.
pub(crate) async fn copied(service: &Service, memories: u64) -> Service {
    let file = exported(service.storage(), "acme").await;
    let other = Service::start().await;
    let done = imported(other.storage(), &file, None, OnConflict::Fail)
        .await
        .unwrap();
    assert_eq!((done.created, done.unchanged), (memories, 0));
    assert_eq!(exported(other.storage(), "acme").await, file);
    let again = imported(other.storage(), &file, None, OnConflict::Fail)
        .await
        .unwrap();
    assert_eq!((again.created, again.unchanged), (0, memories));
    assert_eq!(exported(other.storage(), "acme").await, file);
    other
}

/// Imports; so many memories must be new, appended to, unchanged and skipped.
#[track_caller]
pub(crate) fn imports(database: &str, arguments: &[&str], text: &str, counts: [u64; 4]) {
    let output = import(database, arguments, text);
    assert!(output.status.success(), "{}", stderr(&output));
    let [new, appended, unchanged, skipped] = counts;
    let said = format!("{new} new, {appended} appended to, {unchanged} unchanged, {skipped} skipped");
    assert_eq!(stderr(&output).trim_end(), format!("memories: {said}"));
}

/// Imports; it must fail with exit code 1 and this error.
#[track_caller]
pub(super) fn refuses(database: &str, arguments: &[&str], text: &str, said: &str) {
    refuses_with(1, database, (arguments, text), said);
}

/// Like [`refuses`], with an exit code.
pub(super) fn refuses_with(code: i32, database: &str, (arguments, text): (&[&str], &str), said: &str) {
    let output = import(database, arguments, text);
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    holds(stderr(&output), &[said]);
}

/// The path of a test's file.
pub(super) fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// A service with three memories: `agent` with a history of everything, `plain` with one version, `Upper`.
pub(super) async fn filled() -> Service {
    let (service, agent) = Service::start().await.agent();
    agent.write("# Notes\nÄ € 漢字 \u{1F980} \u{1} \"quoted\" \\ back\ttab\r\n\n# Key Learnings\n- KL-1 because x: first\n").await;
    service.clock.advance(Duration::from_secs(61));
    agent.applied("KEY_LEARNINGS:\n  ADD:\n    - because it is so: second\n  ARCHIVE:\n    - KL-1 because it is over\n\
             VERBATIM_CONTEXT:\n  ADD:\n    - because it is next: Makefile =>\n      test:\n      \tcargo test\n").await;
    service.clock.advance(Duration::from_micros(1_234_567));
    // Archived without a reason, and then active again with its old first version.
    agent
        .write("# Key Learnings\n- KL-1 because y: first, again\n")
        .await;
    agent.updated(json!({"task": "Wrote the parser. Next: wire it up.", "messages": [
            {"role": "user", "content": "It turned out that CI has no database because nobody set one up."}]})).await;
    agent.archives("KL-99 because no").await;
    agent.applied("KEY_LEARNINGS:\n  (none)\n").await;
    service.memory("plain").write("only this").await;
    service.memory("Upper").write("A before a").await;
    service
}
