//! Access by handle to folders that another account may own.
//!
//! The database's account may place anything in its folders at any time: links to root's files, named pipes,
//! set-user-id files. So the service as root opens nothing there by path: each name is looked up in an open folder,
//! links are not followed, only regular files without other hard links are read or written, and created or written
//! files have mode 0600.

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

/// Non-blocking, so that a pipe without a writer does not block the service.
const OF_A_FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Opens a folder, which must not be a link itself; the caller must trust its parents.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let handle = open(path, OF_A_FOLDER, Mode::empty())?;
        Ok(Self {
            handle: handle.into(),
            path: path.to_owned(),
        })
    }

    /// Its path when it was opened.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a subfolder.
    pub(super) fn folder(&self, name: &str) -> io::Result<Self> {
        let handle = openat(&self.handle, name, OF_A_FOLDER, Mode::empty())?;
        Ok(Self {
            handle: handle.into(),
            path: self.path.join(name),
        })
    }

    /// Creates a subfolder that only root and the account with these ids, or this process's own, may enter.
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

    /// Makes root the owner; others may pass through, but not list it.
    pub(super) fn take_back(&self) -> io::Result<()> {
        std::os::unix::fs::fchown(&self.handle, Some(0), Some(0))?;
        self.let_through()
    }

    /// Lets others pass through, but not list it.
    pub(super) fn let_through(&self) -> io::Result<()> {
        self.handle.set_permissions(Permissions::from_mode(0o711))
    }

    /// The owner.
    pub(super) fn owner(&self) -> io::Result<u32> {
        Ok(self.owners()?.0)
    }

    /// The owning user and group.
    pub(super) fn owners(&self) -> io::Result<(u32, u32)> {
        let found = self.handle.metadata()?;
        Ok((found.uid(), found.gid()))
    }

    /// Changes the owner of it and all its content. Of a link the link itself is changed; a file with another hard link
    /// stays root's.
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

    /// Whether this name exists.
    pub(super) fn has(&self, name: &str) -> bool {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Opens a subfolder, or the folder behind a link in it that the service created.
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

    /// Opens a file for reading.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        self.regular(name, OFlags::RDONLY)
    }

    /// Opens or creates a file for reading and writing, and sets mode 0600.
    pub(super) fn private_file(&self, name: &str, more: OFlags) -> io::Result<File> {
        let file = self.regular(name, OFlags::RDWR | OFlags::CREATE | more)?;
        if file.metadata()?.mode() & 0o7777 != 0o600 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }

    /// Creates a new file, and replaces whatever has this name.
    pub(super) fn new_file(&self, name: &str) -> io::Result<File> {
        self.remove_file(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OF_A_FILE;
        let file = openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(file.into())
    }

    /// Removes a file or link, but no folder; the target of a link stays.
    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Err(error) if error != rustix::io::Errno::NOENT => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Renames an entry durably.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        renameat(&self.handle, from, &self.handle, to)?;
        Ok(fsync(&self.handle)?)
    }

    /// The beginning of a small text file.
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
        // Replacing a link leaves its target unchanged.
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
