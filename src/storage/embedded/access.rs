//! Authentication of the embedded cluster: `peer`, so the operating system identifies the client. Only the service's
//! own user and root may connect. Both files are written at every start.

use super::cluster::USER;
use super::error::EmbeddedError;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use tokio::process::Command;

const HBA: &str = "# Written by working-memory at every start.\n\
                   local all all peer map=working_memory\n";

/// Used if users of the operating system have no names, so that no mapping is possible: only the permissions of the
/// socket's folder protect the server.
const HBA_WITHOUT_NAMES: &str = "# Written by working-memory at every start.\n\
                                 local all all trust\n";

/// Writes both files.
pub(super) async fn write(cluster: &Path) -> Result<(), EmbeddedError> {
    let (hba, ident) = match name_of(rustix::process::geteuid().as_raw()).await {
        // Root may become any user, so it is let in by its own name.
        Some(own) => (HBA, map(&[&own, "root"])),
        None => {
            tracing::warn!(
                "the user of the service has no name in this system: whoever may enter the folder of the database's \
                 socket is let in"
            );
            (HBA_WITHOUT_NAMES, String::new())
        }
    };
    put(cluster, "pg_ident.conf", &ident)?;
    put(cluster, "pg_hba.conf", hba)
}

/// The map lines that give each of the users the cluster's only role.
fn map(users: &[&str]) -> String {
    let mut lines = "# Written by working-memory at every start.\n".to_owned();
    for (place, user) in users.iter().enumerate() {
        if !users[..place].contains(user) {
            lines.push_str(&format!("working_memory \"{user}\" {USER}\n"));
        }
    }
    lines
}

/// The name of a user, if it has one that can be written to the file. Falls back to `id`, because the system may know
/// users that `/etc/passwd` does not list.
async fn name_of(uid: u32) -> Option<String> {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = match name_in(&passwd, uid) {
        Some(name) => name.to_owned(),
        None => {
            let asked = Command::new("id").args(["-nu", &uid.to_string()]).output().await;
            let asked = asked.ok().filter(|output| output.status.success())?;
            String::from_utf8(asked.stdout).ok()?.trim_end().to_owned()
        }
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@$-".contains(&byte);
    (!name.is_empty() && name.bytes().all(is_plain)).then_some(name)
}

fn name_in(passwd: &str, uid: u32) -> Option<&str> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    })
}

/// Replaces a file of the cluster atomically.
fn put(cluster: &Path, name: &str, text: &str) -> Result<(), EmbeddedError> {
    let (path, new) = (cluster.join(name), cluster.join(format!("{name}.new")));
    let put = || -> std::io::Result<()> {
        let mut open = OpenOptions::new();
        open.write(true).create(true).truncate(true).mode(0o600);
        open.open(&new)?.write_all(text.as_bytes())?;
        fs::rename(&new, &path)
    };
    put().map_err(EmbeddedError::folder("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_is_mapped_once() {
        assert!(map(&["root", "postgres"]).ends_with(
            "\nworking_memory \"root\" working_memory\nworking_memory \"postgres\" working_memory\n"
        ));
        assert_eq!(map(&["alice", "alice"]).lines().count(), 2);
    }

    #[tokio::test]
    async fn users_have_names_or_none() {
        assert_eq!(name_of(0).await.as_deref(), Some("root"));
        assert_eq!(name_in("a:x:5:6::/:/bin/sh\nb:x:7:8::/:/bin/sh\n", 7), Some("b"));
        assert_eq!(name_in("a:x:5:6::/:/bin/sh\n", 6), None);
        assert_eq!(name_of(3_999_999_999).await, None);
    }
}
