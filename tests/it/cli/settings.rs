//! Where a command finds its settings.

use super::program::User;
use super::stub::Stub;
use crate::harness::{holds, lacks};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{lchown, symlink};

#[tokio::test]
async fn a_file_in_a_folder_above_names_service_memory_actor_and_key() {
    let stub = Stub::json(200, json!({"items": [], "next_cursor": null})).await;
    let user = User::nobody();
    let settings = "vault = \"v\"\nmemory = \"m\"\nactor = \"a\"\nkey_file = \"key\"\n";
    let settings = format!("url = \"{}/below\"\n{settings}", stub.url);
    user.file(".working-memory.toml", &settings);
    user.file("key", "wm_secret\n");
    user.file("x/y/z", "");
    let mut log = user.command(super::program::PROGRAM, &["log"]);
    let log = log.current_dir(user.path().join("x/y")).output().await.unwrap();
    assert!(log.status.success(), "{log:?}");
    let request = stub.only();
    assert_eq!(request.uri, "/below/v1/vaults/v/memories/m/log?limit=50");
    assert_eq!(request.header("authorization"), Some("Bearer wm_secret"));
    assert_eq!(request.header("x-actor-id"), Some("a"));
    assert_eq!(request.header("idempotency-key"), None);

    user.done("log --memory n --actor b -n 3").await;
    let request = &stub.asked()[1];
    assert_eq!(request.uri, "/below/v1/vaults/v/memories/n/log?limit=3");
    assert_eq!(request.header("x-actor-id"), Some("b"));
}

#[tokio::test]
async fn no_key_of_the_environment_goes_where_only_a_file_says() {
    let stub = Stub::json(200, json!({"items": [], "next_cursor": null})).await;
    let user = User::nobody().with("WORKING_MEMORY_API_KEY", "wm_secret");
    let file = format!("url = \"{}\"\nvault = \"v\"\nmemory = \"m\"\n", stub.url);
    user.file(".working-memory.toml", &file);
    let refused = user.ends(2, "log").await;
    holds(&refused.err, &[&stub.url, "WORKING_MEMORY_URL"]);
    let hook = user.done_with("hook session-start", "{}").await;
    assert!(hook.err.contains(&stub.url), "{hook:?}");
    assert!(stub.asked().is_empty(), "{:?}", stub.asked());
    user.run(&["log", "--url", &stub.url]).await.is(0);
    assert_eq!(stub.only().header("authorization"), Some("Bearer wm_secret"));
}

#[tokio::test]
async fn a_key_goes_only_where_its_user_or_its_own_file_says() {
    let stub = Stub::json(200, json!({"items": [], "next_cursor": null})).await;
    // The key that the environment names, what the file says, and whether the request is made.
    let (here, far) = (format!("url = \"{}\"", stub.url), "url = \"http://192.0.2.1\"");
    for (key, file, is_sent) in [
        // The file that names the key names an address of this machine.
        (None, format!("{here}\nkey_file = \"key\"\n"), true),
        (Some("wm_mine"), format!("{here}\nkey_file = \"key\"\n"), false),
        (None, format!("{far}\nkey_file = \"key\"\n"), false),
        (Some("wm_mine"), format!("{far}\n"), false),
        (Some("sec ret\nx"), String::new(), false),
        (None, "key_file = \"no-such\"\n".to_owned(), false),
        // A folder that came from somebody else names no other files of its user.
        (None, "key_file = \"/etc/hostname\"\n".to_owned(), false),
        (
            None,
            format!("key_file = \"{}etc/hostname\"\n", "../".repeat(8)),
            false,
        ),
    ] {
        let user = User::nobody();
        let user = match key {
            Some(key) => user.with("WORKING_MEMORY_API_KEY", key),
            None => user,
        };
        user.file("key", "wm_of_file\n");
        let file = format!("vault = \"v\"\nmemory = \"m\"\n{file}");
        user.file(".working-memory.toml", &file);
        let before = stub.asked().len();
        let done = user.run(&["log"]).await.is(if is_sent { 0 } else { 2 });
        lacks(&done.err, &["wm_mine", "wm_of_file", "sec ret"]);
        assert_eq!(stub.asked().len() - before, usize::from(is_sent), "{file}");
    }
    assert_eq!(stub.only().header("authorization"), Some("Bearer wm_of_file"));
}

