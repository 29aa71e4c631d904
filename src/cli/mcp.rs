//! `working-memory mcp`: the Model Context Protocol on standard input and output, for clients that start a process.

mod clients;

use crate::cli::client::{Call, Failure, OpenResponse, Output, Service, ServiceArgs};
use crate::mcp::{Backend, Fixed, RouteRequest, RouteResponse, Server, StreamResponse, Unreachable};
use clap::{Args, Subcommand};
use clients::Client;
use futures::{StreamExt as _, TryStreamExt as _};
use rmcp::ServiceExt as _;
use rmcp::model::Extensions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Models may take minutes.
const ANSWER_TIME: Duration = Duration::from_secs(900);

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
            let connection = Service::of(&service)?.connection()?;
            return Output::new()
                .whole_lines(&client.install(file, &connection)?)
                .write();
        }
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        if let Some(client) = self.print_config {
            let text = client.configuration(&service.connection()?)?;
            return Output::of_document().whole_lines(&text).write();
        }
        let server = Server::new(Arc::new(Remote::new(service)?));
        let broken =
            |error: &dyn std::fmt::Display| Failure::failed(format!("the client cannot be served: {error}"));
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // A client that disconnects before it has sent anything is not an error.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(broken(&error)),
        };
        running.waiting().await.map(drop).map_err(|error| broken(&error))
    }
}

/// The service of the command line's settings.
pub(super) struct Remote {
    service: Service,
    fixed: Fixed,
}

impl Remote {
    /// # Errors
    /// A vault or memory has an invalid name.
    pub(super) fn new(service: Service) -> Result<Self, Failure> {
        let (vault, memory) = service.named()?;
        Ok(Self {
            service,
            fixed: Fixed { vault, memory },
        })
    }

    fn call(&self, ask: RouteRequest) -> Result<Call<'_>, Unreachable> {
        let call = self.service.target(ask.method.clone(), &ask.target());
        Ok(call.map_err(away)?.headers(ask.headers).body(ask.body))
    }
}

impl Backend for Remote {
    fn fixed(&self, _: &Extensions) -> Fixed {
        self.fixed.clone()
    }

    async fn ask(&self, _: &Extensions, ask: RouteRequest) -> Result<RouteResponse, Unreachable> {
        self.call(ask)?.exchange().await.map(Into::into).map_err(away)
    }

    async fn open(&self, _: &Extensions, ask: RouteRequest) -> Result<StreamResponse, Unreachable> {
        Ok(match self.call(ask)?.begin().await.map_err(away)? {
            OpenResponse::Success(response) => {
                let lost = |_| Unreachable("the connection to the service was lost".to_owned());
                StreamResponse::Stream(response.bytes_stream().map_err(lost).boxed())
            }
            OpenResponse::Other(answer) => StreamResponse::Whole(answer.into()),
        })
    }
}

fn away(failure: Failure) -> Unreachable {
    Unreachable(failure.sentence)
}
