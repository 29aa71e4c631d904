//! Under which account the programs of PostgreSQL run: our own, or, because PostgreSQL refuses root, an
//! unprivileged one.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown, lchown};
use std::path::Path;

use tokio::process::Command;

use super::error::EmbeddedError;

/// Accounts that may run the server, the preferred one first.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

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
    /// Own account unless root. As root, whoever owns the existing `cluster` keeps it, so a data folder may
    /// go back and forth between an ordinary user and root.
    pub(super) fn choose(cluster: &Path) -> Result<Self, EmbeddedError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Own);
        }
        if let Ok(owner) = fs::metadata(cluster)
            && owner.uid() != 0
        {
            return Ok(Self::Other {
                uid: owner.uid(),
                gid: owner.gid(),
            });
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        CANDIDATES
            .iter()
            .find_map(|name| look_up(&passwd, name))
            .ok_or(EmbeddedError::NoAccount)
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

    /// Gives `path` to this account.
    pub(super) fn own(self, path: &Path) -> Result<(), EmbeddedError> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid } => {
                chown(path, Some(uid), Some(gid)).map_err(EmbeddedError::folder("change the owner of", path))
            }
        }
    }

    /// Gives `path` and all below it to this account, if root owns it (a copy or a restore made by root).
    pub(super) fn own_restored(self, path: &Path) -> Result<(), EmbeddedError> {
        let Self::Other { uid, gid } = self else {
            return Ok(());
        };
        let metadata = fs::symlink_metadata(path).map_err(EmbeddedError::folder("read", path))?;
        if metadata.uid() != 0 {
            return Ok(());
        }
        own_tree(path, uid, gid).map_err(EmbeddedError::folder("change the owner of", path))
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

fn own_tree(path: &Path, uid: u32, gid: u32) -> io::Result<()> {
    lchown(path, Some(uid), Some(gid))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            own_tree(&entry?.path(), uid, gid)?;
        }
    }
    Ok(())
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
