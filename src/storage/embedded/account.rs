//! Under which account the programs of PostgreSQL run: our own, or, because PostgreSQL refuses root, an
//! unprivileged one.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use tokio::process::Command;

use super::error::EmbeddedError;
use super::handle::Folder;

/// Accounts that may run the server, the preferred one first: one made for it, or the one that packages of PostgreSQL
/// make. Not `nobody`, whom other programs run under.
pub(super) const CANDIDATES: [&str; 2] = ["working-memory", "postgres"];

/// Those that earlier versions took.
const EARLIER: [&str; 2] = ["postgres", "nobody"];

/// Environment that programs of PostgreSQL get to see. Everything else, with the service's secrets and any
/// `PG…` setting meant for clients, stays out.
const PASSED_ON: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"];

/// Who runs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// The account of the service.
    Own,
    /// Another one; possible only as root.
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// Own account unless root. As root, whoever owns the existing cluster in `home` keeps it, so a data folder may
    /// go back and forth between an ordinary user and root.
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

    /// Whether a user is one that this version or an earlier one runs the server under by itself.
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

    /// Who owns what the server makes.
    pub(super) fn uid(self) -> u32 {
        match self {
            Self::Own => rustix::process::geteuid().as_raw(),
            Self::Other { uid, .. } => uid,
        }
    }

    /// A command of this account, outside the process group of the service: a Ctrl-C at the terminal must
    /// reach the service, which then stops its server last.
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

    /// The ids of its user and group, if it is not the process's own.
    pub(super) fn ids(self) -> Option<(u32, u32)> {
        match self {
            Self::Own => None,
            Self::Other { uid, gid } => Some((uid, gid)),
        }
    }

    /// Gives the cluster and all in it to this account, if root owns it (a copy or a restore made by root).
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

    /// Whether this account can walk to `folder`; asked of the system, which knows about access lists too.
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

/// Finds an account in the text of `/etc/passwd`; root under another name does not help.
fn look_up(passwd: &str, name: &str) -> Option<Account> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut ids = line.split(':').skip(2).map(str::parse::<u32>);
    let (uid, gid) = (ids.next()?.ok()?, ids.next()?.ok()?);
    (uid != 0).then_some(Account::Other { uid, gid })
}

/// Whether the program `name` is in one of the folders of `PATH`.
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
