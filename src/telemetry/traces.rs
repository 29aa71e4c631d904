//! OpenTelemetry traces, sent by OTLP if the configuration names a collector; otherwise nothing is set up and
//! a span costs a comparison.
//!
//! Spans that are only for traces have the target [`TARGET`] and the lowest level, so that they are not in the
//! log. Like the metrics they contain no ids except the request's, and no texts.

use super::{Guard, fmt_layer};
use crate::config::telemetry::LogFormat;
use crate::config::telemetry::TelemetryConfig;
use opentelemetry::propagation::{Extractor, Injector};
use opentelemetry::trace::TracerProvider;
use opentelemetry::{KeyValue, global};
use opentelemetry_http::HttpClient;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use std::time::Duration;
use tracing::instrument::Instrumented;
use tracing::{Instrument, Metadata, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use url::Url;

/// The target of spans that are for traces only.
pub const TARGET: &str = "working_memory::trace";

/// The timeout of one export of spans, and of the last one at shutdown.
pub(crate) const DELIVERY_TIME: Duration = Duration::from_secs(5);

/// Keeps the exporter until the end of the service.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

/// Why traces could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("telemetry.otlp_endpoint: {0}")]
pub struct TracesError(String);

impl Traces {
    /// Exports the remaining spans, for five seconds at most.
    pub async fn stop(self) {
        let stopped = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(DELIVERY_TIME)).await;
        if let Ok(Err(error)) = stopped {
            tracing::warn!(%error, "the last spans could not be exported");
        }
    }
}

/// Starts the log, which ends with the guard, and traces to `endpoint`, sent through `client`.
///
/// # Errors
/// The address is invalid, or the thread of the log cannot be started.
pub fn start(
    format: LogFormat,
    filter: &str,
    config: &TelemetryConfig,
    endpoint: &Url,
    client: impl HttpClient + 'static,
) -> Result<(Guard, Traces), TracesError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(DELIVERY_TIME)
        .with_endpoint(format!("{}/v1/traces", endpoint.as_str().trim_end_matches('/')))
        .build()
        .map_err(|error| TracesError(error.to_string()))?;
    // An empty variable counts as unset.
    let name = std::env::var("OTEL_SERVICE_NAME")
        .ok()
        .filter(|name| !name.is_empty());
    let resource = Resource::builder_empty()
        .with_service_name(name.unwrap_or_else(|| "working-memory".to_owned()))
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let sampler = Sampler::TraceIdRatioBased(config.sampling_ratio);
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(sampler)))
        .with_resource(resource)
        .build();
    global::set_text_map_propagator(TraceContextPropagator::new());
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("working-memory"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(filter_fn(is_traced));
    let (log, guard) = fmt_layer(format, filter).map_err(|error| TracesError(error.to_string()))?;
    // The only error is that a subscriber is already set, as in a test that starts several services.
    let _ = tracing_subscriber::registry().with(log).with(spans).try_init();
    Ok((guard, Traces(provider)))
}

/// Whether it is one of the service's spans; events, whose texts belong to the log, are not exported.
fn is_traced(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with("working_memory")
}

/// The span of a request, a child of the one that its `traceparent` names.
pub fn request_span(method: &'static str, route: &str, request_id: &str, headers: &dyn Extractor) -> Span {
    let span = tracing::trace_span!(
        target: TARGET,
        "request",
        "otel.name" = tracing::field::Empty,
        "otel.kind" = "server",
        "http.request.method" = method,
        "http.route" = route,
        "http.response.status_code" = tracing::field::Empty,
        "otel.status_code" = tracing::field::Empty,
        request_id,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("{method} {route}"));
        let parent = global::get_text_map_propagator(|propagator| propagator.extract(headers));
        // Fails only if no traces are set up.
        let _ = span.set_parent(parent);
    }
    span
}

/// Records the status of a request on its span.
pub fn request_ended(span: &Span, status: u16) {
    span.record("http.response.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
}

/// A step of an update as a span.
pub fn step<W: Future>(name: &'static str, work: W) -> Instrumented<W> {
    work.instrument(tracing::trace_span!(target: TARGET, "step", "otel.name" = format!("update.{name}")))
}

/// An attempt of a transaction, or the statement that saves versions, as a span.
pub fn database<W: Future>(name: &'static str, work: W) -> Instrumented<W> {
    work.instrument(tracing::trace_span!(target: TARGET, "database", "otel.name" = name))
}

/// One attempt of a queued update: a trace of its own, since its request was answered long before.
pub fn queued_update<W: Future>(update_id: &str, attempt: i32, work: W) -> Instrumented<W> {
    work.instrument(tracing::trace_span!(target: TARGET, parent: None, "update.run", update_id, attempt))
}

/// One request to a model as a span.
pub fn model_call<W: Future>(role: &'static str, model: &str, attempt: u32, work: W) -> Instrumented<W> {
    let span = tracing::trace_span!(
        target: TARGET,
        "model.call",
        "otel.kind" = "client",
        role,
        "gen_ai.request.model" = model,
        attempt,
    );
    work.instrument(span)
}

/// Adds the current span to an outgoing request (W3C trace context); does nothing without traces.
pub fn send_on(headers: &mut dyn Injector) {
    let context = Span::current().context();
    global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, headers);
    });
}
