use super::*;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path as FilePath;
use std::sync::atomic::{AtomicBool, Ordering};

fn memory_ref(vault: &str, memory: &str) -> MemoryRef {
    MemoryRef {
        vault: vault.parse().unwrap(),
        memory: memory.parse().unwrap(),
    }
}

fn workspace(home: &FilePath, memory_ref: &MemoryRef) -> Workspace {
    Workspace {
        folder: home.join("workspace"),
        memory_ref: memory_ref.clone(),
    }
}

fn handoff(memory_ref: &MemoryRef, id: &str, markdown: &str) -> Value {
    json!({
        "handoff_id": id, "vault_id": memory_ref.vault.as_str(), "memory_id": memory_ref.memory.as_str(),
        "generated_at": "2026-11-21T10:00:00Z", "window": "PT2H", "base_version": 7,
        "freshness": {"status": "fresh", "reasons": [], "stale_lines": []},
        "markdown": markdown, "manifest": {"cited": ["KL-1@7"]}
    })
}

fn put(workspace: &Workspace, handoff: &Value) -> Result<PathBuf, Failure> {
    let now = "2026-11-21T10:55:00Z".parse().unwrap();
    assert!(workspace.write(handoff, "http://h/", now)?);
    Ok(workspace.markdown())
}

#[test]
fn a_handoff_is_in_its_runs_folder_and_current() {
    let home = tempfile::tempdir().unwrap();
    let memory_ref = memory_ref("a:b@c", "m..x");
    let workspace = workspace(home.path(), &memory_ref);
    let path = put(&workspace, &handoff(&memory_ref, "h1", "# One\n")).unwrap();
    let at = |path: &str| home.path().join("workspace").join(path);
    assert_eq!(path, at("current/a:b@c/m..x/WORKING_MEMORY.md"));
    let run = at("2026/11/21/working-memory-20261121T105500Z-h1");
    assert_eq!(fs::read_to_string(run.join(MARKDOWN)).unwrap(), "# One\n");
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(run.join(MANIFEST)).unwrap()).unwrap();
    assert_eq!(manifest["cited"], json!(["KL-1@7"]));
    assert_eq!(manifest["local"]["handoff_id"], "h1");
    for private in [&run, path.parent().unwrap()] {
        let mode = fs::metadata(private).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", private.display());
    }
    // No temporary file is left.
    put(&workspace, &handoff(&memory_ref, "h1", "# Two\n")).unwrap();
    assert_eq!(fs::read_dir(run).unwrap().count(), 2);
    assert_eq!(workspace.read().unwrap().markdown, "# Two\n");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
}

#[test]
fn a_handoff_of_another_memory_or_with_a_path_for_an_id_is_not_written() {
    let home = tempfile::tempdir().unwrap();
    let (mine, other) = (memory_ref("v", "mine"), memory_ref("v", "other"));
    let workspace = workspace(home.path(), &mine);
    put(&workspace, &handoff(&other, "h1", "x")).unwrap_err();
    put(&workspace, &handoff(&mine, "../../../../h1", "x")).unwrap_err();
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn readers_never_meet_half_a_copy_nor_a_mixed_one() {
    let home = tempfile::tempdir().unwrap();
    let memory_ref = memory_ref("v", "m");
    let workspace = workspace(home.path(), &memory_ref);
    put(&workspace, &handoff(&memory_ref, "h", "0\n")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut read = 0;
            while !stop.load(Ordering::Relaxed) {
                workspace.read().unwrap();
                read += 1;
            }
            read
        });
        let writers = [1, 2].map(|writer| {
            let (workspace, memory_ref) = (&workspace, &memory_ref);
            scope.spawn(move || {
                for number in 0..15 {
                    let text = format!("{writer} {number}\n").repeat(500);
                    put(workspace, &handoff(memory_ref, "h", &text)).unwrap();
                }
            })
        });
        for writer in writers {
            writer.join().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}
