//! `http.max_bytes_in_flight`: limits the bytes of requests and responses that the process holds in memory, in total
//! and per vault.
//!
//! One half is for bodies in transfer, in both directions. When it is used up, a request is rejected at once with 503.
//! The other half is for processing: a request whose body has arrived waits, fairly between vaults, until there is
//! room for the memory that its processing takes. One vault can use at most half of each half.

use super::problem::{Kind, Problem};
use super::settings::Settings;
use crate::fair::{self, FairSemaphore, Party, Permit, ShareLimits};
use crate::telemetry;
use std::time::Duration;

/// How many bodies of the maximum size always fit: a body that is allowed must be accepted.
const LARGEST_BODIES: usize = 8;

/// How long a request waits for room to be processed.
const WORK_TIMEOUT: Duration = Duration::from_secs(10);

/// Responses up to this size are not counted: even all concurrent ones together are small.
pub(crate) const SMALL_ANSWER: usize = 64 << 10;

/// Memory per byte of a body whose parsed form is held during model calls.
pub(crate) const KEPT_COST: usize = 8;

/// Memory of building a page of a list, before [`WORK_COST`].
const LIST_BYTES: usize = 256 << 10;

/// Memory per byte of a body or document while it is processed. The worst case is a text of nothing but line breaks or
/// list markers.
pub(crate) const WORK_COST: usize = 16;

/// The byte limits of the process.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    /// The size of the largest allowed body. Of a larger body the rest is discarded.
    pub(crate) largest: usize,
    carried: FairSemaphore,
    worked_on: FairSemaphore,
}

/// The limit is reached.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the limit of bytes in requests and answers is reached, for the service or for this vault or key")]
pub(crate) struct Full {
    limit: usize,
}

impl Full {
    pub(crate) fn problem(self) -> Problem {
        telemetry::refused("bytes");
        Problem::new(Kind::Unavailable, self.to_string())
            .with("limit", self.limit)
            .with("limit_name", "http.max_bytes_in_flight")
            .retry_after(1)
    }
}

impl From<Full> for Problem {
    fn from(full: Full) -> Self {
        full.problem()
    }
}

impl Budget {
    pub(crate) fn new(settings: &Settings) -> Self {
        let largest = settings.context_bytes.max(settings.body_bytes);
        let limit = settings
            .max_bytes_in_flight
            .max(largest.saturating_mul(LARGEST_BODIES));
        Self {
            limit,
            largest: largest.saturating_mul(LARGEST_BODIES),
            carried: FairSemaphore::new(ShareLimits::of(limit / 2)),
            worked_on: FairSemaphore::new(ShareLimits::of(limit / 2)),
        }
    }

    fn full(&self) -> Full {
        Full { limit: self.limit }
    }

    /// Reserves bytes for a body in transfer.
    ///
    /// # Errors
    /// [`Full`].
    pub(crate) fn carry(&self, party: &Party, bytes: usize) -> Result<Permit, Full> {
        self.carried.try_acquire(party, bytes).ok_or(self.full())
    }

    /// Adds bytes to a reservation.
    ///
    /// # Errors
    /// [`Full`].
    pub(crate) fn carry_more(&self, permit: &mut Permit, bytes: usize) -> Result<(), Full> {
        permit.grow(bytes).then_some(()).ok_or(self.full())
    }

    /// Reserves bytes for a response that must be sent even above the limit, because the request already had its
    /// effect.
    pub(crate) fn carry_anyway(&self, party: &Party, bytes: usize) -> Permit {
        self.carried.overdraw(party, bytes)
    }

    /// Waits for room to process a body of so many bytes.
    ///
    /// # Errors
    /// [`Full`] after [`WORK_TIMEOUT`].
    pub(crate) async fn work(&self, party: &Party, bytes: usize) -> Result<Permit, Full> {
        let cost = bytes.saturating_mul(WORK_COST);
        let permit = tokio::time::timeout(WORK_TIMEOUT, self.worked_on.acquire(party, cost));
        permit.await.map_err(|_| self.full())
    }

    /// Waits for room to make one page of a list, and for a turn to do it.
    ///
    /// # Errors
    /// [`Full`] after [`WORK_TIMEOUT`].
    pub(crate) async fn list(&self) -> Result<(Permit, Permit), Full> {
        let party = Party::current();
        Ok((self.work(&party, LIST_BYTES).await?, fair::turn(&party).await))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bytes: usize) -> Budget {
        Budget::new(&Settings {
            max_bytes_in_flight: bytes,
            context_bytes: 100,
            body_bytes: 100,
            ..Settings::default()
        })
    }

    #[tokio::test]
    async fn a_vault_carries_a_quarter_and_leaves_room_for_others() {
        let budget = budget(8_000);
        let (a, b) = (Party::new(Some("a"), None), Party::new(Some("b"), None));
        let first = budget.carry(&a, 500).unwrap();
        let mut held = budget.carry(&a, 1_000).unwrap();
        assert!(budget.carry_more(&mut held, 501).is_err());
        assert!(budget.carry_more(&mut held, 500).is_ok());
        assert!(budget.carry(&b, 1_000).is_ok());
        drop((first, held));
        assert!(budget.carry(&a, 2_000).is_ok());
    }

    #[test]
    fn the_largest_bodies_fit_whatever_is_set() {
        assert_eq!(budget(0).limit, 800);
    }

    #[tokio::test]
    async fn work_waits_for_a_permit_and_others_do_not_wait_for_it() {
        let budget = budget(8_000);
        let a = Party::new(Some("a"), None);
        let running = budget.work(&a, 1_000).await.unwrap();
        let mut waiting = std::pin::pin!(budget.work(&a, 1));
        let soon = tokio::time::timeout(Duration::from_millis(20), waiting.as_mut());
        assert!(soon.await.is_err());
        assert!(budget.work(&Party::new(Some("b"), None), 1).await.is_ok());
        drop(running);
        assert!(waiting.await.is_ok());
    }
}
