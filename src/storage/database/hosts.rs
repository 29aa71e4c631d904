//! The servers in a database URL: a primary and its standbys.
//!
//! As in libpq, `postgres://user@one:5432,two:5433/db?target_session_attrs=read-write` names two servers of one
//! database, and so do lists in `host` and `port`, where the part before the path may be empty or only a user. The driver
//! accepts one address, so this module finds the server that accepts writes. It asks all servers at the same time, so a silent one costs no time. The heartbeat asks again
//! whenever its connection is lost or becomes read-only, so a promotion needs no restart.

use crate::storage::StorageError;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection, Row as _};
use std::io;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::timeout;

/// The time limit for asking a server for its role; less than a heartbeat interval.
const ASKED_FOR: Duration = Duration::from_secs(1);

/// The accepted values of `target_session_attrs`, which depend on what the server is for.
const TARGETS: &[&str] = &["any", "read-write", "primary"];
const TARGETS_OF_STANDBY: &[&str] = &["any", "read-only", "standby", "prefer-standby"];

/// The servers of one database, at least one.
#[derive(Debug)]
pub(in crate::storage) struct Hosts {
    servers: Vec<PgConnectOptions>,
}

impl Hosts {
    /// Parses a URL.
    ///
    /// # Errors
    /// An invalid URL, a list of ports that does not match the list of hosts, or a URL that requires a standby.
    pub(in crate::storage) fn parse(url: &str) -> Result<Self, StorageError> {
        Self::parse_for(url, TARGETS)
    }

    /// As [`Self::parse`], for the URL of a standby.
    pub(in crate::storage) fn parse_standby(url: &str) -> Result<Self, StorageError> {
        Self::parse_for(url, TARGETS_OF_STANDBY)
    }

    fn parse_for(url: &str, targets: &[&str]) -> Result<Self, StorageError> {
        let urls = split(url, targets).map_err(|problem| sqlx::Error::Configuration(problem.into()))?;
        let server = |url: &String| PgConnectOptions::from_str(url).map(without_brackets);
        let servers: Result<_, _> = urls.iter().map(server).collect();
        Ok(Self { servers: servers? })
    }

    /// The first server, used until the primary is known.
    pub(in crate::storage) fn first(&self) -> &PgConnectOptions {
        &self.servers[0]
    }

    /// The only server; `None` if there are several.
    pub(in crate::storage) fn only(&self) -> Option<&PgConnectOptions> {
        match &*self.servers {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the server that accepts writes. A single server is not asked.
    ///
    /// # Errors
    /// No server accepts writes; the error contains the state of each.
    pub(in crate::storage) async fn primary(&self) -> Result<&PgConnectOptions, StorageError> {
        if let [only] = &*self.servers {
            return Ok(only);
        }
        let asked = self.servers.iter().enumerate();
        let mut asked: FuturesUnordered<_> = asked
            .map(|(number, server)| async move { (number, why_not(server).await) })
            .collect();
        let mut others = Vec::new();
        while let Some((number, why_not)) = asked.next().await {
            let Some(why_not) = why_not else {
                return Ok(&self.servers[number]);
            };
            others.push((number, why_not));
        }
        others.sort_unstable();
        let reasons: Vec<String> = others
            .into_iter()
            .map(|(number, why_not)| format!("{} {why_not}", name(&self.servers[number])))
            .collect();
        let message = format!("no server of the database takes writes: {}", reasons.join("; "));
        Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::NotConnected, message)).into())
    }
}

/// The driver looks up the address of `[::1]` with the brackets of the URL.
fn without_brackets(server: PgConnectOptions) -> PgConnectOptions {
    let address = server
        .get_host()
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    match address.map(str::to_owned) {
        Some(address) => server.host(&address),
        None => server,
    }
}

/// The server's address, for messages.
fn name(server: &PgConnectOptions) -> String {
    match server.get_socket() {
        Some(socket) => format!("{}:{}", socket.display(), server.get_port()),
        None => format!("{}:{}", server.get_host(), server.get_port()),
    }
}

