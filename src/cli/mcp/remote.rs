//! A service that tools call over HTTP. It need not be running while the client is served: calls then return an error that
//! says so.

use crate::cli::client::{self, Call, Failure, OpenResponse, Service};
use crate::mcp::{Backend, Fixed, Method, RouteRequest, RouteResponse, StreamResponse, Unreachable};
use futures::StreamExt as _;
use futures::stream::unfold;
use reqwest::header::{ETAG, HeaderMap, HeaderName, RETRY_AFTER};
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
        let method = match ask.method {
            Method::Get => client::Method::GET,
            Method::Post => client::Method::POST,
            Method::Put => client::Method::PUT,
        };
        let segments: Vec<&str> = ask.path.iter().map(String::as_str).collect();
        let mut call = self.service.call(method, &segments).map_err(away)?;
        for (name, value) in &ask.query {
            call = call.query(name, value);
        }
        for (name, value) in &ask.headers {
            call = call.header(name, value).map_err(away)?;
        }
        Ok(call.body(ask.body))
    }
}

impl Backend for Remote {
    const HAS_SESSION: bool = true;

    fn fixed(&self, _: &Extensions) -> Fixed {
        self.fixed.clone()
    }

    async fn ask(&self, _: &Extensions, ask: RouteRequest) -> Result<RouteResponse, Unreachable> {
        let answer = self.call(ask)?.exchange().await.map_err(away)?;
        Ok(whole(answer))
    }

    async fn open(&self, _: &Extensions, ask: RouteRequest) -> Result<StreamResponse, Unreachable> {
        let response = match self.call(ask)?.begin().await.map_err(away)? {
            OpenResponse::Success(response) => response,
            OpenResponse::Other(answer) => return Ok(StreamResponse::Refused(whole(answer))),
        };
        let pieces = unfold(Some(response), |open| async {
            let mut response = open?;
            match response.chunk().await {
                Ok(Some(piece)) => Some((Ok(piece), Some(response))),
                Ok(None) => None,
                Err(_) => Some((
                    Err(Unreachable("the connection to the service was lost".to_owned())),
                    None,
                )),
            }
        });
        Ok(StreamResponse::Stream(pieces.boxed()))
    }
}

fn away(failure: Failure) -> Unreachable {
    Unreachable(failure.sentence)
}

fn whole(answer: client::ServiceResponse) -> RouteResponse {
    RouteResponse {
        status: answer.status,
        etag: text(&answer.headers, &ETAG),
        retry_after: text(&answer.headers, &RETRY_AFTER),
        body: answer.body.into(),
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
