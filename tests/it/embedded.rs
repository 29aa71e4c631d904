//! The embedded PostgreSQL, started from the binaries installed on this machine.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use working_memory::storage::embedded::{EmbeddedError, EmbeddedOptions, EmbeddedServer};

fn options(data_dir: &Path) -> EmbeddedOptions {
    EmbeddedOptions {
        data_dir: data_dir.to_owned(),
        throw_away: false,
        max_connections: 20,
    }
}

async fn start(data_dir: &Path) -> EmbeddedServer {
    EmbeddedServer::start(options(data_dir)).await.unwrap()
}

async fn start_durable(data_dir: &Path) -> EmbeddedServer {
    EmbeddedServer::start(EmbeddedOptions {
        throw_away: false,
        ..options(data_dir)
    })
    .await
    .unwrap()
}

async fn execute(url: &str, sql: &'static str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(sql).execute(&mut connection).await?;
    connection.close().await
}

async fn text(url: &str, sql: &'static str) -> Result<String, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::query_scalar(sql).fetch_one(&mut connection).await
}

async fn setting(url: &str, sql: &'static str) -> String {
    text(url, sql).await.unwrap()
}

/// Process id of the server, from its pid file.
fn server_pid(data_dir: &Path) -> Option<Pid> {
    let text = fs::read_to_string(data_dir.join("postgres/cluster/postmaster.pid")).ok()?;
    Pid::from_raw(text.lines().next()?.parse().ok()?)
}