/// The reason why a server does not accept writes; `None` if it does.
async fn why_not(server: &PgConnectOptions) -> Option<String> {
    let asking = async {
        let mut connection = PgConnection::connect_with(server).await?;
        // A single message, since a pooler may require it.
        let asked = "SELECT pg_is_in_recovery()::text, current_setting('transaction_read_only')";
        let row = sqlx::raw_sql(asked).fetch_one(&mut connection).await?;
        let (standby, read_only) = (
            row.try_get::<&str, _>(0)? == "t",
            row.try_get::<&str, _>(1)? == "on",
        );
        // Best effort: closing may fail.
        let _ = connection.close().await;
        Ok::<_, sqlx::Error>((standby, read_only))
    };
    match timeout(ASKED_FOR, asking).await {
        Ok(Ok((false, false))) => None,
        Ok(Ok((true, _))) => Some("is a standby".to_owned()),
        Ok(Ok((false, true))) => Some("is read-only".to_owned()),
        Ok(Err(error)) => Some(format!("does not answer ({error})")),
        Err(_) => Some("is silent".to_owned()),
    }
}

/// The host of a URL without one, encoded for a URL: the driver's default, which is a folder of sockets or `localhost`.
fn default_host() -> String {
    let options = PgConnectOptions::new_without_pgpass();
    let socket = options.get_socket().and_then(|folder| folder.to_str());
    socket.unwrap_or(options.get_host()).replace('/', "%2F")
}

