//! `working-memory with-postgres`, as its users run it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::embedded::ran_as_account;
use crate::harness::eventually;
use crate::process::program::folder;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_working-memory");

fn with_postgres(arguments: &[&str], script: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("with-postgres")
        .args(arguments)
        .args(["--", "sh", "-c", script]);
    command
}

fn pid(number: &str) -> Pid {
    Pid::from_raw(number.trim().parse().unwrap()).unwrap()
}

/// The data folder of a URL whose socket is in `<data folder>/postgres/run`.
fn data_dir(url: &str) -> &Path {
    let socket_dir = url.split_once("host=").unwrap().1.split('&').next().unwrap();
    Path::new(socket_dir).ancestors().nth(2).unwrap()
}

#[test]
fn the_command_gets_the_url_and_standard_input_and_its_exit_code_is_returned() {
    let script = "read line; echo \"$line $WORKING_MEMORY__DATABASE__URL$DATABASE_URL\"; exit 7";
    let mut child = with_postgres(&[], script)
        .env("WORKING_MEMORY__DATABASE__URL", "postgres://another/one")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let is_given = printed.starts_with("hello postgres://working_memory@");
    assert!(is_given, "{printed}");
    assert_eq!(output.status.code(), Some(7));
    assert!(!data_dir(&printed).exists(), "the temporary folder stays");
}

#[test]
fn a_missing_command_exits_with_127() {
    let mut command = Command::new(PROGRAM);
    let command = command.args(["with-postgres", "--", "/no/such/program"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    // Also where nobody reads why.
    let (_, closed) = std::io::pipe().unwrap();
    assert_eq!(command.stderr(closed).status().unwrap().code(), Some(127));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("cannot run /no/such/program: "), "{told}");
}

#[test]
fn termination_is_forwarded_and_the_data_folder_removed() {
    let script = "trap 'echo got it; exit 3' TERM; echo $DATABASE_URL; while :; do sleep 0.1; done";
    let mut child = with_postgres(&[], script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut url = String::new();
    output.read_line(&mut url).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "got it\n");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(!data_dir(&url).exists(), "the temporary folder stays");
}

#[test]
fn a_start_that_is_interrupted_leaves_no_files() {
    if ran_as_account() {
        return;
    }
    let temporary = folder();
    for millis in [20, 300, 600, 800] {
        let mut child = with_postgres(&[], "sleep 60")
            .env("TMPDIR", temporary.path())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(millis));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert!(!child.wait().unwrap().success());
        let left = fs::read_dir(temporary.path()).unwrap().count();
        assert_eq!(left, 0, "after {millis} ms");
    }
}

/// The service is killed, its server shuts down by itself, and the next start finds everything that was committed.
#[tokio::test]
async fn after_the_owner_is_killed_the_next_start_has_the_data() {
    if ran_as_account() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let server = killed_owner(&dir, false).await;
    eventually("the orphaned server shuts down", async || {
        test_kill_process(server).is_err()
    })
    .await;
    assert_recovers(&dir);
}

/// The same where nothing could signal the server: the next start finds it still running, and stops it.
#[tokio::test]
async fn a_server_that_outlives_its_killed_owner_is_stopped_by_the_next_start() {
    if ran_as_account() {
        return;
    }
    if !Path::new("/proc/self/cmdline").exists() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let server = killed_owner(&dir, true).await;
    std::thread::sleep(Duration::from_millis(500));
    let is_running = test_kill_process(server).is_ok();
    assert!(is_running, "the server was to be left running");
    assert_recovers(&dir);
}

/// Starts a server on `dir`, writes to it, kills its owner, and returns the server's process id.
async fn killed_owner(dir: &TempDir, cut_lifeline: bool) -> Pid {
    let ready = dir.path().join("ready");
    let script = format!(
        "psql \"$DATABASE_URL\" -qc \"CREATE TABLE kept AS SELECT 'still here' AS word\" && touch {}; sleep 60",
        ready.display()
    );
    let data_dir = dir.path().join("data");
    // A separate process group, so that the command of the killed owner can be ended too.
    let mut command = with_postgres(&["--data-dir", data_dir.to_str().unwrap()], &script);
    let mut owner = std::os::unix::process::CommandExt::process_group(&mut command, 0)
        .spawn()
        .unwrap();
    eventually("the data is there", async || ready.exists()).await;
    let server = fs::read_to_string(data_dir.join("postgres/cluster/postmaster.pid")).unwrap();
    let server = server.lines().next().unwrap();
    if cut_lifeline {
        kill_process(lifeline(server), Signal::KILL).unwrap();
    }
    let group = Pid::from_child(&owner);
    rustix::process::kill_process_group(group, Signal::KILL).unwrap();
    owner.wait().unwrap();
    pid(server)
}

/// The shell that would stop `server` together with its owner.
fn lifeline(server: &str) -> Pid {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let found = processes.map(|entry| entry.path()).find(|process| {
        let command_line = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        command_line.contains("kill -INT") && command_line.ends_with(&format!("\0{server}\0"))
    });
    pid(found.unwrap().file_name().unwrap().to_str().unwrap())
}

fn assert_recovers(dir: &TempDir) {
    let data_dir = dir.path().join("data");
    let script = "psql \"$DATABASE_URL\" -Atc 'SELECT word FROM kept'";
    let output = with_postgres(&["--data-dir", data_dir.to_str().unwrap()], script)
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"still here\n", "{output:?}");
    assert!(output.status.success());
}

/// For suites that run as root: the program must work for ordinary users as well.
#[test]
fn the_program_works_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        return;
    }
    let dir = folder();
    let program = dir.path().join("working-memory");
    fs::copy(PROGRAM, &program).unwrap();
    let script = "id -u; psql \"$DATABASE_URL\" -Atc 'SELECT 1'";
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["with-postgres", "--", "sh", "-c", script])
        .env_remove("TMPDIR")
        .current_dir("/")
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"65534\n1\n", "{output:?}");
}
