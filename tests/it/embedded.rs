//! The embedded PostgreSQL, started from the binaries installed on this machine.

use crate::harness::{eventually, holds, lacks};
use crate::process::program::folder;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use working_memory::storage::embedded::{
    Account, EmbeddedError, EmbeddedOptions, EmbeddedServer, url_of_answering,
};

/// PostgreSQL refuses root: where the suite runs as root, a test of the library runs itself again as the account that a
/// command would use. `true` then.
pub(crate) fn ran_as_account() -> bool {
    let Some(account) = Account::instead_of_root(None).unwrap() else {
        return false;
    };
    let test = std::thread::current().name().unwrap().to_owned();
    let output = account
        .this_program()
        .args(["--exact", &test, "--nocapture"])
        .env_remove("TMPDIR")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    let has_passed = output.status.success() && printed.contains("1 passed");
    assert!(has_passed, "{printed}{said}");
    true
}

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

/// Runs a statement; the text that it returns.
async fn text(url: &str, sql: &'static str) -> Result<Option<String>, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::query_scalar(sql).fetch_optional(&mut connection).await
}

/// Checks that a server answers, and that it has no other users than its own.
async fn is_fine(server: &EmbeddedServer) {
    let methods = "SELECT string_agg(DISTINCT auth_method, ',') FROM pg_hba_file_rules";
    assert_eq!(text(&server.url(), methods).await.unwrap().unwrap(), "peer");
}

/// Process id of the server, from its pid file.
fn server_pid(data_dir: &Path) -> Option<Pid> {
    let text = fs::read_to_string(data_dir.join("postgres/cluster/postmaster.pid")).ok()?;
    Pid::from_raw(text.lines().next()?.parse().ok()?)
}

#[tokio::test]
async fn the_server_is_private_durable_and_reads_unicode_and_its_log_does_not_repeat_what_clients_send() {
    if ran_as_account() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let server = start(dir.path()).await;
    let url = server.url();
    let address = "postgres://working_memory@localhost:5432/working_memory?host=/";
    assert!(url.starts_with(address), "{url}");
    let settings = "SELECT concat_ws('|', current_setting('listen_addresses'), current_setting('fsync'),
                    current_setting('synchronous_commit'), current_setting('full_page_writes'),
                    current_setting('server_encoding'), lower('ÄÖ'))";
    assert_eq!(text(&url, settings).await.unwrap().unwrap(), "|on|on|on|UTF8|äö");
    let run = dir.path().join("postgres/run");
    assert_eq!(fs::metadata(run).unwrap().permissions().mode() & 0o777, 0o700);

    text(&url, "CREATE TABLE t (word text PRIMARY KEY)")
        .await
        .unwrap();
    text(&url, "INSERT INTO t VALUES ('hush')").await.unwrap();
    text(&url, "INSERT INTO t VALUES ('hush')").await.unwrap_err();
    server.stop().await.unwrap();
    let log = fs::read_to_string(dir.path().join("postgres/server.log")).unwrap();
    holds(&log, &["database system is ready"]);
    lacks(&log, &["hush"]);
}

#[tokio::test]
async fn a_dropped_server_stops_and_releases_its_folder() {
    if ran_as_account() {
        return;
    }
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
async fn a_path_that_is_too_long_or_unusual_for_a_socket_works() {
    if ran_as_account() {
        return;
    }
    for name in ["x".repeat(120), "it's, a \"folder\" & more".to_owned()] {
        let dir = TempDir::new().unwrap();
        let data_dir = dir.path().join(name);
        let server = start(&data_dir).await;
        let url = server.url();
        is_fine(&server).await;
        let socket_dir = url.split_once("host=").unwrap().1.split('&').next().unwrap();
        assert!(socket_dir.starts_with("/tmp/working-memory-"), "{url}");
        server.stop().await.unwrap();
        assert!(!Path::new(socket_dir).exists());
    }
}

#[tokio::test]
async fn what_an_earlier_start_left_is_mended_or_named() {
    if ran_as_account() {
        return;
    }
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    start(dir.path()).await.stop().await.unwrap();
    let home = dir.path().join("postgres");
    // A cluster that accepted everybody accepts only its own users.
    let hba = home.join("cluster/pg_hba.conf");
    fs::write(&hba, "local all all trust\n").unwrap();
    let server = start(dir.path()).await;
    is_fine(&server).await;
    lacks(fs::read_to_string(&hba).unwrap(), &["trust"]);
    server.stop().await.unwrap();

    // After an interrupted start, the server's home contains a cluster under a temporary name.
    fs::rename(home.join("cluster"), home.join("cluster.new")).unwrap();
    fs::remove_file(home.join("cluster.new/global/pg_control")).unwrap();
    let server = start(dir.path()).await;
    is_fine(&server).await;
    assert!(!home.join("cluster.new").exists());
    server.stop().await.unwrap();

    // A server that cannot start shows the end of its log.
    fs::remove_file(home.join("cluster/global/pg_control")).unwrap();
    let error = EmbeddedServer::start(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, EmbeddedError::Start { .. }), "{error:?}");
    holds(error.to_string(), &["pg_control"]);
    let nowhere = EmbeddedServer::start(options(Path::new("/dev/null/data"))).await;
    let error = nowhere.unwrap_err().to_string();
    assert!(error.starts_with("cannot make /dev/null/data"), "{error}");
}