/// Splits a URL into one URL for each host. Everything else stays as it is.
fn split(url: &str, targets: &[&str]) -> Result<Vec<String>, String> {
    let (scheme, rest) = url.split_once("://").ok_or("it has no scheme")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let list_of = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
    // The hosts before the path, then what the query lists.
    let mut lists = vec![("hosts", list_of(hosts))];
    let mut more: Vec<&str> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=').unwrap_or((pair, "")) {
            ("target_session_attrs", value) if targets.contains(&value) => {}
            ("target_session_attrs", _) => {
                let targets = targets.join(", ");
                return Err(format!("target_session_attrs must be one of {targets}"));
            }
            (name @ ("host" | "hostaddr" | "port"), value) => {
                let value = value.replace("%2C", ",").replace("%2c", ",");
                lists.push((name, list_of(&value)));
            }
            _ => more.push(pair),
        }
    }
    let count = lists.iter().map(|(_, list)| list.len()).max().unwrap_or(1);
    if let Some((name, list)) = lists.iter().find(|(_, list)| ![1, count].contains(&list.len())) {
        return Err(format!(
            "it lists {} values for {name} and {count} servers; give one for all, or one for each",
            list.len()
        ));
    }
    let (hosts, named) = (&lists[0].1, &lists[1..]);
    if hosts.len() > 1 && hosts.iter().any(String::is_empty) {
        return Err("one of the hosts of its list is empty".to_owned());
    }
    // The driver parses only URLs with a host. The host in the query replaces this one; without one it is the default.
    let fallback = match named.iter().any(|(name, _)| *name != "port") {
        true => "localhost".to_owned(),
        false => default_host(),
    };
    let one = |number: usize| {
        let of_list = |list: &[String]| list.get(number).or(list.first()).cloned().unwrap_or_default();
        let host = match of_list(hosts) {
            host if host.is_empty() || host.starts_with(':') => format!("{fallback}{host}"),
            host => host,
        };
        let named = named
            .iter()
            .map(|(name, list)| format!("{name}={}", of_list(list)));
        let query: Vec<String> = named.chain(more.iter().map(|pair| (*pair).to_owned())).collect();
        let query = match query.is_empty() {
            true => String::new(),
            false => format!("?{}", query.join("&")),
        };
        format!("{scheme}://{user}{host}{path}{query}")
    };
    Ok((0..count).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a table: an address, and what it names.
    fn rows(table: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
        table.trim().lines().map(|row| {
            let (url, wanted) = row.trim().split_once(" → ").unwrap();
            (url, wanted.split(' ').collect())
        })
    }

    #[test]
    fn a_url_names_one_server_or_several() {
        let table = "
            postgres://u:p%40@h/d → postgres://u:p%40@h/d
            postgresql://u:a,b@h:1,k:2/d?sslmode=disable&target_session_attrs=read-write → postgresql://u:a,b@h:1/d?sslmode=disable postgresql://u:a,b@k:2/d?sslmode=disable
            postgres://u@[::1]:1,[::2]/d → postgres://u@[::1]:1/d postgres://u@[::2]/d
            postgres://u@localhost/d?host=/a,/b&port=1%2C2 → postgres://u@localhost/d?host=/a&port=1 postgres://u@localhost/d?host=/b&port=2
            postgres://u@/d?host=a,b&port=1,2 → postgres://u@localhost/d?host=a&port=1 postgres://u@localhost/d?host=b&port=2
            postgres:///d?user=u&host=/run/pg → postgres://localhost/d?host=/run/pg&user=u
            postgres://u@h,k/d?port=7 → postgres://u@h/d?port=7 postgres://u@k/d?port=7";
        for (url, wanted) in rows(table) {
            assert_eq!(split(url, TARGETS).unwrap(), wanted, "{url}");
        }
        let hosts = Hosts::parse("postgres://u@one:1,two:2/d").unwrap();
        assert_eq!(
            hosts.servers.iter().map(name).collect::<Vec<_>>(),
            ["one:1", "two:2"]
        );
        assert_eq!(name(hosts.first()), "one:1");
    }

    #[test]
    fn servers_in_the_query_need_no_host_before_the_path() {
        let servers = |url: &str| -> Vec<String> {
            let servers = Hosts::parse(url).unwrap().servers.into_iter();
            let named = |server: PgConnectOptions| {
                let socket = server.get_socket().map(|folder| folder.display().to_string());
                let place = socket.unwrap_or_else(|| server.get_host().to_owned());
                format!("{}@{place}:{}", server.get_username(), server.get_port())
            };
            servers.map(named).collect()
        };
        let table = "
            postgres://u@/d?host=a,b&port=1,2 → u@a:1 u@b:2
            postgres://u:p%40w+x@/d?host=/run/one,/run/two&port=5433 → u@/run/one:5433 u@/run/two:5433
            postgres://u@/d?host=%2Frun%2Fone&port=7 → u@/run/one:7
            postgres:///d?user=u&host=a&port=7 → u@a:7
            postgres://u@%2Frun%2Fone:7/d → u@/run/one:7
            postgres://u@/d?hostaddr=127.0.0.1&port=7 → u@127.0.0.1:7
            postgres://u@[::1]:1,[::2]:2/d → u@::1:1 u@::2:2";
        for (url, wanted) in rows(table) {
            assert_eq!(servers(url), wanted, "{url}");
        }
        let default = PgConnectOptions::new_without_pgpass();
        for url in ["postgres://u@/d?port=7", "postgres://u@:7/d"] {
            let found = Hosts::parse(url).unwrap().servers.remove(0);
            assert_eq!(
                (found.get_host(), found.get_socket(), found.get_port()),
                (default.get_host(), default.get_socket(), 7),
                "{url}"
            );
        }
    }

    #[test]
    fn what_cannot_be_a_primary_is_refused() {
        for wanted in ["any", "read-only", "standby", "prefer-standby"] {
            let url = format!("postgres://u@a/d?target_session_attrs={wanted}");
            assert!(Hosts::parse_standby(&url).is_ok(), "{url}");
        }
        assert!(Hosts::parse_standby("postgres://u@a/d?target_session_attrs=primary").is_err());
        for (url, what) in [
            (
                "postgres://u@a,b/d?target_session_attrs=standby",
                "target_session_attrs",
            ),
            ("postgres://u@a,b,c/d?port=1,2", "2 values for port and 3 servers"),
            ("postgres://u@a,,b/d", "empty"),
            ("nonsense", "scheme"),
        ] {
            let error = Hosts::parse(url).unwrap_err().to_string();
            assert!(error.contains(what), "{url}: {error}");
        }
    }

    #[tokio::test]
    async fn the_error_names_the_state_of_each_server() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = closed.local_addr().unwrap().port();
        drop(closed);
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = silent.local_addr().unwrap().port();
        let hosts = Hosts::parse(&format!(
            "postgres://u:secret@127.0.0.1:{port},127.0.0.1:{other}/d"
        ))
        .unwrap();
        let Err(StorageError::Unavailable(cause)) = hosts.primary().await else {
            panic!("no server is a primary");
        };
        let cause = cause.to_string();
        for state in [format!("{port} does not answer"), format!("{other} is silent")] {
            assert!(cause.contains(&format!("127.0.0.1:{state}")), "{cause}");
        }
        assert!(!cause.contains("secret"), "{cause}");
    }
}