async fn eventually(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !done().await {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "not within 30 seconds: {what}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_new_cluster_is_ready_in_seconds_and_keeps_its_data_after_a_restart() {
    let dir = TempDir::new().unwrap();
    let began = Instant::now();
    let server = start_durable(dir.path()).await;
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "new cluster: {:?}",
        began.elapsed()
    );
    execute(&server.url(), "CREATE TABLE kept AS SELECT 'still here' AS word")
        .await
        .unwrap();
    let url = server.url();
    server.stop().await.unwrap();
    assert!(
        PgConnection::connect(&url).await.is_err(),
        "a stopped server answers"
    );

    let began = Instant::now();
    let server = start_durable(dir.path()).await;
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "existing cluster: {:?}",
        began.elapsed()
    );
    assert_eq!(
        setting(&server.url(), "SELECT word FROM kept").await,
        "still here"
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn the_server_is_private_durable_and_reads_unicode() {
    let dir = TempDir::new().unwrap();
    let server = start_durable(dir.path()).await;
    let url = server.url();
    assert!(
        url.starts_with("postgres://working_memory@localhost:5432/working_memory?host=/"),
        "{url}"
    );
    assert_eq!(
        setting(&url, "SELECT current_setting('listen_addresses')").await,
        ""
    );
    assert_eq!(setting(&url, "SELECT current_setting('fsync')").await, "on");
    assert_eq!(
        setting(&url, "SELECT current_setting('synchronous_commit')").await,
        "on"
    );
    assert_eq!(
        setting(&url, "SELECT current_setting('full_page_writes')").await,
        "on"
    );
    assert_eq!(
        setting(&url, "SELECT current_setting('server_encoding')").await,
        "UTF8"
    );
    assert_eq!(setting(&url, "SELECT lower('ÄÖ')").await, "äö");
    let run = dir.path().join("postgres/run");
    assert_eq!(fs::metadata(run).unwrap().permissions().mode() & 0o777, 0o700);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn the_server_log_does_not_repeat_what_clients_send() {
    let dir = TempDir::new().unwrap();
    let server = start(dir.path()).await;
    execute(
        &server.url(),
        "CREATE TABLE t (word text PRIMARY KEY); INSERT INTO t VALUES ('hush')",
    )
    .await
    .unwrap();
    execute(&server.url(), "INSERT INTO t VALUES ('hush')")
        .await
        .unwrap_err();
    server.stop().await.unwrap();
    let log = fs::read_to_string(dir.path().join("postgres/server.log")).unwrap();
    assert!(
        log.contains("database system is ready") && !log.contains("hush"),
        "{log}"
    );
}

#[tokio::test]
async fn a_killed_server_restarts_with_all_committed_data() {
    let dir = TempDir::new().unwrap();
    let server = start_durable(dir.path()).await;
    let url = server.url();
    execute(&url, "CREATE TABLE kept AS SELECT 'still here' AS word")
        .await
        .unwrap();
    for _ in 0..2 {
        let killed = server_pid(dir.path()).unwrap();
        kill_process(killed, Signal::KILL).unwrap();
        eventually("the server is back", async || {
            server_pid(dir.path()).is_some_and(|pid| pid != killed)
                && text(&url, "SELECT word FROM kept")
                    .await
                    .is_ok_and(|word| word == "still here")
        })
        .await;
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_dropped_server_stops_and_releases_its_folder() {
    let dir = TempDir::new().unwrap();
    let server = start(dir.path()).await;
    let url = server.url();
    drop(server);
    eventually("the server has stopped", async || {
        PgConnection::connect(&url).await.is_err()
    })
    .await;
    eventually("the folder is free", async || {
        match EmbeddedServer::start(options(dir.path())).await {
            Ok(server) => server.stop().await.is_ok(),
            Err(_) => false,
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_service_on_one_folder_is_rejected_with_the_owner_in_the_error() {
    let dir = TempDir::new().unwrap();
    let server = start(dir.path()).await;
    let refused = EmbeddedServer::start(options(dir.path())).await.unwrap_err();
    assert!(matches!(refused, EmbeddedError::InUse { pid: Some(pid), .. } if pid == std::process::id()));
    assert!(
        refused
            .to_string()
            .contains("is in use by another working-memory service"),
        "{refused}"
    );
    assert_eq!(setting(&server.url(), "SELECT 'fine'").await, "fine");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn an_interrupted_initdb_is_repeated() {
    let dir = TempDir::new().unwrap();
    // The state after an interrupted start: the server's home contains a cluster under a temporary name.
    start(dir.path()).await.stop().await.unwrap();
    let home = dir.path().join("postgres");
    fs::rename(home.join("cluster"), home.join("cluster.new")).unwrap();
    fs::remove_file(home.join("cluster.new/global/pg_control")).unwrap();
    let server = start(dir.path()).await;
    assert_eq!(setting(&server.url(), "SELECT 'fine'").await, "fine");
    assert!(!home.join("cluster.new").exists());
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_path_that_is_too_long_or_unusual_for_a_socket_works() {
    for name in ["x".repeat(120), "it's, a \"folder\" & more".to_owned()] {
        let dir = TempDir::new().unwrap();
        let data_dir = dir.path().join(name);
        let server = start(&data_dir).await;
        let url = server.url();
        assert_eq!(setting(&url, "SELECT 'fine'").await, "fine");
        let socket_dir = url.split_once("host=").unwrap().1.split('&').next().unwrap();
        assert!(socket_dir.starts_with("/tmp/working-memory-"), "{url}");
        server.stop().await.unwrap();
        assert!(!Path::new(socket_dir).exists());
    }
}

#[tokio::test]
async fn a_server_that_cannot_start_shows_the_end_of_its_log() {
    let dir = TempDir::new().unwrap();
    start(dir.path()).await.stop().await.unwrap();
    fs::remove_file(dir.path().join("postgres/cluster/global/pg_control")).unwrap();
    let error = EmbeddedServer::start(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, EmbeddedError::Start { .. }), "{error:?}");
    assert!(error.to_string().contains("pg_control"), "{error}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_created_is_named() {
    let error = EmbeddedServer::start(options(Path::new("/dev/null/data")))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("cannot make /dev/null/data"), "{error}");
}

#[tokio::test]
async fn as_root_a_folder_that_the_account_cannot_reach_gets_its_cluster_elsewhere() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
    // The folder contains other files, so its mode stays 0700, which keeps the account out.
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let options = EmbeddedOptions {
        throw_away: true,
        ..options(dir.path())
    };
    let server = EmbeddedServer::start(options).await.unwrap();
    assert_eq!(setting(&server.url(), "SELECT 'fine'").await, "fine");
    server.stop().await.unwrap();
    let elsewhere = fs::read_link(dir.path().join("postgres")).unwrap();
    assert!(elsewhere.join("cluster/PG_VERSION").is_file());
    fs::remove_dir_all(elsewhere).unwrap();
}

#[tokio::test]
async fn as_root_a_private_data_folder_stays_owned_by_root_and_lets_the_account_through() {
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
    let server = start(dir.path()).await;
    assert_eq!(setting(&server.url(), "SELECT 'fine'").await, "fine");
    server.stop().await.unwrap();
    assert!(!dir.path().join("postgres").is_symlink());
    let owner = fs::metadata(dir.path()).unwrap().uid();
    assert_eq!(owner, rustix::process::geteuid().as_raw());
}

/// The account of the cluster, for tests that act as it; none where the suite does not run as root.
#[expect(clippy::print_stderr, reason = "says why nothing was tried")]
fn account_of(data_dir: &Path) -> Option<u32> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: what root does in folders of the database's account is tried as root only");
        return None;
    }
    Some(fs::metadata(data_dir.join("postgres/cluster")).unwrap().uid())
}

#[tokio::test]
async fn as_root_links_and_programs_that_the_account_planted_are_not_followed_or_copied() {
    let dir = TempDir::new().unwrap();
    start(dir.path()).await.stop().await.unwrap();
    let Some(account) = account_of(dir.path()) else {
        return;
    };
    let home = dir.path().join("postgres");
    let (log, victim) = (home.join("server.log"), dir.path().join("victim"));
    fs::write(&victim, "root's own\n").unwrap();
    let planted = |path: &Path| lchown(path, Some(account), Some(account)).unwrap();

    // A log that is a symbolic link is rejected by name; its target is neither written nor shown.
    fs::remove_file(&log).unwrap();
    symlink(&victim, &log).unwrap();
    planted(&log);
    let refused = EmbeddedServer::start(options(dir.path()))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("server.log") && !refused.contains("root's own"),
        "{refused}"
    );
    fs::remove_file(&log).unwrap();

    // A program with the set-user-id bit, as large as a log that is rotated.
    fs::write(&log, vec![b'#'; 5 << 20]).unwrap();
    planted(&log);
    fs::set_permissions(&log, Permissions::from_mode(0o6755)).unwrap();
    symlink(&victim, home.join("server.log.1")).unwrap();
    // Files that are read at the start.
    let pid_file = home.join("cluster/postmaster.pid");
    symlink(&victim, &pid_file).unwrap();
    planted(&pid_file);
    let refused = EmbeddedServer::start(options(dir.path())).await;
    if let Ok(server) = refused {
        server.stop().await.unwrap();
    }
    let _ = fs::remove_file(&pid_file);
    let server = start(dir.path()).await;
    for name in ["server.log", "server.log.1"] {
        let found = fs::symlink_metadata(home.join(name)).unwrap();
        assert!(found.is_file(), "{name}");
        assert_eq!(found.mode() & 0o7777, 0o600, "{name}");
    }
    server.stop().await.unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "root's own\n");
}

#[tokio::test]
async fn as_root_a_data_folder_of_an_earlier_version_becomes_owned_by_root_and_its_lock_is_not_a_link() {
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    start(dir.path()).await.stop().await.unwrap();
    let Some(account) = account_of(dir.path()) else {
        return;
    };
    let victim = TempDir::new().unwrap();
    let victim = victim.path().join("victim");
    fs::write(&victim, "root's own\n").unwrap();
    // As earlier versions left it where the account could not traverse the path otherwise.
    lchown(dir.path(), Some(account), Some(account)).unwrap();
    let lock = dir.path().join("service.lock");
    fs::remove_file(&lock).unwrap();
    symlink(&victim, &lock).unwrap();

    let refused = EmbeddedServer::start(options(dir.path()))
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("service.lock"), "{refused}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "root's own\n");
    fs::remove_file(&lock).unwrap();
    let server = start(dir.path()).await;
    assert_eq!(setting(&server.url(), "SELECT 'fine'").await, "fine");
    assert_eq!(fs::metadata(dir.path()).unwrap().uid(), 0);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_cluster_that_accepted_everybody_accepts_only_its_own_users() {
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    start(dir.path()).await.stop().await.unwrap();
    let hba = dir.path().join("postgres/cluster/pg_hba.conf");
    fs::write(&hba, "local all all trust\n").unwrap();
    let server = start(dir.path()).await;
    let url = server.url();
    assert_eq!(setting(&url, "SELECT 'fine'").await, "fine");
    assert!(!fs::read_to_string(&hba).unwrap().contains("trust"));
    let methods = setting(
        &url,
        "SELECT string_agg(DISTINCT auth_method, ',') FROM pg_hba_file_rules",
    )
    .await;
    assert_eq!(methods, "peer");
    if rustix::process::geteuid().is_root() {
        // Also where somebody made the socket's directory accessible.
        let run = dir.path().join("postgres/run");
        for (path, mode) in [
            (dir.path().join("postgres"), 0o711),
            (run.clone(), 0o711),
            (run.join(".s.PGSQL.5432"), 0o777),
        ] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        let other = std::process::Command::new("setpriv")
            .args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "psql",
                &url,
                "-Atc",
                "SELECT 1",
            ])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&other.stderr);
        assert!(
            !other.status.success() && said.contains("eer authentication failed"),
            "{said}"
        );
    }
    server.stop().await.unwrap();
}
