//! `working-memory mcp`: the Model Context Protocol on standard input and output, for clients that start a process.

mod print_config;
mod remote;

use self::print_config::Client;
use self::remote::Remote;
use super::client::{Failure, Output, Service, ServiceArgs};
use crate::mcp::Server;
use clap::Args;
use rmcp::ServiceExt as _;
use std::sync::Arc;
use std::time::Duration;

/// Models may take minutes.
const ANSWER_TIME: Duration = Duration::from_secs(900);

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Print the configuration that this client needs to start this program, and exit.
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_config: Option<Client>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Mcp {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        if let Some(client) = self.print_config {
            let text = print_config::text(client, &service.connection()?)?;
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
