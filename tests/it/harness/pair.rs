//! A primary and its standby: real PostgreSQL servers on this machine.

use super::{Target, eventually};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use sqlx::{Connection, PgConnection};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Stopped when the value is dropped.
pub(crate) struct Pair {
    folder: TempDir,
    /// The server that was the primary first.
    pub(crate) first: Server,
    /// The server that was its standby.
    pub(crate) second: Server,
}

/// One of them. Killed when the value is dropped.
pub(crate) struct Server {
    folder: PathBuf,
    port: u16,
    child: Child,
}

impl Pair {
    /// Both run, and the standby replicates. A database `wm` is empty.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        if let Some((user, group)) = account() {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let data = folder.path().join("first");
        let initdb = "-U wm -E UTF8 --locale=C --auth=trust --no-sync -D";
        run(program("initdb").args(initdb.split(' ')).arg(&data));
        let first = Server::start(folder.path(), "first", 5432);
        first.answers().await;
        first.execute("postgres", "CREATE DATABASE wm").await;
        let copy = folder.path().join("second");
        let backup = "-U wm -p 5432 -R -X stream -c fast --no-sync -h";
        run(program("pg_basebackup")
            .args(backup.split(' '))
            .arg(folder.path())
            .arg("-D")
            .arg(copy));
        let second = Server::start(folder.path(), "second", 5433);
        second.answers().await;
        Self {
            folder,
            first,
            second,
        }
    }

    /// The address of the first one's database.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.path().display();
        format!("postgres://wm@localhost:5432/wm?host={folder}&sslmode=disable")
    }
}

impl Server {
    fn start(folder: &Path, name: &str, port: u16) -> Self {
        let data = folder.join(name);
        let settings = format!(
            "listen_addresses= port={port} unix_socket_directories={} fsync=off max_connections=60 shared_buffers=16MB \
             wal_receiver_status_interval=1",
            folder.display()
        );
        let log = std::fs::File::create(folder.join(format!("{name}.log"))).unwrap();
        let child = program("postgres")
            .arg("-D")
            .arg(&data)
            .args(settings.split(' ').flat_map(|setting| ["-c", setting]))
            .stdin(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .stdout(log)
            .process_group(0)
            .spawn()
            .unwrap();
        Self {
            folder: folder.to_owned(),
            port,
            child,
        }
    }

    /// Where a relay connects to it.
    pub(crate) fn target(&self) -> Target {
        Target::Unix(self.folder.join(format!(".s.PGSQL.{}", self.port)))
    }

    async fn answers(&self) {
        let what = format!("the server on port {} answers", self.port);
        eventually(&what, async || self.connect("postgres").await.is_ok()).await;
    }

    async fn connect(&self, database: &str) -> sqlx::Result<PgConnection> {
        let url = format!(
            "postgres://wm@localhost:{}/{database}?host={}&sslmode=disable",
            self.port,
            self.folder.display()
        );
        PgConnection::connect(&url).await
    }

    pub(crate) async fn execute(&self, database: &str, statement: &'static str) {
        let mut connection = self.connect(database).await.unwrap();
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    }

    /// Promotes the standby. Returns when it is the primary.
    pub(crate) async fn promote(&self) {
        self.execute("postgres", "SELECT pg_promote(true, 60)").await;
    }

    /// Kills all its processes.
    pub(crate) fn kill(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // Its children have process groups of their own.
        let _ = kill_process(Pid::from_child(&self.child), Signal::KILL);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Children that outlive the postmaster exit when they notice.
        let _ = kill_process(Pid::from_child(&self.child), Signal::QUIT);
        std::thread::sleep(Duration::from_millis(50));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The account that the servers run under: PostgreSQL refuses root.
fn account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap();
    let line = accounts.lines().find(|line| line.starts_with("postgres:"));
    let line = line.expect("an account `postgres`, as the package of PostgreSQL makes it");
    let mut ids = line.split(':').skip(2).map(|id| id.parse().unwrap());
    Some((ids.next().unwrap(), ids.next().unwrap()))
}

/// A program of PostgreSQL, under that account.
fn program(name: &str) -> Command {
    let mut path = PathBuf::from("/usr/lib/postgresql/15/bin").join(name);
    if !path.exists() {
        path = PathBuf::from(name);
    }
    let mut command = Command::new(path);
    command.current_dir("/");
    if let Some((user, group)) = account() {
        command.uid(user).gid(group);
    }
    command
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
