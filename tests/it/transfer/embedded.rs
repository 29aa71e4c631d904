//! Without `DATABASE_URL`: the embedded database, while no service uses it.

use super::program::{export, filled, stderr};
use crate::harness::holds;
use std::path::Path;
use std::process::{Command, Output};
use working_memory::storage::embedded::{EmbeddedOptions, EmbeddedServer};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(super::program::PROGRAM)
        .args(arguments)
        .current_dir(folder)
        .env_remove("DATABASE_URL")
        .env("WORKING_MEMORY__DATABASE__DATA_DIR", folder.join("data"))
        .output()
        .unwrap()
}

#[tokio::test]
async fn import_and_export_use_the_embedded_database_unless_a_service_runs() {
    if crate::embedded::ran_as_account() {
        return;
    }
    let service = filled().await;
    let folder = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir()
        .unwrap();
    let empty = run(folder.path(), &["export", "--vault", "acme"]);
    assert_eq!(empty.status.code(), Some(1));
    holds(stderr(&empty), &["there is no database in the folder"]);
    assert!(
        !folder.path().join("data").exists(),
        "an export makes no database"
    );

    let file = export(&service.database_url(), &["--vault", "acme"]);
    let path = folder.path().join("file.jsonl");
    std::fs::write(&path, &file).unwrap();
    let refused = run(folder.path(), &["import", path.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        !folder.path().join("data").exists(),
        "an import makes no database"
    );
    let made = EmbeddedServer::start(EmbeddedOptions {
        data_dir: folder.path().join("data"),
        throw_away: false,
        max_connections: 2,
    });
    made.await.unwrap().stop().await.unwrap();
    let output = run(folder.path(), &["import", path.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = run(folder.path(), &["export", "--vault", "acme"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), file);

    let lock = std::fs::File::open(folder.path().join("data/service.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let locked = run(folder.path(), &["export", "--vault", "acme"]);
    assert_eq!(locked.status.code(), Some(1));
    holds(stderr(&locked), &["is in use by another working-memory service"]);
}
