//! Finds a server left behind by an earlier service, by its `postmaster.pid`, and stops it before the new one starts.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::cluster::small_text;
use super::folder::remove_socket_dir;

/// The signals for stopping, and how long to wait before the next, harder one: fast shutdown, immediate shutdown, kill.
/// The cluster survives each; after the last two it recovers from its log.
pub(super) const STOPS: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(30)),
    (Signal::QUIT, Duration::from_secs(5)),
    (Signal::KILL, Duration::from_secs(5)),
];

/// What a server recorded of itself in `postmaster.pid`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PidFile {
    pid: Pid,
    pub(super) socket_dir: Option<String>,
}

impl PidFile {
    /// That of the cluster in a folder; `None` without a server, or if this process may not read it.
    pub(super) fn read(home: &Path) -> Option<Self> {
        parse(&small_text(&home.join("cluster/postmaster.pid"))?)
    }
}

/// Stops the server that still runs on the cluster in `home`, if any, and removes what would prevent a new start. Only
/// the holder of the data folder's lock may call this, because then the server is its own.
pub(super) async fn clear(home: &Path) {
    let Some(found) = PidFile::read(home) else {
        return;
    };
    let cluster = home.join("cluster");
    let user = rustix::process::geteuid().as_raw();
    if found.runs(&cluster, user) {
        tracing::warn!(
            pid = found.pid.as_raw_nonzero(),
            "stopping the database server of an earlier service"
        );
        found.stop(&cluster, user).await;
    }
    if let Some(dir) = &found.socket_dir {
        remove_socket_dir(Path::new(dir), user);
    }
    if !found.runs(&cluster, user) {
        // The process id may have been reused, and a new server would take that process for a running server. Processes
        // that still use the cluster are also detected by its shared memory.
        let _ = fs::remove_file(cluster.join("postmaster.pid"));
    }
}

impl PidFile {
    /// Stops the server with increasingly hard signals.
    async fn stop(&self, cluster: &Path, user: u32) {
        const STEP: Duration = Duration::from_millis(25);
        for (signal, limit) in STOPS {
            // It may have ended at any moment, which is fine.
            let _ = rustix::process::kill_process(self.pid, signal);
            let mut waited = Duration::ZERO;
            while waited < limit {
                if !self.runs(cluster, user) {
                    return;
                }
                tokio::time::sleep(STEP).await;
                waited += STEP;
            }
        }
    }

    /// Whether it is a running server of this cluster: this user runs it, and its command line contains the
    /// folder. A system without `/proc` does not tell; there the server ends by itself soon after its service.
    fn runs(&self, cluster: &Path, user: u32) -> bool {
        if rustix::process::test_kill_process(self.pid) == Err(rustix::io::Errno::SRCH) {
            return false;
        }
        let process = Path::new("/proc").join(self.pid.as_raw_nonzero().to_string());
        let found_user = fs::metadata(&process).map(|found| found.uid()).ok();
        let command_line = fs::read(process.join("cmdline")).unwrap_or_default();
        found_user == Some(user)
            && String::from_utf8_lossy(&command_line).contains(&*cluster.to_string_lossy())
    }
}

/// Parses `postmaster.pid`: process id, data folder, start time, port, socket folder, …
fn parse(text: &str) -> Option<PidFile> {
    let mut lines = text.lines();
    // The number is negative while a standalone backend uses the cluster.
    let pid = Pid::from_raw(lines.next()?.trim().parse::<u32>().ok()?.try_into().ok()?)?;
    let socket_dir = lines
        .nth(3)
        .map(str::trim)
        .filter(|dir| !dir.is_empty())
        .map(str::to_owned);
    Some(PidFile { pid, socket_dir })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_pid_file_names_process_and_socket_folder_unless_a_crash_cut_it_short() {
        let complete = "4711\n/srv/d/cluster\n1700000000\n5432\n/tmp/working-memory-1\n\n  1234  5\nready\n";
        for (text, socket_dir) in [(complete, Some("/tmp/working-memory-1")), ("4711\n", None)] {
            let found = parse(text).unwrap();
            assert_eq!(found.pid.as_raw_nonzero().get(), 4711);
            assert_eq!(found.socket_dir.as_deref(), socket_dir);
        }
        for cut in ["", "0\n", "-4711\n", "4294967295\n", "47x\n"] {
            assert_eq!(parse(cut), None, "{cut}");
        }
    }

    async fn cleared(process: u32, named: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("cluster")).unwrap();
        let pid_file = dir.path().join("cluster/postmaster.pid");
        fs::write(&pid_file, format!("{process}\n{named}\n1\n5432\n\n")).unwrap();
        clear(dir.path()).await;
        !pid_file.exists()
    }

    #[tokio::test]
    async fn a_pid_file_that_names_some_other_program_is_cleared_and_the_program_left_alone() {
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(cleared(other.id(), "/somewhere").await);
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[tokio::test]
    async fn a_program_of_another_user_is_left_alone_whatever_its_arguments_are() {
        let dir = tempfile::tempdir().unwrap();
        let cluster = dir.path().join("cluster");
        let mut other = Command::new("tail")
            .args(["-f", "/dev/null"])
            .arg(&cluster)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let recorded = PidFile {
            pid: Pid::from_child(&other),
            socket_dir: None,
        };
        let is_of = |user: u32| recorded.runs(&cluster, user);
        let user = rustix::process::geteuid().as_raw();
        // The command line appears shortly after the start.
        for _ in 0..500 {
            if is_of(user) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(is_of(user) && !is_of(user + 1));
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
