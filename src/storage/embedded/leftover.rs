//! A server that an earlier service left behind: found by `postmaster.pid`, and stopped before ours starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::folder::remove_socket_dir;

/// How each kind of stop is asked for, and how long it may take before the next, ruder one: fast shutdown,
/// immediate shutdown, kill. The cluster survives each; after the last two it recovers from its log.
pub(super) const STOPS: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(30)),
    (Signal::QUIT, Duration::from_secs(5)),
    (Signal::KILL, Duration::from_secs(5)),
];

/// What `postmaster.pid` says.
#[derive(Debug, PartialEq, Eq)]
struct PidFile {
    pid: Pid,
    socket_dir: Option<PathBuf>,
}

/// Stops the server that still runs on `cluster`, if there is one, and clears away what would keep a new one
/// from starting. To be called by the holder of the data folder's lock only, whose server it is then.
pub(super) async fn clear(cluster: &Path) {
    let path = cluster.join("postmaster.pid");
    let Some(found) = fs::read_to_string(&path).ok().as_deref().and_then(parse) else {
        return;
    };
    if runs_on(found.pid, cluster) {
        tracing::warn!(
            pid = found.pid.as_raw_nonzero(),
            "stopping the database server of an earlier service"
        );
        stop(found.pid, cluster).await;
    }
    if let Some(dir) = found.socket_dir {
        remove_socket_dir(&dir);
    }
    if !runs_on(found.pid, cluster) {
        // The number may belong to some other program by now, and the server would take that for itself.
        // Whether processes of the old one still use the cluster is guarded by its shared memory as well.
        let _ = fs::remove_file(&path);
    }
}

async fn stop(pid: Pid, cluster: &Path) {
    const STEP: Duration = Duration::from_millis(25);
    for (signal, patience) in STOPS {
        // It may be gone at any moment, which is what is wanted.
        let _ = rustix::process::kill_process(pid, signal);
        let mut waited = Duration::ZERO;
        while waited < patience {
            if !runs_on(pid, cluster) {
                return;
            }
            tokio::time::sleep(STEP).await;
            waited += STEP;
        }
    }
}

/// The lines of `postmaster.pid`: process id, data folder, start time, port, socket folder, …
fn parse(text: &str) -> Option<PidFile> {
    let mut lines = text.lines();
    // The number is negative while the cluster is worked on without a server, by hand.
    let pid = Pid::from_raw(lines.next()?.trim().parse::<u32>().ok()?.try_into().ok()?)?;
    let socket_dir = lines
        .nth(3)
        .map(str::trim)
        .filter(|dir| !dir.is_empty())
        .map(PathBuf::from);
    Some(PidFile { pid, socket_dir })
}

/// Whether `pid` is a living server of this very cluster: its command line names the folder.
fn runs_on(pid: Pid, cluster: &Path) -> bool {
    if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
        return false;
    }
    let number = pid.as_raw_nonzero().to_string();
    let command_line = if Path::new("/proc/self/cmdline").exists() {
        fs::read(Path::new("/proc").join(number).join("cmdline")).unwrap_or_default()
    } else {
        let ps = Command::new("ps")
            .args(["-ww", "-o", "command=", "-p", &number])
            .output();
        ps.map(|output| output.stdout).unwrap_or_default()
    };
    String::from_utf8_lossy(&command_line).contains(&*cluster.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PID_FILE: &str =
        "4711\n/srv/d/cluster\n1700000000\n5432\n/tmp/working-memory-1\n\n  1234  5\nready\n";

    #[test]
    fn the_pid_file_names_process_and_socket_folder() {
        let found = parse(PID_FILE).unwrap();
        assert_eq!(found.pid.as_raw_nonzero().get(), 4711);
        assert_eq!(found.socket_dir.unwrap(), Path::new("/tmp/working-memory-1"));
    }

    #[test]
    fn a_pid_file_cut_short_by_a_crash_is_no_server() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("0\n"), None);
        assert_eq!(parse("-4711\n"), None);
        assert_eq!(parse("4294967295\n"), None);
        assert_eq!(parse("47x\n"), None);
        assert_eq!(parse("4711\n").unwrap().socket_dir, None);
    }

    #[tokio::test]
    async fn a_pid_file_that_names_some_other_program_is_cleared_and_the_program_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        let pid_file = dir.path().join("postmaster.pid");
        fs::write(
            &pid_file,
            format!("{}\n{}\n1\n5432\n\n", other.id(), dir.path().display()),
        )
        .unwrap();
        clear(dir.path()).await;
        assert!(!pid_file.exists());
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
