//! A folder that another account may own, reached by its handle.
//!
//! The database's account may put anything in its folders, at any moment: links to files of root, names of pipes,
//! files with the set-user-id bit. As root the service therefore opens nothing there by its path: each name is
//! looked up in an open folder, a link is never followed, only a regular file that has no other name is read or
//! written, and what is made or written has the mode 0600.

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, fsync, mkdirat, open, openat, readlinkat,
    renameat, statat, unlinkat,
};
use std::fs::{File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    handle: File,
    path: PathBuf,
}

const OF_A_FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A pipe without a writer must not keep the service waiting.
const OF_A_FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Opens a folder, which must not be a link itself; those above it are the caller's business.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let handle = open(path, OF_A_FOLDER, Mode::empty())?;
        Ok(Self {
            handle: handle.into(),
            path: path.to_owned(),
        })
    }

    /// Where it was when it was opened.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in it.
    pub(super) fn folder(&self, name: &str) -> io::Result<Self> {
        let handle = openat(&self.handle, name, OF_A_FOLDER, Mode::empty())?;
        Ok(Self {
            handle: handle.into(),
            path: self.path.join(name),
        })
    }

    /// Makes a folder in it that only the account with these ids, or this process's own, and root may enter.
    pub(super) fn make_folder(&self, name: &str, ids: Option<(u32, u32)>) -> io::Result<Self> {
        mkdirat(&self.handle, name, Mode::RWXU)?;
        let made = self.folder(name)?;
        if made.owner()? != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("somebody has put another folder in its place"));
        }
        if let Some((uid, gid)) = ids {
            std::os::unix::fs::fchown(&made.handle, Some(uid), Some(gid))?;
        }
        Ok(made)
    }

    /// Takes the folder for root; others may go through it to what they have in it, and not look around.
    pub(super) fn take_back(&self) -> io::Result<()> {
        std::os::unix::fs::fchown(&self.handle, Some(0), Some(0))?;
        self.let_through()
    }

    /// Others may go through the folder to what they have in it, and not look around.
    pub(super) fn let_through(&self) -> io::Result<()> {
        self.handle.set_permissions(Permissions::from_mode(0o711))
    }

    /// Who owns it.
    pub(super) fn owner(&self) -> io::Result<u32> {
        Ok(self.owners()?.0)
    }

    /// Which user and which group own it.
    pub(super) fn owners(&self) -> io::Result<(u32, u32)> {
        let found = self.handle.metadata()?;
        Ok((found.uid(), found.gid()))
    }

    /// Gives it and all in it to an account. A link is given itself; a file with another name elsewhere stays root's.
    pub(super) fn give_all(&self, uid: u32, gid: u32) -> io::Result<()> {
        let (to_user, to_group) = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let found = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                let handle = openat(&self.handle, name, OF_A_FOLDER, Mode::empty())?;
                let path = self.path.join(&*name.to_string_lossy());
                let below = Self {
                    handle: handle.into(),
                    path,
                };
                below.give_all(uid, gid)?;
            } else if found.st_nlink == 1 {
                chownat(&self.handle, name, to_user, to_group, AtFlags::SYMLINK_NOFOLLOW)?;
            }
        }
        std::os::unix::fs::fchown(&self.handle, Some(uid), Some(gid))
    }

    /// Whether there is anything of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Opens a folder in it, or the one that a link of our own making in it leads to.
    pub(super) fn folder_or_own_link(&self, name: &str) -> io::Result<Self> {
        let found = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
            return self.folder(name);
        }
        let own = rustix::process::geteuid();
        if own.is_root() && found.st_uid != 0 {
            return Err(io::Error::other("it is a link that root has not made"));
        }
        let target = readlinkat(&self.handle, name, Vec::new())?;
        let target = self.path.join(&*target.to_string_lossy());
        Self::open(&target.canonicalize()?)
    }

    /// Opens a file in it for reading.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        self.regular(name, OFlags::RDONLY)
    }

    /// Opens a file in it for reading and writing, or makes it. Its mode is 0600 afterwards.
    pub(super) fn private_file(&self, name: &str, more: OFlags) -> io::Result<File> {
        let file = self.regular(name, OFlags::RDWR | OFlags::CREATE | more)?;
        if file.metadata()?.mode() & 0o7777 != 0o600 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }

    /// Makes a file in it anew, whatever has the name.
    pub(super) fn new_file(&self, name: &str) -> io::Result<File> {
        self.remove_file(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OF_A_FILE;
        let file = openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(file.into())
    }

    /// Removes a name that is not a folder's; a link, not what it leads to.
    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Err(error) if error != rustix::io::Errno::NOENT => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Gives something in it another name, for good.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        renameat(&self.handle, from, &self.handle, to)?;
        Ok(fsync(&self.handle)?)
    }

    /// The beginning of a small text file in it.
    pub(super) fn text(&self, name: &str) -> io::Result<String> {
        const SMALL: u64 = 64 * 1024;
        let mut text = String::new();
        self.file(name)?.take(SMALL).read_to_string(&mut text)?;
        Ok(text)
    }

    fn regular(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let file = openat(&self.handle, name, flags | OF_A_FILE, Mode::RUSR | Mode::WUSR)?;
        let file = File::from(file);
        let found = file.metadata()?;
        if !found.is_file() || found.nlink() != 1 {
            return Err(io::Error::other(
                "it is not a regular file, or it has another name elsewhere",
            ));
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_pipes_folders_and_files_with_another_name_are_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        fs::write(dir.path().join("victim"), "untouched").unwrap();
        symlink(dir.path().join("victim"), dir.path().join("link")).unwrap();
        symlink(dir.path().join("made"), dir.path().join("dangling")).unwrap();
        fs::hard_link(dir.path().join("victim"), dir.path().join("hard")).unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        let pipe = std::process::Command::new("mkfifo")
            .arg(dir.path().join("pipe"))
            .status();
        assert!(pipe.unwrap().success());
        for name in ["link", "dangling", "hard", "folder", "pipe"] {
            assert!(folder.private_file(name, OFlags::empty()).is_err(), "{name}");
            assert!(folder.text(name).is_err(), "{name}");
        }
        assert!(folder.folder("link").is_err() && folder.folder("folder").is_ok());
        assert!(!dir.path().join("made").exists());
        // What takes the name of a link leaves alone what that led to.
        folder.new_file("link").unwrap();
        assert_eq!(
            fs::read_to_string(dir.path().join("victim")).unwrap(),
            "untouched"
        );
        assert!(Folder::open(&dir.path().join("dangling")).is_err());
    }

    #[test]
    fn what_is_written_is_private_whatever_its_mode_was() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let path = dir.path().join("planted");
        fs::write(&path, "#!").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o4755)).unwrap();
        folder.private_file("planted", OFlags::empty()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        folder.new_file("fresh").unwrap();
        let mode = fs::metadata(dir.path().join("fresh")).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o600);
    }
}
