//! Without `DATABASE_URL`: the embedded database, while no service uses it.

use super::program::{export, filled, stderr};
use crate::process::keys::{fails, program};
use crate::process::program::folder;
use working_memory::storage::embedded::{EmbeddedOptions, EmbeddedServer};

#[tokio::test]
async fn import_export_and_migrate_use_the_embedded_database_unless_a_service_runs() {
    if crate::embedded::ran_as_account() {
        return;
    }
    let service = filled().await;
    let folder = folder();
    let file = export(&service.database_url(), &["--vault", "acme"]);
    std::fs::write(folder.path().join("file.jsonl"), &file).unwrap();
    let made = EmbeddedServer::start(EmbeddedOptions {
        data_dir: folder.path().join("data"),
        throw_away: false,
        max_connections: 2,
    });
    made.await.unwrap().stop().await.unwrap();
    let output = program(folder.path(), "import file.jsonl");
    assert!(output.status.success(), "{}", stderr(&output));
    let output = program(folder.path(), "export --vault acme");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), file);
    for arguments in ["migrate --down-to 0", "migrate"] {
        let output = program(folder.path(), arguments);
        assert!(output.status.success(), "{arguments}: {}", stderr(&output));
    }
    // The way down removed what the migrations had added.
    fails(&program(folder.path(), "export --vault acme"), &["vault"]);

    let lock = std::fs::File::open(folder.path().join("data/service.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let locked = program(folder.path(), "export --vault acme");
    fails(&locked, &["is in use by another working-memory service"]);
}
