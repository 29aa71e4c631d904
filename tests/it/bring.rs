//! `bring` and `export --format`: the real program, against a real service.

use crate::cli::program::{Done, User};
use crate::harness::{Service, holds, lacks};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

/// The systems with a sample file of each, and what is said of it.
const SAMPLES: [(&str, &str, &str); 7] = [
    (
        "claude-md",
        "CLAUDE.md",
        "agent: 5 learnings, 1 section added; 0 already there; version 1\nnot kept:\n  CLAUDE.md:3: @docs/design.md is kept \
         as words; bring the file that it imports too\n",
    ),
    (
        "agents-md",
        "AGENTS.md",
        "agent: 3 learnings, 1 section added; 0 already there; version 1\n",
    ),
    (
        "markdown",
        "AGENTS.md",
        "agent: 3 learnings, 1 section added; 0 already there; version 1\n",
    ),
    (
        "mem0",
        "mem0.json",
        "agent-deployer: 1 learning, 0 sections added; 0 already there; version 1\n\
         user-ann: 2 learnings, 0 sections added; 0 already there; version 1\nnot kept:\n  mem0.json: hash of mem0 (3)\n",
    ),
    (
        "letta",
        "agent.af",
        "agent: 0 learnings, 2 sections added; 0 already there; version 1\nnot kept:\n  agent.af: the description of block \
         human\n  agent.af: of agent Helper: system prompt, 1 messages, settings\n  agent.af: tools (1)\n",
    ),
    (
        "letta",
        "passages.json",
        "agent: 2 learnings, 0 sections added; 0 already there; version 1\n",
    ),
    (
        "basic-memory",
        "coffee.md",
        "agent: 4 learnings, 1 section added; 0 already there; version 1\n",
    ),
];

/// A user whose folder has the sample files.
async fn service_and_user() -> (Service, User) {
    let (service, user) = User::served().await;
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bring");
    for file in std::fs::read_dir(samples).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), user.path().join(file.file_name())).unwrap();
    }
    (service, user)
}

/// All that the vault has: memories with their versions, documents, records and prompt items.
async fn vault(service: &Service) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let mut add = async |path: String| {
        let answer = service.get(&format!("/v1/vaults/acme/{path}")).await;
        let read = match path.ends_with("/context") {
            true => Value::from(answer.text()),
            false => answer.json(),
        };
        all.insert(path, read.clone());
        read
    };
    let list = add("memories".to_owned()).await;
    add("items".to_owned()).await;
    for memory in list["items"].as_array().unwrap() {
        let memory = memory["memory_id"].as_str().unwrap();
        for part in ["context", "contexts", "records?status=all", "items"] {
            add(format!("memories/{memory}/{part}")).await;
        }
    }
    all
}

