//! Builds a layer from a function. `axum::middleware::from_fn` does the same, with two more clones of the inner
//! service and three more boxes per request.

use axum::extract::Request;
use axum::response::Response;
use futures::FutureExt;
use std::convert::Infallible;
use std::sync::Arc;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};

/// What a layer can wrap: a route, or a handler with its state.
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

/// The inner service of a layer.
#[derive(Debug, Clone)]
pub(crate) struct Next<S>(S);

impl<S: Inner> Next<S> {
    /// Calls the inner service.
    pub(crate) async fn run(mut self, request: Request) -> Response {
        // A service inside the router is always ready.
        match self.0.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// The layer of a function that is called with `shared`, a request and the inner service.
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
