//! `sync` between a running service and folders of all kinds.

use super::program::{Done, PROGRAM, User, files};
use crate::access::first_admin;
use crate::harness::{Answer, Relay, Service, Target, eventually, has, holds};
use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

const TOOL: &str = "/v1/vaults/acme/memory-tool?root=agent";
const FILES: &str = "/v1/vaults/acme/memory-tool/files?root=agent";

async fn tool(service: &Service, command: Value) {
    let answer = service.post(TOOL, &command).await.is(200).json();
    assert_eq!(answer["is_error"], false, "{answer}");
}

async fn create(service: &Service, path: &str, text: &str) {
    let command = json!({"command": "create", "path": format!("/memories/{path}"), "file_text": text});
    tool(service, command).await;
}

/// Replaces the text `base` of a file.
async fn replace_base(service: &Service, path: &str, new: &str) {
    let path = format!("/memories/{path}");
    let command = json!({"command": "str_replace", "path": path, "old_str": "base", "new_str": new});
    tool(service, command).await;
}

/// The files of the service, by path below `/memories`.
async fn there(service: &Service) -> BTreeMap<String, String> {
    let list = service.read(&format!("{FILES}&limit=500")).await;
    let mut files = BTreeMap::new();
    for file in list["items"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap().strip_prefix("/memories/").unwrap();
        let memory = service.memory(file["memory_id"].as_str().unwrap());
        files.insert(path.to_owned(), memory.text().await);
    }
    files
}

/// The files of the folder that are not hidden.
fn here(folder: &Path) -> BTreeMap<String, String> {
    let files = files(folder).into_iter();
    files
        .filter(|(name, _)| !name.rsplit('/').next().unwrap().starts_with('.'))
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()))
        .collect()
}

async fn sync(user: &User) -> Done {
    user.run(&["sync", "notes", "--root", "agent"]).await
}

