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

    #[test]
    fn the_newest_binaries_are_chosen_unless_a_cluster_was_made_by_others() {
        // Of two installations of one version, the first counts.
        for (installed, made_by, expected) in [
            ("/pg/15 /pg/17 /pg/16", None, Ok("/pg/17")),
            ("/pg/16 /in/path/17 /pg/17", None, Ok("/in/path/17")),
            ("/pg/15 /pg/17", Some(15), Ok("/pg/15")),
            ("/pg/17", Some(15), Err("made by PostgreSQL 15, but only 17")),
            ("/pg/13 /pg/14", None, Err("PostgreSQL 14 in /pg/14 is too old")),
            ("", None, Err("install them with: ")),
            ("", None, Err("DATABASE_URL")),
        ] {
            let binaries = |dir: &str| Binaries {
                dir: dir.into(),
                major: dir.rsplit('/').next().unwrap().parse().unwrap(),
            };
            let found = installed.split_whitespace().map(binaries).collect();
            match (choose(found, made_by, Path::new("/d")), expected) {
                (Ok(chosen), Ok(dir)) => assert_eq!(chosen.dir, Path::new(dir), "{installed}"),
                (Err(error), Err(part)) => {
                    assert!(error.to_string().contains(part), "{installed}: {error}")
                }
                (chosen, _) => panic!("{installed}: {chosen:?}"),
            }
        }
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
