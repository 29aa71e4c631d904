//! `working-memory mcp`: the Model Context Protocol on standard input and output, for clients that start a process.

mod clients;

use crate::cli::client::{Exit, Failure, Output, Service, ServiceArgs, pieces, whole, whole_pairs};
use crate::mcp::{self, Backend, Fixed, RouteRequest, RouteResponse, Server, StreamResponse, Unreachable};
use async_trait::async_trait;
use clap::{Args, Subcommand};
use clients::Client;
use futures::StreamExt as _;
use rmcp::ServiceExt as _;
use rmcp::model::Extensions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader};

/// Models may take minutes.
const ANSWER_TIME: Duration = Duration::from_secs(900);

/// How much of standard input is read ahead.
const PIPE_BYTES: usize = 64 << 10;

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Mcp {
    #[command(subcommand)]
    install: Option<Install>,
    /// Print the configuration that this client needs to start this program, and exit.
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_config: Option<Client>,
    #[command(flatten)]
    service: ServiceArgs,
}

/// `mcp install`.
#[derive(Debug, Subcommand)]
enum Install {
    /// Add this program to a client's configuration file. Everything else in the file stays as it is.
    Install {
        /// The client.
        #[arg(value_enum, value_name = "CLIENT")]
        client: Client,
        /// The file, if it is another than the client's own: of this folder for Claude Code, Cursor and VS Code.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        #[command(flatten)]
        service: ServiceArgs,
    },
}

impl Mcp {
    pub(super) async fn run(self) -> Result<(), Failure> {
        if let Some(Install::Install {
            client,
            file,
            service,
        }) = self.install
        {
            let service = Service::of(&service)?;
            return Output::new()
                .whole_lines(&client.install(file, &service.connection)?)
                .write();
        }
        if let Some(client) = self.print_config {
            let service = Service::of(&self.service)?;
            let text = client.configuration(&service.connection)?;
            return Output::of_document().whole_lines(&text).write();
        }
        let service = Service::unattended(&self.service, ANSWER_TIME)?;
        let server = Server(Arc::new(Remote(service)));
        let broken =
            |error: &dyn std::fmt::Display| Failure::failed(format!("the client cannot be served: {error}"));
        let running = match server.serve((input(), tokio::io::stdout())).await {
            Ok(running) => running,
            // A client that disconnects before it has sent anything is not an error.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(broken(&error)),
        };
        running.waiting().await.map(drop).map_err(|error| broken(&error))
    }
}

/// Standard input with whole pairs: the transport drops a line that is no JSON, and its caller would wait forever.
fn input() -> impl AsyncRead {
    let (mut lines, input) = tokio::io::duplex(PIPE_BYTES);
    tokio::spawn(async move {
        let mut read = BufReader::new(tokio::io::stdin()).split(b'\n');
        while let Ok(Some(line)) = read.next_segment().await {
            let line = [&*whole_pairs(&line), b"\n"].concat();
            if lines.write_all(&line).await.is_err() {
                break;
            }
        }
    });
    input
}

/// The service of the command line's settings.
struct Remote(Service);

#[async_trait]
impl Backend for Remote {
    fn fixed(&self, _: &Extensions) -> Fixed {
        Fixed {
            vault: self.0.connection.vault.clone(),
            memory: self.0.connection.memory.clone(),
        }
    }

    async fn ask(&self, _: &Extensions, ask: RouteRequest) -> Result<RouteResponse, mcp::Failure> {
        let answer = self.0.sending(ask).exchange().await;
        answer.map(Into::into).map_err(away)
    }

    async fn open(&self, _: &Extensions, ask: RouteRequest) -> Result<StreamResponse, mcp::Failure> {
        let lost = |_| Unreachable("the connection to the service was lost".to_owned());
        let response = self.0.sending(ask).begin().await.map_err(away)?;
        Ok(match response.status().is_success() {
            true => StreamResponse::Stream(pieces(response, self.0.timeout).boxed()),
            false => StreamResponse::Whole(whole(response).await.map_err(lost)?.into()),
        })
    }
}

/// A request that was not sent because of an id in it, or a service that does not answer.
fn away(failure: Failure) -> mcp::Failure {
    match failure.exit {
        Exit::Usage => mcp::Failure::argument("the id", failure.sentence),
        _ => Unreachable(failure.sentence).into(),
    }
}
