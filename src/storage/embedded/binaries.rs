//! Finds the PostgreSQL binaries of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::EmbeddedError;

/// The oldest supported major version.
const OLDEST: u32 = 15;

/// Folders that packagers use; `*` stands for a version.
const USUAL: [&str; 11] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/usr/lib/postgresql*/bin",
    "/usr/local/pgsql/bin",
    "/usr/local/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
    "/opt/bitnami/postgresql/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
];

/// How the server is installed, by the package manager of the system.
const INSTALL: &str = "`apt-get install postgresql` (Debian, Ubuntu), `dnf install postgresql-server` (Fedora, Red Hat), \
                       `zypper install postgresql-server` (openSUSE), `apk add postgresql` (Alpine), \
                       `pacman -S postgresql` (Arch) or `brew install postgresql@17` (macOS)";

/// An installation of the server programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binaries {
    dir: PathBuf,
    major: u32,
}

impl Binaries {
    /// The installation to use: of the existing cluster's major version, otherwise the newest. `WORKING_MEMORY_PG_BIN`
    /// overrides the search.
    pub(super) fn find(cluster: Option<u32>, folder: &Path) -> Result<Self, EmbeddedError> {
        let found = match std::env::var_os("WORKING_MEMORY_PG_BIN").filter(|dir| !dir.is_empty()) {
            Some(dir) => {
                let bad = format!(
                    "WORKING_MEMORY_PG_BIN is {}, but that folder holds no working `postgres` and `initdb`",
                    dir.to_string_lossy()
                );
                vec![inspect(dir.into()).ok_or(EmbeddedError::Unusable(bad))?]
            }
            None => folders().into_iter().filter_map(inspect).collect(),
        };
        choose(found, cluster, folder)
    }

    pub(super) fn postgres(&self) -> PathBuf {
        self.dir.join("postgres")
    }

    pub(super) fn initdb(&self) -> PathBuf {
        self.dir.join("initdb")
    }
}

fn choose(found: Vec<Binaries>, cluster: Option<u32>, folder: &Path) -> Result<Binaries, EmbeddedError> {
    // The first of the newest: `max_by_key` returns the last of equal ones.
    let newest = found.iter().rev().max_by_key(|binaries| binaries.major).cloned();
    let Some(newest) = newest else {
        return Err(EmbeddedError::Unusable(format!(
            "no PostgreSQL server binaries found; install them with: {INSTALL}\n\
             (or point WORKING_MEMORY_PG_BIN at the folder that holds `postgres` and `initdb`, \
             or set DATABASE_URL to a running server)"
        )));
    };
    if newest.major < OLDEST {
        return Err(EmbeddedError::Unusable(format!(
            "PostgreSQL {} in {} is too old, {OLDEST} or later is needed; install it with: {INSTALL}",
            newest.major,
            newest.dir.display(),
        )));
    }
    let Some(wanted) = cluster else { return Ok(newest) };
    found
        .into_iter()
        .find(|binaries| binaries.major == wanted)
        .ok_or_else(|| {
            EmbeddedError::Unusable(format!(
                "the cluster in {} was made by PostgreSQL {wanted}, but only {} is installed; install PostgreSQL {wanted} \
                 beside it, or move the folder away to begin with an empty one",
                folder.display(),
                newest.major
            ))
        })
}

/// The folders to search, `PATH` first. Links are resolved, because `initdb` finds its files relative to its real
/// location.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).filter_map(|dir| {
        let real = dir.join("postgres").canonicalize().ok()?;
        Some(real.parent()?.to_owned())
    });
    let mut folders: Vec<PathBuf> = in_path.chain(USUAL.into_iter().flat_map(expand)).collect();
    let mut seen = std::collections::HashSet::new();
    folders.retain(|dir| seen.insert(dir.clone()));
    folders
}

/// The existing folders that match a pattern with at most one `*`.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else {
        return vec![PathBuf::from(pattern)];
    };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(prefix))
        .map(|name| PathBuf::from(format!("{parent}/{name}{after}")))
        .collect()
}

/// Runs `postgres --version` in a folder; both programs must exist.
fn inspect(dir: PathBuf) -> Option<Binaries> {
    if !dir.join("initdb").is_file() || !dir.join("postgres").is_file() {
        return None;
    }
    let output = Command::new(dir.join("postgres"))
        .arg("--version")
        .output()
        .ok()?;
    let major = major_version(&String::from_utf8_lossy(&output.stdout))?;
    Some(Binaries { dir, major })
}

/// Parses `postgres (PostgreSQL) 15.10 (Debian …)` or `… 18beta1`: the number after the bracket.
fn major_version(printed: &str) -> Option<u32> {
    let version = printed.split(") ").nth(1)?;
    let digits = version
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(version.len());
    version[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(majors: &[u32]) -> Vec<Binaries> {
        majors
            .iter()
            .map(|&major| Binaries {
                dir: format!("/pg/{major}").into(),
                major,
            })
            .collect()
    }

    #[test]
    fn a_new_cluster_gets_the_newest_binaries() {
        let chosen = choose(installed(&[15, 17, 16]), None, Path::new("/d")).unwrap();
        assert_eq!(chosen.major, 17);
    }

    #[test]
    fn of_two_installations_of_the_newest_version_the_first_counts() {
        let mut found = installed(&[16, 17, 17]);
        found[1].dir = "/in/path".into();
        let chosen = choose(found, None, Path::new("/d")).unwrap();
        assert_eq!(chosen.dir, Path::new("/in/path"));
    }

    #[test]
    fn an_existing_cluster_keeps_the_version_that_made_it() {
        let chosen = choose(installed(&[15, 17]), Some(15), Path::new("/d")).unwrap();
        assert_eq!(chosen.major, 15);
    }

    #[test]
    fn a_cluster_of_a_missing_version_is_refused_by_name() {
        let error = choose(installed(&[17]), Some(15), Path::new("/d"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("made by PostgreSQL 15, but only 17"), "{error}");
    }

    #[test]
    fn binaries_too_old_for_the_schema_are_refused() {
        let error = choose(installed(&[13, 14]), None, Path::new("/d"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("PostgreSQL 14 in /pg/14 is too old"), "{error}");
    }

    #[test]
    fn without_binaries_the_message_holds_an_install_command() {
        let error = choose(Vec::new(), None, Path::new("/d")).unwrap_err().to_string();
        assert!(
            error.contains("install them with: ") && error.contains("DATABASE_URL"),
            "{error}"
        );
    }

    #[test]
    fn the_major_version_is_read_from_what_the_server_prints() {
        assert_eq!(
            major_version("postgres (PostgreSQL) 15.10 (Debian 15.10-0+deb12u1)\n"),
            Some(15)
        );
        assert_eq!(major_version("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major_version("postgres (EDB) 17\n"), Some(17));
        assert_eq!(major_version("no server"), None);
    }
}
