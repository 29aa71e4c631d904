//! The timer of the time limit on request headers. hyper requests a new timer for every request of a connection, and
//! setting and clearing a runtime timer takes a lock that all threads share. Here each connection has one timer: it is
//! not cleared between requests, and is reset only when it fires too early.

use hyper::rt::{Sleep, Timer};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{self, Instant};

/// The timer of one connection. Only the connection's task may await it.
#[derive(Debug, Clone)]
pub(super) struct HeaderTimer(Arc<Mutex<Pin<Box<time::Sleep>>>>);

impl HeaderTimer {
    /// `limit` is the time limit of a header.
    pub(super) fn new(limit: Duration) -> Self {
        Self(Arc::new(Mutex::new(Box::pin(time::sleep(limit)))))
    }
}

impl Timer for HeaderTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
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

impl Sleep for Until {}

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