async fn bring(user: &User, system: &str, arguments: &[&str]) -> Done {
    user.run(&[&["bring", "--from", system], arguments].concat())
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_system_moves_in_by_one_command_and_a_second_run_changes_nothing() {
    for (system, file, said) in SAMPLES {
        let (service, user) = service_and_user().await;
        let before = vault(&service).await;
        let tried = bring(&user, system, &["--dry-run", file]).await.is(0);
        holds(&tried.out, &[" would be added; 0 already there\n  "]);
        assert!(tried.out.contains(&format!(" from {file}:")), "{tried:?}");
        let tried = vault(&service).await;
        assert_eq!(tried, before, "{system}: a dry run writes nothing");

        let done = bring(&user, system, &[file]).await.is(0);
        assert_eq!(done.out, said);
        let after = vault(&service).await;
        assert_ne!(after, before);
        let again = bring(&user, system, &[file]).await.is(0);
        holds(&again.out, &[": 0 learnings, 0 sections added; "]);
        let again = vault(&service).await;
        assert_eq!(again, after, "{system}: a second run changes nothing");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_have_their_place_as_reason_and_the_times_of_their_system() {
    let (_service, user) = service_and_user().await;
    bring(&user, "mem0", &["mem0.json"]).await.is(0);
    let document = user.done("get --memory user-ann").await.out;
    let id = "mem0 id 0b2f1f6e-6a51-4a0e-9f4e-2f3c5f1d7a0";
    assert_eq!(
        document,
        format!(
            "# Key Learnings\n- KL-1 [2025-03-01T10:00:00Z] because from mem0.json, {id}2: Ann works on the parser\n\
             - KL-2 [2025-03-02T17:30:00Z] because from mem0.json, {id}1, updated 2025-04-01T15:00:00Z, categories \
             preferences, metadata {{\"source\":\"chat\"}}: Ann prefers short answers\n"
        )
    );
    user.session(
        r#"
        records --memory user-ann --json → {"/items/1/content": "Ann prefers short answers", "/items/1/reason^": "from mem0.json, "}
        bring --from letta --json agent.af passages.json → {"/memories/0/version": 1, "/memories/0/added/0/place": "agent.af", "/memories/0/added/3/record_id": "KL-2", "not_kept#": 3}"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_with_credentials_or_of_another_form_are_refused_before_anything_is_written() {
    let (service, user) = service_and_user().await;
    let token = format!("ghp_{}", "a1".repeat(12));
    user.file("SECRET.md", &format!("- fine\n- the token is {token}\n"));
    let escaped = r#"[{"memory": "passwor\u0064=hunter22", "user_id": "u"}]"#;
    user.file("escaped.json", escaped);
    user.file("broken.json", "{\"results\": [\n  {\"memory\": 1}]}");
    let form = "broken.json:2:14: invalid type: integer `1`";
    for (system, files, said) in [
        ("claude-md", ["CLAUDE.md", "SECRET.md"], "SECRET.md:2: token\n"),
        (
            "mem0",
            ["mem0.json", "escaped.json"],
            "escaped.json: credential\n",
        ),
        ("mem0", ["mem0.json", "broken.json"], form),
    ] {
        let refused = bring(&user, system, &files).await.is(5);
        holds(&refused.err, &[said, "nothing was written"]);
        lacks(format!("{refused:?}"), &[&token, "hunter22"]);
    }
    user.session(
        "
        2 bring --from claude-md CLAUDE.md ./CLAUDE.md
        2 bring --from claude-md 'no such file'
        2 bring --from claude-md",
    )
    .await;
    let list = &vault(&service).await["memories"]["items"];
    assert_eq!(*list, json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_one_name_in_other_folders_are_told_apart_by_their_folder() {
    let (_service, user) = service_and_user().await;
    let mut files = Vec::new();
    for folder in ["one", "two"] {
        std::fs::create_dir(user.path().join(folder)).unwrap();
        user.file(&format!("{folder}/CLAUDE.md"), &format!("- of {folder}\n"));
        let file = user.path().join(folder).join("CLAUDE.md");
        files.push(file.to_str().unwrap().to_owned());
    }
    bring(&user, "claude-md", &[&files[0], &files[1]]).await.is(0);
    let document = user.done("get").await.out;
    holds(
        &document,
        &[
            "because from CLAUDE.md:1: of one\n",
            "because from two/CLAUDE.md:1: of two\n",
        ],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bringing_exporting_and_bringing_changes_nothing() {
    for (system, file, _) in SAMPLES {
        let (service, user) = service_and_user().await;
        // Exports and documents are those of one memory; mem0's is that of a user.
        let user = match system {
            "mem0" => user.with("WORKING_MEMORY_MEMORY", "user-ann"),
            _ => user,
        };
        bring(&user, system, &[file]).await.is(0);
        let before = vault(&service).await;
        for format in ["claude-md", "markdown"] {
            let export = format!("export --format {format}");
            user.session(&format!("{export} --output BACK.md → =")).await;
            let back = std::fs::read_to_string(user.path().join("BACK.md")).unwrap();
            lacks(&back, &["KL-1", "because from"]);
            assert_eq!(user.done(&export).await.out, back);
            for system in ["claude-md", "markdown"] {
                let done = bring(&user, system, &["BACK.md"]).await.is(0);
                holds(&done.out, &[": 0 learnings, 0 sections added; "]);
            }
            assert_eq!(vault(&service).await, before);
        }
    }
    let (_service, user) = service_and_user().await;
    user.session(
        "
        4 export --format claude-md
        2 export --format json
        2 export --url http://127.0.0.1:1 --vault acme
        2 export",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_replaces_only_a_file_and_opens_it_to_nobody() {
    let (_service, user) = service_and_user().await;
    user.done_with("put", "text\n").await;
    let file = user.path().join("BACK.md");
    // The first makes the file, the second has one that not even its owner may write.
    for mode in [0o600, 0o400] {
        user.done("export --format markdown --output BACK.md").await;
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text\n");
        let made = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(made & 0o777, mode);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    }
    let _socket = std::os::unix::net::UnixListener::bind(user.path().join("socket")).unwrap();
    let refused = user.ends(2, "export --format markdown --output socket").await;
    assert!(refused.err.contains("is not a regular file"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_memory_has_stays_and_what_was_archived_is_not_added_again() {
    let (_service, user) = service_and_user().await;
    let begin = "# Acme shop\nOur own words.\n\n# Key Learnings\n- KL-7 because it was: there\n# Decisions\n- D-1 stays\n";
    user.done_with("put", begin).await;
    user.file("hostile.md", include_str!("../data/bring/hostile.md"));
    bring(&user, "markdown", &["hostile.md", "CLAUDE.md"]).await.is(0);
    let document = user.done("get").await.out;
    let is_first = document.starts_with("# Acme shop\nOur own words.\n");
    assert!(is_first, "{document}");
    let kept = "- KL-7 because it was: there\n|# Acme shop (CLAUDE.md)\n|\n- D-1 stays\n|: Build with `make build`\n";
    holds(&document, &kept.split('|').collect::<Vec<_>>());
    let records = user.done("records --status all --json").await.json();
    for record in records["items"].as_array().unwrap() {
        let id = record["record_id"].as_str().unwrap();
        let reason = record["reason"].as_str().unwrap_or_default();
        let is_brought = reason.starts_with("from ") && id.starts_with("KL-");
        assert!(is_brought || ["D-1", "KL-7"].contains(&id), "{record}");
        assert_eq!(record["status"], "active", "{record}");
    }

    let archive = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-8 because it was wrong\n";
    user.done_with("operations", archive).await;
    user.session("bring --from markdown hostile.md CLAUDE.md → ^agent: 0 learnings, 0 sections added; ")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_that_would_be_too_large_is_named_with_those_that_are_finished() {
    let (_service, user) = service_and_user().await;
    let long = "word ".repeat(30_000);
    let big = json!([{"memory": "a", "user_id": "a"}, {"memory": long, "user_id": "b"}]);
    user.file("big.json", &big.to_string());
    user.session(
        r#"
        5 bring --from mem0 big.json ⇒ memory user-b: body has  | 102400 | ; finished before: user-a
        memories --json → {"items#": 1}"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_one_memory_at_the_same_time_lose_nothing_of_each_other() {
    let (_service, user) = service_and_user().await;
    let done = tokio::join!(
        bring(&user, "claude-md", &["CLAUDE.md"]),
        bring(&user, "agents-md", &["AGENTS.md"]),
        bring(&user, "letta", &["passages.json"]),
        bring(&user, "basic-memory", &["coffee.md"]),
    );
    for done in [done.0, done.1, done.2, done.3] {
        done.is(0);
    }
    let table = r#"
        records --json → {"items#": 14}
        versions --json → {"items#": 4}"#;
    user.session(table).await;
}