#[tokio::test]
async fn a_file_of_another_user_is_refused_or_passed_over_where_the_service_is_named() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let stub = Stub::json(200, json!({"items": [], "next_cursor": null})).await;
    let file = format!("url = \"{}\"\nvault = \"v\"\nmemory = \"m\"\n", stub.url);
    // The file, or the link to one of this user's.
    for is_link in [false, true] {
        let user = User::nobody();
        user.file(".working-memory.toml", &format!("{file}key_file = \"key\"\n"));
        user.file("key", "wm_secret\n");
        user.done("log").await;
        let path = user.path().join(".working-memory.toml");
        if is_link {
            fs::rename(&path, user.path().join("mine")).unwrap();
            symlink("mine", &path).unwrap();
            user.done("log").await;
        }
        let before = stub.asked().len();
        lchown(&path, Some(65_534), None).unwrap();
        let told = [".working-memory.toml belongs to the user 65534", "chown", "--url"];
        holds(&user.ends(2, "log").await.err, &told);
        holds(&user.done_with("hook session-start", "{}").await.err, &told);
        holds(&user.ends(2, "path").await.err, &told);
        assert_eq!(stub.asked().len(), before);

        let named = format!(
            "2 log --url {} ⇒ no vault is named\n4 path --vault w --memory n",
            stub.url
        );
        user.session(&named).await;
        user.done(&format!("log --url {} --vault w --memory n", stub.url))
            .await;
        let asked = stub.asked();
        let last = asked.last().unwrap();
        assert_eq!(last.uri, "/v1/vaults/w/memories/n/log?limit=50");
        assert_eq!(last.header("authorization"), None);
    }
}

#[tokio::test]
async fn missing_or_wrong_settings_are_usage_errors() {
    let user = User::nobody();
    user.session(
        "
        2 get ⇒ no vault is named | --vault | WORKING_MEMORY_VAULT | .working-memory.toml
        2 get --url http://u:p@h --vault v --memory m
        2 get --url http://h/?q --vault v --memory m
        2 get --url 127.0.0.1:8080 --vault v --memory m ⇒ must begin with http:// or https://
        2 get --url localhost:8080 --vault v --memory m ⇒ must begin with http:// or https://
        2 get --key-file none --vault v --memory m ⇒ the API key: cannot read none
        2 get --url file:///x --vault v --memory m
        2 get --url http://h#f --vault v --memory m
        2 versions --limit -1 ⇒ -1 is not in 1..=500
        2 versions -n 501 ⇒ 501 is not in 1..=500
        2 operations --max-additions -1 x ⇒ -1 is not in 1..=100
        2 prompt --max-tokens -5 ⇒ -5 is not in 1..=4294967295
        2 get --timeout -1 ⇒ -1 is not in 1..=86400
        2 health --timeout 0 ⇒ 0 is not in 1..=86400",
    )
    .await;
    user.file(".working-memory.toml", "vault = \"v\"\nmemry = \"m\"\n");
    user.session("2 show ⇒ memry | .working-memory.toml").await;
    let empty = User::nobody().with("WORKING_MEMORY_VAULT", "");
    empty.file(".working-memory.toml", "vault = \"v\"\nmemory = \"..\"\n");
    empty
        .session("2 get ⇒ .working-memory.toml: memory must be")
        .await;
    user.session("2 get --vault ../x\n2 restore .. --vault v --memory m")
        .await;
    // What is no text is not ignored: another service would be called, or none with the key.
    for (name, rule) in [
        ("URL", "must begin with http"),
        ("VAULT", "must be 1 to 128"),
        ("API_KEY", "must contain"),
    ] {
        let name = format!("WORKING_MEMORY_{name}");
        let mut get = empty.command(super::program::PROGRAM, &["get", "--memory", "m"]);
        let done = get.env(&name, OsStr::from_bytes(b"\xff")).output().await.unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{told}");
        holds(&told, &[&name, rule]);
    }
}

#[tokio::test]
async fn completions_and_manual_pages_match_the_commands() {
    let user = User::nobody();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        user.session(&format!("completions {shell} → set-status")).await;
    }
    user.session(
        "
        man → no service answers
        man items put → category
        2 man nothing
        man --dir share/man
        man --dir share/man
        1 man --dir share/man/working-memory-put.1 ⇒ cannot write into",
    )
    .await;
    assert!(user.path().join("share/man/working-memory-put.1").exists());
    holds(
        user.done("man").await.out.replace('\\', ""),
        &[".TH working-memory"],
    );
}
