//! The account of the embedded database where a command is run as root. PostgreSQL refuses root, and root does nothing in
//! folders of others: the program runs itself again as the account, and that process alone uses the data folder.

use super::error::EmbeddedError;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// Accounts that may run the server, in order of preference: a dedicated one, or that of PostgreSQL's packages. Never
/// `nobody`, which other programs use too.
const CANDIDATES: [&str; 2] = ["working-memory", "postgres"];

/// An account to use instead of root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    name: String,
    uid: u32,
    gid: u32,
}

impl Account {
    /// The account to use; `None` for a process that is not run by root. A data folder that one of the accounts owns is
    /// used as that one.
    ///
    /// # Errors
    /// There is no such account.
    pub fn instead_of_root(data_dir: Option<&Path>) -> Result<Option<Self>, EmbeddedError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let accounts: Vec<Self> = CANDIDATES
            .iter()
            .filter_map(|name| look_up(&passwd, name))
            .collect();
        let owner = data_dir.and_then(|folder| Some(fs::metadata(folder).ok()?.uid()));
        let owners = accounts.iter().find(|account| Some(account.uid) == owner);
        let chosen = owners.or(accounts.first()).cloned();
        chosen.map(Some).ok_or_else(|| {
            let problem = "PostgreSQL refuses to run as root, and there is neither an account `working-memory` nor \
                           `postgres`; add one (useradd --system working-memory), or start the service as an ordinary user";
            EmbeddedError::Unusable(problem.to_owned())
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// This program, run as the account, without further groups.
    #[must_use]
    pub fn this_program(&self) -> Command {
        // This link is followed whether the account may read the program's folder or not.
        let mut command = Command::new("/proc/self/exe");
        // Without root's home folder, which the account cannot read, its own is the one of `/etc/passwd`.
        command.uid(self.uid).gid(self.gid).env_remove("HOME");
        command
    }

    /// Makes a data folder that does not exist and gives it to the account, if nobody but root can interfere there, as it
    /// gives it an empty one of root, such as a volume. In any other place the account makes it itself, if it may.
    ///
    /// # Errors
    /// The folder cannot be made or given.
    pub fn make_data_dir(&self, data_dir: &Path) -> Result<(), EmbeddedError> {
        let make = || -> io::Result<()> {
            let parent = data_dir.parent().unwrap_or(data_dir);
            // As below `/var/lib`; in the folder of another user root makes none.
            if let Some(above) = parent.ancestors().find(|above| above.exists())
                && is_roots_alone(&above.canonicalize()?)?
            {
                DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
            }
            let (Ok(parent), Some(name)) = (parent.canonicalize(), data_dir.file_name()) else {
                return Ok(());
            };
            if is_roots_alone(&parent)? {
                let made = parent.join(name);
                DirBuilder::new().mode(0o700).create(&made)?;
                lchown(&made, Some(self.uid), Some(self.gid))?;
            }
            Ok(())
        };
        let give = || -> io::Result<()> {
            if is_roots_alone(&data_dir.canonicalize()?)? && fs::read_dir(data_dir)?.next().is_none() {
                lchown(data_dir, Some(self.uid), Some(self.gid))?;
            }
            Ok(())
        };
        match fs::symlink_metadata(data_dir) {
            Ok(found) if found.is_dir() => give().map_err(EmbeddedError::folder("use", data_dir)),
            Ok(_) => Ok(()),
            Err(_) => make().map_err(EmbeddedError::folder("make", data_dir)),
        }
    }
}

/// Whether nobody but root can write to a folder, or put another one in its place or in that of a folder above it.
fn is_roots_alone(folder: &Path) -> io::Result<bool> {
    const OTHERS_MAY_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    for (level, above) in folder.ancestors().enumerate() {
        let found = fs::metadata(above)?;
        // In a sticky folder such as `/tmp` others cannot rename what is root's.
        let is_closed = found.mode() & OTHERS_MAY_WRITE == 0 || (level > 0 && found.mode() & STICKY != 0);
        if found.uid() != 0 || !is_closed {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds an account in the text of `/etc/passwd`; ignores other names of root.
fn look_up(passwd: &str, name: &str) -> Option<Account> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut ids = line.split(':').skip(2).map(str::parse::<u32>);
    let (uid, gid) = (ids.next()?.ok()?, ids.next()?.ok()?);
    (uid != 0).then(|| Account {
        name: name.to_owned(),
        uid,
        gid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\n\
                          toor:x:0:0::/root:/bin/sh\n\
                          postgresql:x:70:70::/:/bin/sh\n\
                          nobody:x:65534:65533::/:/bin/false\n";

    #[test]
    fn an_account_is_found_by_its_whole_name_unless_it_is_root_under_another() {
        let found = look_up(PASSWD, "nobody").unwrap();
        assert_eq!((found.uid, found.gid), (65534, 65533));
        assert_eq!(look_up(PASSWD, "postgres"), None);
        assert_eq!(look_up(PASSWD, "toor"), None);
    }
}
