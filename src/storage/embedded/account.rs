//! The account that runs the programs of PostgreSQL: the service's own or, because PostgreSQL refuses root, an
//! unprivileged one.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use tokio::process::Command;

use super::error::EmbeddedError;
use super::handle::Folder;

/// Accounts that may run the server, in order of preference: a dedicated one, or that of PostgreSQL's packages. Never
/// `nobody`, which other programs use too.
pub(super) const CANDIDATES: [&str; 2] = ["working-memory", "postgres"];

/// Accounts that earlier releases used.
const EARLIER: [&str; 2] = ["postgres", "nobody"];

/// Environment variables passed to programs of PostgreSQL. All others are removed, including the service's secrets and
/// `PG…` settings meant for clients.
const PASSED_ON: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"];

/// The account that runs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// The service's own account.
    Own,
    /// Another one; possible only as root.
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// The service's own account unless it is root. As root, the owner of the existing cluster in `home` is used, so
    /// that a data folder can be used alternately by an ordinary user and root.
    pub(super) fn choose(home: Option<&Folder>) -> Result<Self, EmbeddedError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Own);
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        if let Some(Self::Other { uid, gid }) = home.and_then(owner_of_cluster) {
            if look_up(&passwd, "nobody").is_some_and(|nobody| nobody.is(uid)) {
                tracing::warn!(
                    "the database runs as `nobody`, whom other programs run under too: make an account \
                     (useradd --system working-memory) and give it the folder `postgres` of the data folder \
                     (chown -R) while the service is stopped"
                );
            }
            return Ok(Self::Other { uid, gid });
        }
        CANDIDATES
            .iter()
            .find_map(|name| look_up(&passwd, name))
            .ok_or(EmbeddedError::NoAccount)
    }

    /// Whether this or an earlier release chooses this user by itself to run the server.
    pub(super) fn is_a_servers(uid: u32) -> bool {
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let names = CANDIDATES.iter().chain(&EARLIER);
        names
            .filter_map(|name| look_up(&passwd, name))
            .any(|account| account.is(uid))
    }

    fn is(self, user: u32) -> bool {
        matches!(self, Self::Other { uid, .. } if uid == user)
    }

    /// The user that owns the server's files.
    pub(super) fn uid(self) -> u32 {
        match self {
            Self::Own => rustix::process::geteuid().as_raw(),
            Self::Other { uid, .. } => uid,
        }
    }

    /// A command that runs as this account, outside the process group of the service: Ctrl-C at the terminal must reach
    /// only the service, which stops its server last.
    pub(super) fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("LC_ALL", "C")
            .process_group(0)
            .current_dir("/");
        command.envs(
            PASSED_ON
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        );
        if let Self::Other { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Its user and group ids, if it is not the process's own account.
    pub(super) fn ids(self) -> Option<(u32, u32)> {
        match self {
            Self::Own => None,
            Self::Other { uid, gid } => Some((uid, gid)),
        }
    }

    /// Changes the owner of the cluster and everything in it to this account, if root owns it (after a copy or restore
    /// by root).
    pub(super) fn own_restored(self, home: &Folder) -> Result<(), EmbeddedError> {
        let cluster = home.path().join("cluster");
        let Some((uid, gid)) = self.ids() else {
            return Ok(());
        };
        let own = || -> io::Result<()> {
            let folder = home.folder("cluster")?;
            if folder.owner()? == 0 {
                folder.give_all(uid, gid)?;
            }
            Ok(())
        };
        own().map_err(EmbeddedError::folder("change the owner of", &cluster))
    }

    /// Whether this account can access `folder`. Asks the system, which also knows access control lists.
    pub(super) async fn reaches(self, folder: &Path) -> bool {
        if self == Self::Own {
            return true;
        }
        let mut probe = self.command(Path::new("/bin/sh"));
        let probe = probe.args(["-c", ":"]).current_dir(folder).output().await;
        probe.is_ok_and(|output| output.status.success())
    }
}

fn owner_of_cluster(home: &Folder) -> Option<Account> {
    let (uid, gid) = home.folder("cluster").ok()?.owners().ok()?;
    (uid != 0).then_some(Account::Other { uid, gid })
}

/// Finds an account in the text of `/etc/passwd`; ignores other names of root.
fn look_up(passwd: &str, name: &str) -> Option<Account> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut ids = line.split(':').skip(2).map(str::parse::<u32>);
    let (uid, gid) = (ids.next()?.ok()?, ids.next()?.ok()?);
    (uid != 0).then_some(Account::Other { uid, gid })
}

/// Whether the program `name` is in a folder of `PATH`.
pub(super) fn in_path(name: impl AsRef<OsStr>) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name.as_ref()).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\n\
                          toor:x:0:0::/root:/bin/sh\n\
                          postgresql:x:70:70::/:/bin/sh\n\
                          nobody:x:65534:65533::/:/bin/false\n";

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        assert_eq!(
            look_up(PASSWD, "nobody"),
            Some(Account::Other {
                uid: 65534,
                gid: 65533
            })
        );
        assert_eq!(look_up(PASSWD, "postgres"), None);
    }

    #[test]
    fn root_under_another_name_is_no_account_to_run_under() {
        assert_eq!(look_up(PASSWD, "toor"), None);
    }
}
