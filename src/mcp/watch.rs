//! `notifications/resources/updated`, from the service's events.

use super::backend::{Backend, Method, RouteRequest};
use super::failure::Failure;
use super::frames::{Frame, Frames};
use super::resources;
use super::response::StreamResponse;
use futures::StreamExt as _;
use futures::stream::{BoxStream, SelectAll, once};
use rmcp::RoleServer;
use rmcp::model::{Extensions, ResourceUpdatedNotificationParam};
use rmcp::service::{RequestContext, SubscriptionContext};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The maximum number of resources that one session watches.
const MAX_WATCHED: usize = 100;

/// The pause before a stream that ended is reopened.
const PAUSE: Duration = Duration::from_secs(2);

/// The resources that a session watches; unsubscribing drops the guard.
#[derive(Debug, Default)]
pub(super) struct Watch {
    watched: Mutex<HashMap<String, DropGuard>>,
}

impl Watch {
    /// Notifies a subscription of changes until it is cancelled, or the service ends the stream.
    pub(super) async fn listen<B: Backend>(
        &self,
        backend: &B,
        context: &SubscriptionContext,
    ) -> Result<(), Failure> {
        let uris: Vec<String> = context
            .accepted()
            .resource_subscriptions
            .clone()
            .unwrap_or_default();
        let mut events = Events::open(backend, &context.request_context().extensions, &uris).await?;
        loop {
            let changed = tokio::select! {
                changed = events.next(&uris) => changed,
                () = context.cancelled() => return Ok(()),
            };
            let Some(changed) = changed else { return Ok(()) };
            for uri in changed {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Notifies a session of the changes of one resource until it unsubscribes.
    pub(super) async fn subscribe<B: Backend>(
        &self,
        backend: &Arc<B>,
        uri: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), Failure> {
        if !B::HAS_SESSION {
            return Err(Failure::new(
                "this transport has no session that could be notified of changes",
                "Use subscriptions/listen of protocol version 2026-07-28, or the stdio transport.",
            ));
        }
        if !resources::is_watchable(&uri) {
            return Err(Failure::argument(
                "uri",
                format!("{uri:.200} is not a resource that changes"),
            ));
        }
        let uris = vec![uri.clone()];
        let mut events = Events::open(&**backend, &context.extensions, &uris).await?;
        let token = CancellationToken::new();
        {
            let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
            if watched.len() >= MAX_WATCHED && !watched.contains_key(&uri) {
                return Err(Failure::new(
                    format!("{MAX_WATCHED} resources are watched already"),
                    "Unsubscribe from one first.",
                ));
            }
            watched.insert(uri, token.clone().drop_guard());
        }
        let (backend, peer, from) = (backend.clone(), context.peer.clone(), context.extensions.clone());
        tokio::spawn(token.run_until_cancelled_owned(async move {
            loop {
                while let Some(changed) = events.next(&uris).await {
                    for uri in changed {
                        if peer
                            .notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                            .await
                            .is_err()
                        {
                            return;
                        }
                    }
                }
                // Changes may have been missed meanwhile: notify the resource, so that the client reads it again.
                events = loop {
                    tokio::time::sleep(PAUSE).await;
                    if let Ok(events) = Events::open(&*backend, &from, &uris).await {
                        break events;
                    }
                };
                let missed = ResourceUpdatedNotificationParam::new(uris[0].clone());
                if peer.notify_resource_updated(missed).await.is_err() {
                    return;
                }
            }
        }));
        Ok(())
    }

    /// Stops watching a resource.
    pub(super) fn unsubscribe(&self, uri: &str) {
        self.watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(uri);
    }
}

/// The event streams of the vaults of some resources.
struct Events {
    /// Yields `None` when one of the streams has ended; no events are read after that.
    streams: SelectAll<BoxStream<'static, Option<Vec<Frame>>>>,
}

impl Events {
    async fn open<B: Backend>(backend: &B, from: &Extensions, uris: &[String]) -> Result<Self, Failure> {
        let places: Vec<_> = uris.iter().filter_map(|uri| resources::of_memory(uri)).collect();
        let fixed = backend.fixed(from);
        for (vault, memory) in &places {
            fixed.check(vault, memory)?;
        }
        let vaults: BTreeSet<&str> = places.iter().map(|(vault, _)| vault.as_str()).collect();
        let mut streams = SelectAll::new();
        for vault in vaults {
            let ask = RouteRequest::new(Method::Get, &["vaults", vault, "events"])
                .query("kinds", "version,handoff,memory_deleted")
                .accept("text/event-stream");
            let stream = match backend.open(from, ask).await? {
                StreamResponse::Refused(answer) => return Err(Failure::of_answer(&answer)),
                StreamResponse::Stream(stream) => stream,
            };
            let frames = stream.scan(Frames::default(), |frames, piece| {
                ready(piece.ok().map(|piece| frames.feed(&piece)))
            });
            streams.push(frames.map(Some).chain(once(ready(None))).boxed());
        }
        Ok(Self { streams })
    }

    /// Those of `uris` that changed; `None` once a stream has ended.
    async fn next(&mut self, uris: &[String]) -> Option<Vec<String>> {
        loop {
            let frames = self.streams.next().await??;
            let mut changed = BTreeSet::new();
            for Frame { event, data } in frames {
                let data: Value = serde_json::from_str(&data).unwrap_or_default();
                let is_changed = |uri: &String| match resources::of_memory(uri) {
                    Some((vault, memory)) => {
                        data["vault_id"] == vault.as_str()
                            && data["memory_id"] == memory.as_str()
                            && resources::is_changed_by(uri, &event)
                    }
                    None => false,
                };
                changed.extend(uris.iter().filter(|uri| is_changed(uri)).cloned());
            }
            if !changed.is_empty() {
                return Some(changed.into_iter().collect());
            }
        }
    }
}
