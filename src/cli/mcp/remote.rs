//! A service that tools call over HTTP. It need not be running while the client is served: calls then return an error that
//! says so.

use crate::cli::client::{Call, Failure, OpenResponse, Service};
use crate::mcp::{Backend, Fixed, RouteRequest, RouteResponse, StreamResponse, Unreachable};
use futures::{StreamExt as _, TryStreamExt as _};
use rmcp::model::Extensions;

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
