//! A layer of the router as a function around what lies below it. `axum::middleware::from_fn` does the same with two
//! more copies of all that lies below, and three more boxes, for every request.

use axum::extract::Request;
use axum::response::Response;
use futures::FutureExt;
use std::convert::Infallible;
use std::sync::Arc;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};

/// What a layer can be put around: a route, or a handler with its state.
pub(crate) trait Inner:
    Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Inner for S where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// What lies below a layer.
#[derive(Debug, Clone)]
pub(crate) struct Next<S>(S);

impl<S: Inner> Next<S> {
    /// Has it answer.
    pub(crate) async fn run(mut self, request: Request) -> Response {
        // What the router puts below a layer is always ready.
        match self.0.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// The layer of a function that is called with `shared`, a request, and what lies below.
pub(crate) fn layer<C, A, F, S>(
    shared: Arc<C>,
    around: A,
) -> impl Layer<
    S,
    Service = impl Service<Request, Response = Response, Error = Infallible, Future: Send>
              + Clone
              + Send
              + Sync
              + 'static,
> + Clone
where
    C: Send + Sync + 'static,
    A: Fn(Arc<C>, Request, Next<S>) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
    S: Inner,
{
    layer_fn(move |inner: S| {
        let shared = shared.clone();
        service_fn(move |request| around(shared.clone(), request, Next(inner.clone())).map(Ok))
    })
}
