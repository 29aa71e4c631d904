//! A database whose disk is full: a small file system in memory, which a test can fill.

use super::program::{Program, command, folder};
use crate::harness::{eventually, has, holds, lacks};
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The folder of a service whose data folder is a small disk.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None`, and says why, if nothing can be mounted here.
    #[expect(clippy::print_stderr, reason = "a skipped test is seen in the output")]
    fn mount() -> Option<Self> {
        let disk = Self(folder());
        fs::create_dir(disk.data()).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=192m,mode=0755", "tmpfs"])
            .arg(disk.data())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(disk),
            other => {
                eprintln!("SKIPPED: a test of full disks has to mount a tmpfs, which fails here: {other:?}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn data(&self) -> std::path::PathBuf {
        self.path().join("data")
    }

    /// Leaves so many bytes free.
    fn fill(&self, free: u64) {
        let found = rustix::fs::statvfs(self.data()).unwrap();
        let bytes = (found.f_bavail * found.f_frsize).saturating_sub(free);
        let filler = vec![b'x'; usize::try_from(bytes).unwrap()];
        fs::write(self.data().join("filler"), filler).unwrap();
    }

    fn make_room(&self) {
        fs::remove_file(self.data().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a server that still ends keeps its files until then.
        let _ = Command::new("umount").arg("-l").arg(self.data()).output();
    }
}

/// A document that no compression makes small.
fn large(number: usize) -> String {
    let mut text = format!("# Notes {number}\n");
    while text.len() < 64_000 {
        text.push_str(&format!("{:032x}\n", fastrand::u128(..)));
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_reported_until_there_is_room() {
    let Some(disk) = SmallDisk::mount() else { return };
    let program = Program::start(disk.path()).await;
    program.put("first", "kept\n").await.is(201);
    program.get("/readyz").await.is(200);

    disk.fill(512 << 10);
    let mut refused = 0;
    for number in 0..100 {
        let answer = program.put(&format!("m{number}"), &large(number)).await;
        if answer.status == 201 {
            continue;
        }
        answer.problem(503, "unavailable", None);
        refused += 1;
        let readiness = program.get("/readyz").await.problem(503, "unavailable", None);
        let full = "the disk of the database is full";
        has(&readiness, json!({"not_ready": ["writes"], "detail~": full}));
        if refused == 10 {
            break;
        }
    }
    assert_eq!(refused, 10, "the disk was never full");
    assert_eq!(program.read("first", "context").await.is(200).text(), "kept\n");

    disk.make_room();
    eventually("it is ready again", async || {
        program.get("/readyz").await.status == 200
    })
    .await;
    program.put("last", &large(0)).await.is(201);
    program.get("/readyz").await.is(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_on_a_full_disk_says_so_and_what_to_do() {
    let Some(disk) = SmallDisk::mount() else { return };
    let mut program = Program::start(disk.path()).await;
    program.put("first", "kept\n").await.is(201);
    program.signal(Signal::TERM);
    program.ended().await;

    disk.fill(0);
    let output = command(disk.path(), &[]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    let folder = disk.data().canonicalize().unwrap();
    assert!(said.contains(&*folder.to_string_lossy()), "{said}");
    holds(
        &said,
        &["is full", "free space on it or make it larger", "is unchanged"],
    );
    lacks(&said, &["account", "DATA_DIR"]);

    disk.make_room();
    let program = Program::start(disk.path()).await;
    assert_eq!(program.read("first", "context").await.is(200).text(), "kept\n");
}
