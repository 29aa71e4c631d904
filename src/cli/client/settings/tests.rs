use super::super::failure::Exit;
use super::*;
use crate::config::Config;
use secrecy::ExposeSecret as _;
use std::fs;
use std::ops::Deref;
use tempfile::TempDir;

/// Settings with a folder that lives as long as they do: a key file is read when it is used.
struct Here {
    found: SettingSources,
    _folder: TempDir,
}

impl Deref for Here {
    type Target = SettingSources;

    fn deref(&self) -> &SettingSources {
        &self.found
    }
}

/// Settings with these variables, in a folder below one with this file.
fn surroundings(variables: &'static [(&str, &str)], file: &str) -> Result<Here, Failure> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE_NAME), file).unwrap();
    fs::write(folder.path().join("key"), "from-file\n").unwrap();
    let below = folder.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let found = SettingSources::new(
        |name| {
            let variable = variables.iter().find(|(variable, _)| *variable == name);
            variable.map(|(_, value)| (*value).to_owned())
        },
        &below,
    )?;
    Ok(Here {
        found,
        _folder: folder,
    })
}

fn named(url: &str) -> ServiceArgs {
    ServiceArgs {
        url: Some(url.to_owned()),
        ..ServiceArgs::default()
    }
}

#[test]
fn options_count_more_than_variables_and_those_more_than_the_file() {
    let file = "url = \"http://127.0.0.1:3\"\nvault = \"v3\"\nmemory = \"m3\"\nactor = \"a3\"\n";
    let all = surroundings(
        &[
            ("WORKING_MEMORY_URL", "http://127.0.0.1:2/x"),
            ("WORKING_MEMORY_VAULT", "v2"),
            ("WORKING_MEMORY_ACTOR", ""),
        ],
        file,
    )
    .unwrap();
    let none = ServiceArgs::default();
    let by_hand = MemoryArgs {
        vault: Some("v1".parse().unwrap()),
        memory: None,
    };
    assert_eq!(all.vault(&by_hand).unwrap().unwrap().as_str(), "v1");
    assert_eq!(all.vault(&none.memory_ref).unwrap().unwrap().as_str(), "v2");
    assert_eq!(all.memory(&by_hand).unwrap().unwrap().as_str(), "m3");
    assert_eq!(all.actor(&none).unwrap().unwrap().as_str(), "a3");
    assert_eq!(
        all.connection(&none).unwrap().0.url.as_str(),
        "http://127.0.0.1:2/x"
    );
    assert_eq!(
        all.connection(&named("http://h:1")).unwrap().0.url.as_str(),
        "http://h:1/"
    );
    let file_only = surroundings(&[], file).unwrap();
    assert_eq!(
        file_only.connection(&none).unwrap().0.url.as_str(),
        "http://127.0.0.1:3/"
    );
    let nothing = surroundings(&[], "").unwrap();
    assert_eq!(
        nothing.connection(&none).unwrap().0.url.as_str(),
        "http://127.0.0.1:8080/"
    );
    assert!(nothing.actor(&none).unwrap().is_none());
}

#[test]
fn an_error_names_its_source() {
    let message = |failure: Failure| {
        assert_eq!(failure.exit, Exit::Usage);
        failure.sentence
    };
    let none = ServiceArgs::default();
    let missing = surroundings(&[], "").unwrap();
    let sentence = message(not_named("memory"));
    assert!(
        sentence.contains("--memory")
            && sentence.contains("WORKING_MEMORY_MEMORY")
            && sentence.contains(FILE_NAME),
        "{sentence}"
    );
    let bad = surroundings(
        &[("WORKING_MEMORY_VAULT", "../x")],
        "memory = \"..\"\nurl = \"ftp://h\"",
    )
    .unwrap();
    assert!(
        message(bad.vault(&none.memory_ref).unwrap_err())
            .starts_with("WORKING_MEMORY_VAULT must be 1 to 128")
    );
    assert!(
        message(bad.memory(&none.memory_ref).unwrap_err()).contains("/.working-memory.toml: memory must be")
    );
    assert!(message(bad.connection(&none).unwrap_err()).contains("url must begin with http://"));
    for url in ["http://u:p@h", "http://h/?q", "h", "file:///x", "http://h#f"] {
        message(missing.connection(&named(url)).unwrap_err());
    }
    for file in ["vaults = \"x\"", "url = ", "[client]\nurl = \"http://h\""] {
        let sentence = message(surroundings(&[], file).err().unwrap());
        assert!(sentence.contains("/.working-memory.toml: "), "{sentence}");
    }
    let sentence = message(surroundings(&[], "vaults = \"x\"").err().unwrap());
    assert!(sentence.contains("vaults"), "{sentence}");
}

