//! A TCP relay to a server: it forwards, falls silent, cuts connections, or switches to another server.

use sqlx::postgres::PgConnectOptions;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// Where connections are forwarded to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String, u16),
}

impl Target {
    /// The server of a database's address.
    pub(crate) fn of(url: &str) -> Self {
        let server = PgConnectOptions::from_str(url).unwrap();
        match server.get_socket() {
            Some(folder) => Self::Unix(folder.join(format!(".s.PGSQL.{}", server.get_port()))),
            None => Self::Tcp(server.get_host().to_owned(), server.get_port()),
        }
    }
}

/// How connections are treated, by when they were opened.
#[derive(Debug)]
struct Rules {
    target: Target,
    /// The number of the next connections; it grows with every change of the rules.
    birth: u64,
    /// All connections are silent at the moment.
    is_silent: bool,
    /// Connections before this number are silent for ever.
    silent_before: u64,
    /// Connections before this number are cut.
    cut_before: u64,
}

impl Rules {
    fn is_silent(&self, birth: u64) -> bool {
        self.is_silent || birth < self.silent_before
    }
}

/// Stopped when the value is dropped.
pub(crate) struct Relay {
    rules: Arc<watch::Sender<Rules>>,
    port: u16,
    accepting: tokio::task::JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn to(target: Target) -> Self {
        Self::at(0, target, &[]).await
    }

    /// At a port, where the first connections are lost after these answers to what is sent first.
    pub(crate) async fn at(port: u16, target: Target, lost: &[&'static [u8]]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let rules = Arc::new(watch::Sender::new(Rules {
            target,
            birth: 1,
            is_silent: false,
            silent_before: 0,
            cut_before: 0,
        }));
        let (of_connections, lost) = (rules.clone(), lost.to_vec());
        let accepting = tokio::spawn(async move {
            for answer in lost {
                let (mut client, _) = listener.accept().await.unwrap();
                if !answer.is_empty() {
                    let _ = client.read(&mut [0; 1024]).await;
                    client.write_all(answer).await.unwrap();
                }
            }
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(connection(client, of_connections.subscribe()));
            }
        });
        Self {
            rules,
            port,
            accepting,
        }
    }

    /// Host and port.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The address of a database behind the relay.
    pub(crate) fn url(&self, url: &str) -> String {
        let options = PgConnectOptions::from_str(url).unwrap();
        let password = url::Url::parse(url).unwrap();
        let password = password
            .password()
            .map_or(String::new(), |word| format!(":{word}"));
        let (user, port) = (options.get_username(), self.port);
        let database = options.get_database().unwrap_or("postgres");
        format!("postgres://{user}{password}@127.0.0.1:{port}/{database}?sslmode=disable")
    }

    /// Connections are accepted and stay open, and nothing is forwarded.
    pub(crate) fn fall_silent(&self) {
        self.rules.send_modify(|rules| rules.is_silent = true);
    }

    /// Everything is forwarded again, also data that waited.
    pub(crate) fn go_on(&self) {
        self.rules.send_modify(|rules| rules.is_silent = false);
    }

    /// Closes all connections.
    pub(crate) fn cut(&self) {
        self.rules.send_modify(|rules| {
            rules.cut_before = rules.birth + 1;
            rules.birth += 1;
        });
    }

    /// New connections go to another server. Open ones stay as they are, silent or not.
    pub(crate) fn switch(&self, target: Target) {
        self.rules.send_modify(|rules| {
            rules.birth += 1;
            if std::mem::replace(&mut rules.is_silent, false) {
                rules.silent_before = rules.birth;
            }
            rules.target = target;
        });
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn connection(client: TcpStream, mut rules: watch::Receiver<Rules>) {
    let birth = rules.borrow().birth;
    let mut watched = rules.clone();
    let cut = async move {
        // The relay was dropped.
        let _ = watched.wait_for(|rules| birth < rules.cut_before).await;
    };
    let passing = async {
        let _ = rules.wait_for(|rules| !rules.is_silent(birth)).await;
        let target = rules.borrow().target.clone();
        match target {
            Target::Unix(path) => {
                if let Ok(server) = UnixStream::connect(path).await {
                    pass(client, server, rules.clone(), birth).await;
                }
            }
            Target::Tcp(host, port) => {
                if let Ok(server) = TcpStream::connect((host, port)).await {
                    pass(client, server, rules.clone(), birth).await;
                }
            }
        }
    };
    tokio::select! {
        () = cut => {}
        () = passing => {}
    }
}

async fn pass<C, S>(client: C, server: S, rules: watch::Receiver<Rules>, birth: u64)
where
    C: AsyncRead + AsyncWrite,
    S: AsyncRead + AsyncWrite,
{
    let (client_reads, client_writes) = tokio::io::split(client);
    let (server_reads, server_writes) = tokio::io::split(server);
    tokio::select! {
        () = pump(client_reads, server_writes, rules.clone(), birth) => {}
        () = pump(server_reads, client_writes, rules, birth) => {}
    }
}

async fn pump<R, W>(mut from: R, mut to: W, mut rules: watch::Receiver<Rules>, birth: u64)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut bytes = vec![0; 16 << 10];
    while let Ok(read) = from.read(&mut bytes).await
        && read > 0
    {
        // Data that was read just before is held back too.
        if rules.wait_for(|rules| !rules.is_silent(birth)).await.is_err()
            || to.write_all(&bytes[..read]).await.is_err()
        {
            return;
        }
    }
    // A silent network does not deliver a close either.
    let _ = rules.wait_for(|rules| !rules.is_silent(birth)).await;
}