fn of(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_become_equal_and_stay_equal() {
    let (service, user) = User::served().await;
    let user = user.with("WORKING_MEMORY_ACTOR", "me@desk");
    let folder = user.path().join("notes");
    user.file("notes/a.md", "from here\r\n");
    user.file("notes/sub/empty.md", "");
    create(&service, "b.md", "from there").await;
    create(&service, "deep/er/c.md", "there").await;
    create(&service, "other.xml", "<not wanted/>").await;
    let done = sync(&user).await.is(0);
    for line in [
        "sent a.md",
        "sent sub/empty.md",
        "received b.md",
        "received deep/er/c.md",
    ] {
        assert!(done.out.lines().any(|said| said == line), "{done:?}");
    }
    let equal = of(&[
        ("a.md", "from here\r\n"),
        ("b.md", "from there"),
        ("deep/er/c.md", "there"),
        ("sub/empty.md", ""),
    ]);
    assert_eq!(here(&folder), equal);
    let mut wanted = equal.clone();
    wanted.insert("other.xml".to_owned(), "<not wanted/>".to_owned());
    assert_eq!(there(&service).await, wanted);
    let again = sync(&user).await.is(0);
    assert_eq!(again.out, "notes: both sides are equal\n");

    // Each side changes another file, and each deletes one.
    user.file("notes/a.md", "changed here");
    fs::remove_file(folder.join("b.md")).unwrap();
    tool(&service, json!({"command": "delete", "path": "/memories/deep"})).await;
    let insert =
        json!({"command": "insert", "path": "/memories/sub/empty.md", "insert_line": 0, "insert_text": "x"});
    tool(&service, insert).await;
    let expected = json!({"folder": "notes", "sent": ["a.md"], "received": ["sub/empty.md"], "unlinked": ["b.md"],
                          "removed": ["deep/er/c.md"], "conflicts": {}, "skipped": {}});
    assert_eq!(user.done("sync notes --json").await.json(), expected);
    assert!(!folder.join("deep").exists());
    let files = there(&service).await;
    assert!(
        files["a.md"] == "changed here" && !files.contains_key("b.md"),
        "{files:?}"
    );
    assert_eq!(here(&folder).len(), 2);
    let list = service.read(FILES).await;
    let memory = list["items"][0]["memory_id"].as_str().unwrap().to_owned();
    let head = service.memory(&memory).get_json("context").await.json();
    has(&head, json!({"actor_id": "me@desk", "version": 2}));

    // What a sync does not look at keeps its base: its deletion is not undone.
    user.session("sync notes --all → received other.xml\n sync notes → both sides are equal")
        .await;
    fs::remove_file(folder.join("other.xml")).unwrap();
    user.session("sync notes → both sides are equal\n sync notes --all → taken out there other.xml")
        .await;
    assert!(!here(&folder).contains_key("other.xml"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_is_reported_with_both_texts_saved_and_a_change_wins_over_a_deletion() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    for name in ["a.md", "b.md", "c.md", "d.md"] {
        user.file(&format!("notes/{name}"), "base");
    }
    sync(&user).await.is(0);
    user.file("notes/a.md", "mine");
    replace_base(&service, "a.md", "theirs").await;
    // The same text on both sides is no conflict.
    user.file("notes/b.md", "same");
    replace_base(&service, "b.md", "same").await;
    fs::remove_file(folder.join("c.md")).unwrap();
    replace_base(&service, "c.md", "news").await;
    user.file("notes/d.md", "kept");
    tool(&service, json!({"command": "delete", "path": "/memories/d.md"})).await;
    let done = sync(&user).await.is(0);
    let files = here(&folder);
    let copy = files.keys().find(|name| name.starts_with("a.conflict-")).unwrap();
    holds(&done.err, &["conflict: a.md was changed on both sides", copy]);
    assert!(copy.ends_with(".md"), "{copy}");
    let expected = [
        ("a.md", "theirs"),
        ("b.md", "same"),
        ("c.md", "news"),
        ("d.md", "kept"),
        (copy, "mine"),
    ];
    assert_eq!(files, of(&expected));
    assert_eq!(there(&service).await, files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_whose_memory_was_deleted_is_kept_when_the_file_is_made_anew() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    for name in ["deleted.md", "edited.md", "moved.md"] {
        user.file(&format!("notes/{name}"), "base");
    }
    sync(&user).await.is(0);
    let list = service.read(FILES).await;
    let memory = service.memory(list["items"][0]["memory_id"].as_str().unwrap());
    memory.delete().await.is(204);
    create(&service, "deleted.md", "anew").await;
    // The memory of this one has its text.
    let rename =
        json!({"command": "rename", "old_path": "/memories/moved.md", "new_path": "/memories/other.md"});
    tool(&service, rename).await;
    create(&service, "moved.md", "anew").await;
    // And retention has left only the last version of this one, which was made from it.
    replace_base(&service, "edited.md", "theirs").await;
    service.prune(1, false).await;
    let done = sync(&user).await.is(0);
    let files = here(&folder);
    let copy = files.keys().find(|name| name.starts_with("deleted.conflict-"));
    let copy = copy.unwrap_or_else(|| panic!("{done:?}"));
    let told = "conflict: deleted.md was changed on both sides, or made anew on the service";
    holds(&done.err, &[told, copy]);
    let expected = [
        ("deleted.md", "anew"),
        (copy, "base"),
        ("edited.md", "theirs"),
        ("moved.md", "anew"),
        ("other.md", "base"),
    ];
    assert_eq!(files, of(&expected));
    assert_eq!(there(&service).await, files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_an_earlier_version_synchronised_goes_on() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    for name in ["a.md", "b.md", "c.md", "d.md"] {
        user.file(&format!("notes/{name}"), "base");
    }
    sync(&user).await.is(0);
    let file = folder.join(".working-memory-sync.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    state["format"] = json!(1);
    for base in state["files"].as_object_mut().unwrap().values_mut() {
        base.as_object_mut().unwrap().remove("memory_id");
    }
    fs::write(&file, state.to_string()).unwrap();
    user.file("notes/a.md", "mine");
    replace_base(&service, "b.md", "theirs").await;
    fs::remove_file(folder.join("c.md")).unwrap();
    let expected = json!({"folder": "notes", "sent": ["a.md"], "received": ["b.md"], "unlinked": ["c.md"],
                          "removed": [], "conflicts": {}, "skipped": {}});
    assert_eq!(user.done("sync notes --json").await.json(), expected);
    tool(&service, json!({"command": "delete", "path": "/memories/d.md"})).await;
    user.session("sync notes → removed here d.md").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_before_an_error_is_told() {
    let (service, user) = User::served().await;
    user.file("notes/a.md", "mine");
    user.file("notes/z.md", "mine");
    create(&service, "a.md", "theirs").await;
    service
        .execute("ALTER TABLE memory_contexts ADD CONSTRAINT none CHECK (false) NOT VALID")
        .await;
    let done = sync(&user).await.is(1);
    let conflict = done.err.find("conflict: a.md was changed on both sides");
    assert!(conflict < done.err.find("working-memory: "), "{done:?}");
    assert!(conflict.is_some() && done.out.is_empty(), "{done:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_a_quota_or_a_key_does_not_allow_stops_no_other() {
    let service = Service::configured(|config| config.limits.vault_memories = Some(1)).await;
    let user = User::of_service(&service);
    create(&service, "z.md", "base").await;
    sync(&user).await;
    user.file("notes/b.md", "over the quota");
    user.file("notes/z.md", "here");
    let done = sync(&user).await.is(0);
    assert_eq!(done.out, "sent z.md\n");
    holds(&done.err, &["skipped: b.md: the vault has 1 memories"]);
    let admin = first_admin(&service).await;
    let reader = admin.make(json!({"name": "r", "role": "reader"})).await;
    let user = user.with("WORKING_MEMORY_API_KEY", &reader.token);
    fs::remove_file(user.path().join("notes/z.md")).unwrap();
    user.session(
        r#"
        6 sync notes → notes: both sides are equal, but ⇒ skipped: b.md: | skipped: z.md: | writer | not allowed: 2
        6 sync notes --json → {"sent": []} ⇒ "exit_code":6"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_cannot_be_synced_are_skipped_and_the_rest_is_synced() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    user.file("secret.md", "not to be read");
    user.file("notes/good.md", "good");
    user.file("notes/large.md", &"x".repeat(102_401));
    user.file("notes/.hidden.md", "hidden");
    user.file("notes/picture.png", "no Markdown");
    fs::write(folder.join("latin.md"), b"caf\xe9").unwrap();
    fs::write(folder.join("nul.md"), b"a\0b").unwrap();
    fs::write(folder.join(std::ffi::OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    symlink(user.path().join("secret.md"), folder.join("link.md")).unwrap();
    symlink(user.path(), folder.join("up")).unwrap();
    // What a killed sync left behind, and cannot be cleaned up.
    user.file("notes/left.md", "left alone");
    symlink("good.md", folder.join(".left.md.00.sync-swap")).unwrap();
    create(&service, "link.md", "from there").await;
    create(&service, "up/a.md", "behind a link").await;
    create(&service, ".config/x.md", "hidden").await;
    let done = sync(&user).await.is(0);
    let of_link = "up: it is a symbolic link|up/a.md: is or is behind a symbolic link";
    holds(&done.err, &of_link.split('|').collect::<Vec<_>>());
    assert!(!user.path().join("a.md").exists());
    fs::remove_file(folder.join("up")).unwrap();
    let done = sync(&user).await.is(0);
    let all = "latin.md: it is not UTF-8|nul.md: it contains a NUL|link.md: it is a symbolic link|\
            large.md: |/memories/.config/x.md: hidden|its name is not UTF-8|\
            left.md: an earlier run was interrupted";
    holds(&done.err, &all.split('|').collect::<Vec<_>>());
    let files = there(&service).await;
    assert_eq!(
        (files["good.md"].as_str(), files["link.md"].as_str()),
        ("good", "from there")
    );
    assert_eq!(files.len(), 4, "{files:?}");
    let read = |name: &str| fs::read_to_string(user.path().join(name)).unwrap();
    assert_eq!(read("secret.md"), "not to be read");
    assert!(folder.join("link.md").is_symlink());
    assert_eq!(read("notes/up/a.md"), "behind a link");
    // A folder that was replaced by a link is not deleted from the service.
    fs::remove_dir_all(folder.join("up")).unwrap();
    symlink(user.path(), folder.join("up")).unwrap();
    sync(&user).await.is(0);
    assert!(there(&service).await.contains_key("up/a.md"));
    // Of one that was replaced by a file the files are deleted.
    fs::remove_file(folder.join("up")).unwrap();
    user.file("notes/up", "no folder any more");
    sync(&user).await.is(0);
    assert!(!there(&service).await.contains_key("up/a.md"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_may_not_be_read_stops_no_other_file_and_none_of_it_counts_as_deleted() {
    // Root may read every folder.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let (service, user) = User::served().await;
    user.file("notes/sub/a.md", "base");
    user.file("notes/b.md", "base");
    sync(&user).await.is(0);
    let locked = user.path().join("notes/sub");
    let set = |mode| fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).unwrap();
    user.file("notes/b.md", "new");
    set(0);
    let done = sync(&user).await;
    set(0o700);
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "sent b.md\n"),
        "{done:?}"
    );
    holds(&done.err, &["skipped: sub/: Permission denied"]);
    assert_eq!(there(&service).await.len(), 2);
    assert_eq!(sync(&user).await.is(0).out, "notes: both sides are equal\n");
}

/// On a file system that ignores case, one of them is skipped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_differ_only_in_case_are_synced_as_far_as_the_folder_can_hold_them() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    for name in ["Tea.md", "tea.md"] {
        create(&service, name, name).await;
    }
    let done = sync(&user).await.is(0);
    let skipped = "skipped: tea.md: differs only in case from a file here";
    match here(&folder).len() {
        1 => holds(&done.err, &[skipped]),
        _ => assert_eq!(here(&folder), there(&service).await),
    }
    assert_eq!(there(&service).await.len(), 2);
    assert_eq!(here(&folder)["Tea.md"], "Tea.md");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_may_be_as_large_as_a_document_of_the_service() {
    let service = Service::configured(|config| config.limits.context_bytes = 6 << 20).await;
    let user = User::of(&format!("http://{}", service.socket_address()));
    user.file("notes/large.md", &"text\n".repeat(1 << 20));
    user.file("notes/too.md", &"text\n".repeat(3 << 20));
    let done = sync(&user).await.is(0);
    assert_eq!(done.out, "sent large.md\n");
    holds(&done.err, &["skipped: too.md: it is over 10485760 bytes"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_and_its_copies_are_for_those_who_could_read_it_before() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    user.file("notes/a.md", "base");
    user.file("notes/b.md", "base");
    for name in ["a.md", "b.md"] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    sync(&user).await.is(0);
    user.file("notes/b.md", "mine");
    replace_base(&service, "a.md", "theirs").await;
    replace_base(&service, "b.md", "theirs").await;
    sync(&user).await.is(0);
    let files = here(&folder);
    assert_eq!((files.len(), files["a.md"].as_str()), (3, "theirs"));
    for name in files.keys() {
        let mode = fs::metadata(folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_with_the_name_of_a_file_stops_no_other_file() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    fs::create_dir_all(folder.join("taken.md")).unwrap();
    create(&service, "taken.md", "there").await;
    create(&service, "z.md", "there").await;
    let done = sync(&user).await.is(0);
    holds(&done.err, &["skipped: taken.md: is a folder here"]);
    assert_eq!(here(&folder), of(&[("z.md", "there")]));
    assert_eq!(there(&service).await.len(), 2);
    fs::remove_dir(folder.join("taken.md")).unwrap();
    sync(&user).await.is(0);
    assert_eq!(here(&folder).len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_arguments_change_nothing() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    user.session("2 sync notes ⇒ --root").await;
    for number in 0..5 {
        user.file(&format!("notes/{number}.md"), "text");
    }
    sync(&user).await.is(0);
    // Another service at the address has neither the files nor their texts.
    let other = Service::start().await;
    other.memory("agent").write("of another program").await;
    let there_url = format!("--url http://{}", other.socket_address());
    user.session(&format!(
        "
        2 sync notes --root other ⇒ is synchronised with root agent of vault acme
        2 sync notes --vault other
        3 sync notes --url http://127.0.0.1:9 ⇒ no service answers
        5 sync notes {there_url} ⇒ 5 files would be removed | --allow-deletions"
    ))
    .await;
    let skipped = user
        .done(&format!("sync notes {there_url} --allow-deletions"))
        .await;
    let told = "skipped: 4.md: the service has neither the file nor its text";
    holds(&skipped.err, &[told, "removing .working-memory-sync.json"]);
    assert_eq!(here(&folder).len(), 5);
    for number in 0..5 {
        fs::remove_file(folder.join(format!("{number}.md"))).unwrap();
    }
    sync(&user).await.is(5);
    assert_eq!(there(&service).await.len(), 5);
    user.done("sync notes --allow-deletions").await;
    assert_eq!(there(&service).await.len(), 0);
    fs::write(folder.join(".working-memory-sync.json"), "{").unwrap();
    user.file("file.md", "text");
    user.session(
        "
        1 sync notes --root agent ⇒ is damaged
        1 sync file.md --root agent ⇒ file.md is not a folder",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watched_folder_is_synced_continuously_by_one_process() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    let arguments = ["sync", "notes", "--root", "agent", "--watch", "--every", "1s"];
    let mut watch = user
        .command(PROGRAM, &arguments)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the folder is made", async || {
        folder.join(".working-memory-sync.json").exists()
    })
    .await;
    let second = sync(&user).await.is(1);
    holds(&second.err, &["another sync of notes is running"]);
    create(&service, "a.md", "there").await;
    eventually("a file comes", async || folder.join("a.md").exists()).await;
    user.file("notes/b.md", "here");
    eventually("a file goes", async || there(&service).await.contains_key("b.md")).await;
    fs::remove_file(folder.join("a.md")).unwrap();
    eventually("a deletion goes", async || {
        !there(&service).await.contains_key("a.md")
    })
    .await;
    // A folder there has the name of a file here, until it is removed.
    create(&service, "taken.md/x.md", "there").await;
    user.file("notes/taken.md", "here");
    user.file("notes/z.md", "here");
    eventually("the next file goes", async || {
        there(&service).await.contains_key("z.md")
    })
    .await;
    let delete = json!({"command": "delete", "path": "/memories/taken.md"});
    tool(&service, delete).await;
    eventually("the file goes too", async || {
        there(&service).await.contains_key("taken.md")
    })
    .await;
    let pid = Pid::from_raw(watch.id().unwrap().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(watch.wait().await.unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_ends_when_its_folder_is_moved_or_replaced_and_deletes_nothing() {
    let (service, user) = User::served().await;
    let (folder, moved) = (user.path().join("notes"), user.path().join("moved"));
    for name in ["a.md", "b.md"] {
        user.file(&format!("notes/{name}"), "base");
        user.file(&format!("copy/{name}"), "base");
    }
    for is_replaced in [false, true] {
        sync(&user).await.is(0);
        let arguments = ["sync", "notes", "--watch", "--every", "1s"];
        let mut watch = user.command(PROGRAM, &arguments);
        let mut watch = watch
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(watch.stdout.take().unwrap());
        out.read_line(&mut String::new()).await.unwrap();
        if is_replaced {
            fs::remove_dir_all(&folder).unwrap();
            fs::rename(user.path().join("copy"), &folder).unwrap();
        } else {
            fs::rename(&folder, &moved).unwrap();
            create(&service, "new.md", "there").await;
        }
        let ended = tokio::time::timeout(Duration::from_secs(60), watch.wait_with_output());
        let ended = ended.await.unwrap().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        holds(&told, &["notes was moved, removed or replaced"]);
        assert_eq!(ended.status.code(), Some(5), "{told}");
        assert_eq!(there(&service).await.len(), 3);
        if !is_replaced {
            assert!(!moved.join("new.md").exists());
            fs::rename(&moved, &folder).unwrap();
        }
    }
    assert_eq!(here(&folder).len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_sent_before_an_interruption_is_known_afterwards() {
    for (option, signal, most_conflicts) in [("--all", Signal::KILL, 8), ("--watch", Signal::TERM, 1)] {
        let service = Service::start().await;
        let (host, port) = service.socket_address().split_once(':').unwrap();
        let relay = Relay::to(Target::Tcp(host.to_owned(), port.parse().unwrap())).await;
        let user = User::of(&format!("http://{}", relay.address()));
        let name = |number| format!("{number:03}.md");
        for number in 0..150 {
            user.file(&format!("notes/{}", name(number)), "base");
        }
        let arguments = ["sync", "notes", "--root", "agent", option];
        let mut child = user
            .command(PROGRAM, &arguments)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let sent = async || {
            let list = service.read(&format!("{FILES}&limit=500")).await;
            list["items"].as_array().unwrap().len()
        };
        eventually("some files are sent", async || sent().await > 30).await;
        relay.fall_silent();
        let pid = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        child.wait().await.unwrap();
        relay.cut();
        relay.go_on();
        assert!(sent().await < 150);
        for number in 1..150 {
            user.file(&format!("notes/{}", name(number)), "edited");
        }
        fs::remove_file(user.path().join("notes").join(name(0))).unwrap();
        let told = user.done("sync notes --json").await.json();
        assert_eq!(told["unlinked"], json!([name(0)]), "{option}: {told}");
        let conflicts = told["conflicts"].as_object().unwrap().len();
        assert!(conflicts <= most_conflicts, "{option}: {told}");
        assert!(!there(&service).await.contains_key(&name(0)), "{option}");
    }
}

/// The texts that were written and that nobody has read and then changed or deleted.
#[derive(Default)]
struct Alive {
    texts: BTreeSet<String>,
    written: u32,
}

impl Alive {
    fn new_text(&mut self) -> String {
        self.written += 1;
        let text = format!("text {} {}\n", self.written, "x".repeat(2_000));
        self.texts.insert(text.clone());
        text
    }
}

/// An edit on the service, based on what it read: a write of a killed process may arrive in between.
async fn rewrite(service: &Service, name: &str, alive: &mut Alive, text: Option<String>) {
    let file = format!("{FILES}&path=/memories/{name}");
    loop {
        let list = service.read(&format!("{FILES}&limit=500")).await;
        let path = format!("/memories/{name}");
        let mut files = list["items"].as_array().unwrap().iter();
        if let Some(there) = files.find(|file| file["path"] == path.as_str()) {
            let memory = service.memory(there["memory_id"].as_str().unwrap());
            let seen = memory.get("context").await.is(200);
            let delete = service
                .request(Method::DELETE, &file)
                .header("If-Match", seen.header("ETag"));
            if Answer::to(delete).await.status != 204 {
                continue;
            }
            alive.texts.remove(seen.text());
        }
        let Some(text) = &text else { return };
        let put = service.request(Method::PUT, &file).header("If-None-Match", "*");
        let put = put.header("Content-Type", "text/plain").body(text.clone());
        if Answer::to(put).await.status == 201 {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_when_it_is_killed_at_any_point() {
    let (service, user) = User::served().await;
    let folder = user.path().join("notes");
    fs::create_dir(&folder).unwrap();
    let mut random = fastrand::Rng::with_seed(19);
    let mut alive = Alive::default();
    let mut killed = 0;
    // Shorter than a whole run takes, on any machine: it decreases after a run that finished first, and increases after one
    // that did not.
    let mut longest_wait = Duration::from_millis(90);
    for _ in 0..80 {
        for _ in 0..random.usize(1..6) {
            let name = format!("{}.md", random.u8(0..6));
            let path = folder.join(&name);
            let delete = random.u8(0..5) == 0;
            if random.bool() {
                if let Ok(seen) = fs::read_to_string(&path) {
                    alive.texts.remove(&seen);
                    fs::remove_file(&path).unwrap();
                }
                if !delete {
                    fs::write(&path, alive.new_text()).unwrap();
                }
            } else {
                let text = (!delete).then(|| alive.new_text());
                rewrite(&service, &name, &mut alive, text).await;
            }
        }
        let sync = ["sync", "notes", "--root", "agent", "--allow-deletions"];
        let mut child = user
            .command(PROGRAM, &sync)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        tokio::time::sleep(longest_wait.mul_f64(random.f64())).await;
        child.start_kill().unwrap();
        let was_killed = child.wait().await.unwrap().code().is_none();
        longest_wait = longest_wait.mul_f64(if was_killed { 1.25 } else { 0.8 });
        killed += u32::from(was_killed);
    }
    assert!(killed > 5, "killed {killed} times");
    // A request of a killed process may reach the service after the process ended.
    eventually("both sides are equal", async || {
        let sync = ["sync", "notes", "--root", "agent", "--allow-deletions"];
        user.run(&sync).await.is(0);
        there(&service).await == here(&folder)
    })
    .await;
    let files = here(&folder);
    let texts: BTreeSet<&String> = files.values().collect();
    for text in &alive.texts {
        assert!(texts.contains(text), "lost: {}", &text[..10]);
    }
    let all = crate::cli::program::files(&folder);
    let hidden = all.keys().filter(|name| name.starts_with('.'));
    assert_eq!(hidden.collect::<Vec<_>>(), [".working-memory-sync.json"]);
}
