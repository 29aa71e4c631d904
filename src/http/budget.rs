//! `http.max_bytes_in_flight`: how many bytes of requests and answers the process holds at once, and for whom.
//!
//! Half of it is for bodies that arrive and answers that are sent: what finds no room there is refused at once, with 503.
//! The other half is for work: a request whose body has arrived is worked on when there is room for all that this
//! takes, and waits for its turn until then, vault by vault. Of neither half a vault may hold more than half.

use super::problem::{Kind, Problem};
use super::settings::Settings;
use crate::fair::{Gate, Party, Permit, Shares};
use crate::telemetry;
use std::time::Duration;

/// How many of the largest bodies fit at least: one that may be sent must find room.
const LARGEST_BODIES: usize = 8;

/// How long a request waits for its turn to be worked on.
const PATIENCE: Duration = Duration::from_secs(10);

/// An answer up to this size is not counted: so many may be sent at once, and they hold no more together.
pub(crate) const SMALL_ANSWER: usize = 64 << 10;

/// What the bytes of a body cost where what is made of them is kept for as long as models think.
pub(crate) const KEPT_COST: usize = 8;

/// What a page of a list takes while it is made, before [`WORK_COST`].
pub(crate) const LIST_BYTES: usize = 256 << 10;

/// What the bytes of a body, or of a document, cost while they are worked on: a text of nothing but line ends or marks of
/// lists comes to so many times its size.
pub(crate) const WORK_COST: usize = 16;

/// What may be held at once.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    /// The largest body that is taken: of one that is larger the rest is thrown away.
    pub(crate) largest: usize,
    carried: Gate,
    worked_on: Gate,
}

/// There is no room.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the service holds as many bytes of requests and answers as it may, in all or of this vault or key")]
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
            carried: Gate::new(Shares::of(limit / 2)),
            worked_on: Gate::new(Shares::of(limit / 2)),
        }
    }

    fn full(&self) -> Full {
        Full { limit: self.limit }
    }

    /// Room for bytes that arrive or are sent.
    ///
    /// # Errors
    /// [`Full`].
    pub(crate) fn carry(&self, party: &Party, bytes: usize) -> Result<Permit, Full> {
        self.carried.try_acquire(party, bytes).ok_or(self.full())
    }

    /// Room for so many more.
    ///
    /// # Errors
    /// [`Full`].
    pub(crate) fn carry_more(&self, permit: &mut Permit, bytes: usize) -> Result<(), Full> {
        permit.grow(bytes).then_some(()).ok_or(self.full())
    }

    /// Counts bytes of an answer that must be sent, since what it tells was done.
    pub(crate) fn carry_anyway(&self, party: &Party, bytes: usize) -> Permit {
        self.carried.overdraw(party, bytes)
    }

    /// Waits for room to work on so many bytes.
    ///
    /// # Errors
    /// [`Full`] if there is none for too long.
    pub(crate) async fn work(&self, party: &Party, bytes: usize) -> Result<Permit, Full> {
        let cost = bytes.saturating_mul(WORK_COST);
        let turn = tokio::time::timeout(PATIENCE, self.worked_on.acquire(party, cost));
        turn.await.map_err(|_| self.full())
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
    async fn work_waits_for_its_turn_and_others_do_not_wait_behind_it() {
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
