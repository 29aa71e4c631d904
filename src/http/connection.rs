//! The limits of connections, which hyper does not have: how many one address may hold that show no key, and how long a
//! client may read nothing of a response. And the timer of the limit that it has, on the time for a head.

use hyper::rt::{self, Timer};
use std::collections::HashMap;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{self, Instant, Sleep, sleep};

/// The number of unauthenticated connections of each address, which are limited so that one cannot use up all connections.
#[derive(Debug)]
pub(super) struct Addresses {
    most: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection that counts for its address until it sends a valid key or ends.
#[derive(Debug, Clone)]
pub(crate) struct UnauthenticatedConnection(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    addresses: Arc<Addresses>,
    address: Mutex<Option<IpAddr>>,
}

impl Addresses {
    /// `most` connections for each address; 0 means unlimited.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection; `None` if its address has reached the limit.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<UnauthenticatedConnection> {
        let mut open = self.open();
        let count = open.entry(address).or_default();
        if self.most > 0 && *count >= self.most {
            return None;
        }
        *count += 1;
        Some(UnauthenticatedConnection(Arc::new(Counted {
            addresses: self.clone(),
            address: Mutex::new(Some(address)),
        })))
    }
}

impl UnauthenticatedConnection {
    /// A request on the connection had a valid key: it no longer counts.
    pub(crate) fn is_known(&self) {
        self.0.leave();
    }
}

impl Counted {
    fn leave(&self) {
        let address = self.address.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(address) = address else { return };
        let mut open = self.addresses.open();
        if let Some(count) = open.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&address);
            }
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Fails a write that makes no progress for `limit`, as docs/operations.md promises: otherwise a client that requests much
/// and reads nothing would keep its response in memory, and its connection open, forever.
pub(super) struct Stall<S> {
    stream: S,
    limit: Duration,
    waiting: bool,
    timer: Pin<Box<Sleep>>,
}

impl<S> Stall<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        Self {
            stream,
            limit,
            waiting: false,
            timer: Box::pin(sleep(limit)),
        }
    }

    fn watch<T>(&mut self, context: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waiting = false;
            return done;
        }
        if !self.waiting {
            self.waiting = true;
            self.timer.as_mut().reset(Instant::now() + self.limit);
        }
        ready!(self.timer.as_mut().poll(context));
        let stalled = "the client read nothing of its answer for too long";
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, stalled)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// The timer of one connection. Only the connection's task may await it. hyper requests a new timer for every request of a
/// connection, and setting and clearing a runtime timer takes a lock that all threads share: this one is not cleared between
/// requests, and is reset only when it fires too early.
#[derive(Debug, Clone)]
pub(super) struct HeaderTimer(Arc<Mutex<Pin<Box<Sleep>>>>);

impl HeaderTimer {
    /// `limit` is the time limit of a header.
    pub(super) fn new(limit: Duration) -> Self {
        Self(Arc::new(Mutex::new(Box::pin(time::sleep(limit)))))
    }
}

impl Timer for HeaderTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn rt::Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(Until {
            deadline: deadline.into(),
            timer: self.clone(),
        })
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

/// Waits for a point in time.
struct Until {
    deadline: Instant,
    timer: HeaderTimer,
}

impl rt::Sleep for Until {}

impl Future for Until {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut timer = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        if timer.deadline() > self.deadline {
            timer.as_mut().reset(self.deadline);
        }
        loop {
            ready!(timer.as_mut().poll(context));
            if timer.deadline() >= self.deadline {
                return Poll::Ready(());
            }
            // It was set for an earlier request.
            timer.as_mut().reset(self.deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_connections_and_others_have_theirs() {
        let addresses = Addresses::new(2);
        let (one, other) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let first = addresses.enter(one).unwrap();
        let second = addresses.enter(one).unwrap();
        assert!(addresses.enter(one).is_none());
        assert!(addresses.enter(other).is_some());
        first.is_known();
        let third = addresses.enter(one).unwrap();
        assert!(addresses.enter(one).is_none());
        drop((first, second, third));
        assert!(addresses.open().is_empty());
    }

    #[tokio::test]
    async fn each_wait_ends_at_its_own_moment_whatever_the_timer_was_set_for() {
        let (short, limit) = (Duration::from_millis(30), Duration::from_millis(100));
        let timer = HeaderTimer::new(limit);
        let begun = Instant::now();
        // The wait is canceled, as when a header has arrived; the timer remains set.
        assert!(time::timeout(short, timer.sleep(limit)).await.is_err());
        timer.sleep(limit).await;
        assert!(begun.elapsed() >= short + limit);

        let long = Duration::from_secs(60);
        assert!(time::timeout(short, timer.sleep(long)).await.is_err());
        let begun = Instant::now();
        timer.sleep(short).await;
        assert!(begun.elapsed() >= short && begun.elapsed() < long / 2);
    }
}