#[tokio::test]
async fn a_server_that_takes_connections_and_says_nothing_is_not_waited_for() {
    let dir = TempDir::new().unwrap();
    let (cluster, run) = (dir.path().join("postgres/cluster"), dir.path().join("run"));
    fs::create_dir_all(&cluster).unwrap();
    fs::create_dir(&run).unwrap();
    let _silent = tokio::net::UnixListener::bind(run.join(".s.PGSQL.5432")).unwrap();
    let pid_file = format!("1\n{}\n1\n5432\n{}\n", cluster.display(), run.display());
    fs::write(cluster.join("postmaster.pid"), pid_file).unwrap();
    let asked = tokio::time::timeout(Duration::from_secs(20), url_of_answering(dir.path())).await;
    assert_eq!(asked, Ok(None));
}

/// Whether the suite runs as root; what follows can be tried only then.
#[expect(clippy::print_stderr, reason = "says why nothing was tried")]
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("skipped: it is tried as root only");
    }
    is_root
}

/// Runs a script with a server on a data folder, as whoever runs the suite.
fn with_postgres(data_dir: &Path, script: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_working-memory"))
        .args(["with-postgres", "--data-dir"])
        .arg(data_dir)
        .args(["--", "sh", "-c", script])
        .output()
        .unwrap()
}

/// Checks that it failed and said this.
#[track_caller]
fn is_denied(output: &Output, said: &str) {
    assert!(!output.status.success());
    holds(String::from_utf8_lossy(&output.stderr), &[said]);
}

/// A data folder that was used, and the user that owns it.
fn used(folder: &TempDir) -> (PathBuf, u32) {
    let data_dir = folder.path().join("data");
    let output = with_postgres(&data_dir, "psql \"$DATABASE_URL\" -Atc \"SELECT 'fine'\"");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fine\n", "{output:?}");
    let owner = fs::metadata(&data_dir).unwrap().uid();
    assert_ne!(owner, 0, "root keeps no data folder");
    for inside in ["postgres", "postgres/cluster", "service.lock"] {
        let inside = data_dir.join(inside);
        assert_eq!(fs::metadata(&inside).unwrap().uid(), owner, "{inside:?}");
    }
    (data_dir, owner)
}

