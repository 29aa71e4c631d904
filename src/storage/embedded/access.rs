//! Authentication of the embedded cluster: `peer`, so the operating system identifies the client. Only the service's
//! own user and the account that runs the server may connect.
//!
//! Both files are written at every start, because clusters of earlier releases accept anyone who can reach the socket.
//! The files are in the cluster, so the server's account writes them.

use super::account::Account;
use super::cluster::USER;
use super::error::EmbeddedError;
use std::path::Path;
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

const HBA: &str = "# Written by working-memory at every start.\n\
                   local all all peer map=working_memory\n";

/// Used if users of the operating system have no names, so that no mapping is possible: only the permissions of the
/// socket's folder protect the server.
const HBA_WITHOUT_NAMES: &str = "# Written by working-memory at every start.\n\
                                 local all all trust\n";

/// Writes both files.
pub(super) async fn write(cluster: &Path, account: Account) -> Result<(), EmbeddedError> {
    let own = name_of(rustix::process::geteuid().as_raw()).await;
    let servers = match account {
        Account::Own => own.clone(),
        Account::Other { uid, .. } => name_of(uid).await,
    };
    let (hba, ident) = match (own, servers) {
        (Some(own), Some(servers)) => (HBA, map(&[&own, &servers])),
        _ => {
            tracing::warn!(
                "the user of the service has no name in this system: whoever may enter the folder of the database's \
                 socket is let in"
            );
            (HBA_WITHOUT_NAMES, String::new())
        }
    };
    put(cluster, account, "pg_ident.conf", &ident).await?;
    put(cluster, account, "pg_hba.conf", hba).await
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

/// Replaces a file of the cluster atomically, as the account that owns it.
async fn put(cluster: &Path, account: Account, name: &str, text: &str) -> Result<(), EmbeddedError> {
    let path = cluster.join(name);
    let shell = Path::new("/bin/sh");
    let mut command = account.command(shell);
    command
        .args(["-c", "umask 077; cat > \"$0.new\" && mv -f \"$0.new\" \"$0\""])
        .arg(&path);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let failed = || EmbeddedError::folder("write", &path);
    let mut child = command.spawn().map_err(EmbeddedError::spawn(shell))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).await.map_err(failed())?;
    }
    let output = child.wait_with_output().await.map_err(failed())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let problem = format!("its account cannot write it ({})", said.trim());
    Err(failed()(std::io::Error::other(problem)))
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