#[test]
fn a_key_comes_from_a_variable_or_a_file_and_is_never_shown() {
    let key = |surroundings: &SettingSources, args: &ServiceArgs| {
        let key = surroundings.key(args).unwrap();
        key.map(|key| key.expose_secret().to_owned())
    };
    let none = ServiceArgs::default();
    let file = surroundings(&[], "key_file = \"key\"").unwrap();
    assert_eq!(key(&file, &none).as_deref(), Some("from-file"));
    let both = surroundings(
        &[("WORKING_MEMORY_API_KEY", " from-variable ")],
        "key_file = \"key\"",
    )
    .unwrap();
    assert_eq!(key(&both, &none).as_deref(), Some("from-variable"));
    let bad = surroundings(&[("WORKING_MEMORY_API_KEY", "sec ret\nx")], "").unwrap();
    let failure = bad.connection(&none).unwrap_err();
    assert!(!failure.sentence.contains("sec"), "{}", failure.sentence);
    let missing = surroundings(&[], "key_file = \"no-such\"").unwrap();
    assert!(
        missing
            .connection(&none)
            .unwrap_err()
            .sentence
            .contains("no-such")
    );
}

#[test]
fn the_variables_key_goes_to_no_address_that_only_a_file_names() {
    let elsewhere = surroundings(&[("WORKING_MEMORY_API_KEY", "k")], "url = \"https://else.where\"").unwrap();
    let none = ServiceArgs::default();
    assert_eq!(elsewhere.connection(&none).unwrap_err().exit, Exit::Usage);
    assert!(
        elsewhere
            .connection(&named("https://else.where"))
            .unwrap()
            .1
            .is_some()
    );
    // Another account of this machine may listen at a port that a repository names.
    for url in [
        "http://[::1]:8080",
        "http://127.0.0.1:18999",
        "http://localhost:8080/x",
    ] {
        let file: &'static str = Box::leak(format!("url = \"{url}\"").into_boxed_str());
        let here = surroundings(&[("WORKING_MEMORY_API_KEY", "k")], file).unwrap();
        assert_eq!(here.connection(&none).unwrap_err().exit, Exit::Usage, "{url}");
        assert!(here.connection(&named(url)).unwrap().1.is_some(), "{url}");
    }
    // The key would be sent there without the file, too.
    let default = surroundings(
        &[("WORKING_MEMORY_API_KEY", "k")],
        "url = \"http://127.0.0.1:8080\"",
    )
    .unwrap();
    assert!(default.connection(&none).unwrap().1.is_some());
    // The file that names the key names the address.
    let own = "url = \"http://127.0.0.1:18999\"\nkey_file = \"key\"";
    assert!(
        surroundings(&[], own)
            .unwrap()
            .connection(&none)
            .unwrap()
            .1
            .is_some()
    );
    let other = surroundings(&[("WORKING_MEMORY_API_KEY", "k")], own).unwrap();
    assert_eq!(other.connection(&none).unwrap_err().exit, Exit::Usage);
    let own = "url = \"https://else.where\"\nkey_file = \"key\"";
    let refused = surroundings(&[], own).unwrap().connection(&none).unwrap_err();
    assert!(
        refused.sentence.contains("https://else.where"),
        "{}",
        refused.sentence
    );
    let trusted = surroundings(&[("WORKING_MEMORY_URL", "https://else.where")], own).unwrap();
    assert!(trusted.connection(&none).unwrap().1.is_some());
}

#[test]
fn a_key_file_that_a_folder_names_is_inside_it() {
    let none = ServiceArgs::default();
    for outside in ["../../../../../../../../../etc/hostname", "/etc/hostname"] {
        let file = surroundings(&[], &format!("key_file = \"{outside}\"")).unwrap();
        let failure = file.connection(&none).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(
            failure.sentence.contains("key_file must be inside"),
            "{}",
            failure.sentence
        );
    }
}

#[test]
fn the_service_does_not_read_the_variables_of_its_clients() {
    let variables = ["URL", "VAULT", "MEMORY", "ACTOR", "API_KEY", "HOME"]
        .map(|name| (format!("WORKING_MEMORY_{name}"), "x".to_owned()));
    Config::load(None, variables).unwrap();
}