#[test]
fn as_root_links_in_a_data_folder_lead_nowhere() {
    if !is_root() {
        return;
    }
    let folder = folder();
    let (data_dir, _) = used(&folder);
    let (victim, victims) = (folder.path().join("victim"), folder.path().join("victims"));
    fs::write(&victim, "root's own\n").unwrap();
    fs::set_permissions(&victim, Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(&victims).unwrap();
    for (place, target) in [
        ("service.lock", &victim),
        ("postgres/server.log", &victim),
        ("postgres/cluster/postmaster.pid", &victim),
        ("postgres/cluster/pg_hba.conf.new", &victim),
        ("postgres/run", &victims),
        ("postgres", &victims),
    ] {
        let (link, aside) = (data_dir.join(place), folder.path().join("aside"));
        let was_there = fs::rename(&link, &aside).is_ok();
        symlink(target, &link).unwrap();
        let output = with_postgres(&data_dir, "true");
        let said = String::from_utf8_lossy(&output.stderr);
        let is_refused = !output.status.success() && !said.contains("root's own");
        // A log is moved aside as it is, also a link.
        assert!(is_refused || place == "postgres/server.log", "{place}: {said}");
        fs::remove_file(&link).unwrap();
        if was_there {
            fs::rename(&aside, &link).unwrap();
        }
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "root's own\n");
    assert_eq!(fs::metadata(&victim).unwrap().mode() & 0o7777, 0o600);
    assert_eq!(fs::read_dir(&victims).unwrap().count(), 0);
    // A data folder that is a link into a folder of root's.
    let link = folder.path().join("link");
    symlink(&victims, &link).unwrap();
    assert!(!with_postgres(&link, "true").status.success());
    assert_eq!(fs::read_dir(&victims).unwrap().count(), 0);
    assert!(with_postgres(&data_dir, "true").status.success());
}

#[test]
fn as_root_programs_that_were_planted_as_logs_are_never_roots() {
    if !is_root() {
        return;
    }
    let folder = folder();
    let (data_dir, owner) = used(&folder);
    let log = data_dir.join("postgres/server.log");
    fs::write(&log, "#").unwrap();
    chown(&log, Some(owner), Some(owner)).unwrap();
    fs::set_permissions(&log, Permissions::from_mode(0o6755)).unwrap();
    assert!(with_postgres(&data_dir, "true").status.success());
    for name in ["server.log", "server.log.1"] {
        let log = data_dir.join("postgres").join(name);
        assert_eq!(fs::metadata(log).unwrap().uid(), owner, "{name}");
    }
}

#[test]
fn as_root_a_folder_of_another_user_is_refused_and_one_is_made_only_where_root_alone_may_write() {
    if !is_root() {
        return;
    }
    let folder = folder();
    let make = |name: &str, mode: u32| {
        let path = folder.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    };
    let data_dir = make("data", 0o777);
    chown(&data_dir, Some(65534), Some(65534)).unwrap();
    is_denied(&with_postgres(&data_dir, "true"), "belongs to the user 65534");
    assert_eq!(fs::read_dir(&data_dir).unwrap().count(), 0);

    let private = make("private", 0o700);
    assert!(!with_postgres(&private.join("data"), "true").status.success());
    let of_all = make("of all", 0o777);
    let data_dir = of_all.join("data");
    assert!(with_postgres(&data_dir, "true").status.success());
    assert_ne!(fs::metadata(&data_dir).unwrap().uid(), 0);
    let deeper = of_all.join("some/more/data");
    assert!(with_postgres(&deeper, "true").status.success());
    assert_ne!(fs::metadata(of_all.join("some")).unwrap().uid(), 0);
    // Others may exchange a folder of root's whose parent they may write to, so here the account would have to make it.
    let below = make("of all/below", 0o755);
    assert!(!with_postgres(&below.join("data"), "true").status.success());
    assert!(!below.join("data").exists());
}

#[test]
fn as_root_other_users_are_not_let_in_even_where_they_reach_the_socket() {
    if !is_root() {
        return;
    }
    let folder = folder();
    let data_dir = folder.path().join("data");
    let script = format!(
        "cd {}; chmod 711 data data/postgres data/postgres/run; chmod 777 data/postgres/run/.s.PGSQL.5432; \
         setpriv --reuid=65534 --regid=65534 --clear-groups psql \"$DATABASE_URL\" -Atc 'SELECT 1'",
        folder.path().display()
    );
    is_denied(&with_postgres(&data_dir, &script), "eer authentication failed");
}

#[test]
fn as_root_the_service_becomes_the_account() {
    if !is_root() || !Path::new("/proc/self/status").exists() {
        return;
    }
    let folder = folder();
    let data_dir = folder.path().join("data");
    let mut service = Command::new(env!("CARGO_BIN_EXE_working-memory"))
        .args(["serve", "--data-dir"])
        .arg(&data_dir)
        .current_dir(folder.path())
        .env_remove("DATABASE_URL")
        .env("WORKING_MEMORY__HTTP__BIND", "127.0.0.1:0")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while server_pid(&data_dir).is_none() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let owner = fs::metadata(&data_dir).unwrap().uid();
    let [status, environment] = ["status", "environ"]
        .map(|file| fs::read_to_string(format!("/proc/{}/{file}", service.id())).unwrap());
    kill_process(Pid::from_child(&service), Signal::TERM).unwrap();
    service.wait().unwrap();
    assert_ne!(owner, 0);
    // Whatever the folder of an account is by default.
    let named = format!("WORKING_MEMORY__DATABASE__DATA_DIR={}\0", data_dir.display());
    holds(&environment, &[&named]);
    let ids = format!("\nUid:\t{owner}\t{owner}\t{owner}\t{owner}\n");
    holds(&status, &[&ids]);
    let groups = status.lines().find_map(|line| line.strip_prefix("Groups:"));
    assert_eq!(groups.map(str::trim), Some(""), "{status}");
}
