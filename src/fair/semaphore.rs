//! A fair semaphore for a limited resource.

use super::party::{Holder, Party};
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The total amount, and the limits of one vault and one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareLimits {
    /// The total amount.
    pub total: usize,
    /// The limit of one vault.
    pub of_vault: usize,
    /// The limit of one key, in all its vaults: higher, so that the vaults of a gateway with one key can share it.
    pub of_key: usize,
    /// The limit of one memory.
    pub of_memory: usize,
}

impl ShareLimits {
    /// Half for a vault, three quarters for a key; at least one.
    #[must_use]
    pub fn of(total: usize) -> Self {
        let total = total.max(1);
        Self {
            total,
            of_vault: (total / 2).max(1),
            of_key: (total / 4 * 3).max(total / 2).max(1),
            of_memory: total,
        }
    }

    /// A quarter for a vault and for a key: others always find the rest, so that one key can fill its share with requests
    /// that take long.
    #[must_use]
    pub fn of_requests(total: usize) -> Self {
        let total = total.max(1);
        let quarter = (total / 4).max(1);
        Self {
            total,
            of_vault: quarter,
            of_key: quarter,
            of_memory: total,
        }
    }

    /// One for each memory, and as many for a vault.
    #[must_use]
    pub fn of_memories(total: usize, of_vault: usize) -> Self {
        Self {
            total,
            of_vault,
            of_key: total,
            of_memory: 1,
        }
    }
}

/// Which limit leaves no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// That of all.
    InAll,
    /// That of the vault.
    OfVault,
    /// As many wait for the memory as may.
    OfMemory,
}

/// A fair semaphore with permits of any size. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FairSemaphore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shares: ShareLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    in_use: usize,
    held: HashMap<Holder, usize, RandomState>,
    /// Waiting requests, by vault; the vault at the front is next.
    queues: VecDeque<(Option<Holder>, VecDeque<Waiting>)>,
}

#[derive(Debug)]
struct Waiting {
    party: Party,
    amount: usize,
    granted: oneshot::Sender<Permit>,
}

/// An amount of a gate's resource, returned when it is dropped.
#[derive(Debug)]
pub struct Permit {
    gate: FairSemaphore,
    party: Party,
    amount: usize,
}

impl ShareLimits {
    fn of_holder(&self, holder: &Holder) -> usize {
        match holder {
            Holder::Vault(_) => self.of_vault,
            Holder::Key(_) => self.of_key,
            Holder::Memory(..) => self.of_memory,
        }
    }
}

impl State {
    fn held_by(&self, holder: &Holder) -> usize {
        self.held.get(holder).copied().unwrap_or_default()
    }

    fn is_full(&self, shares: &ShareLimits, holder: Option<&Holder>) -> bool {
        holder.is_some_and(|holder| self.held_by(holder) >= shares.of_holder(holder))
    }

    /// Which limit leaves no room for one more of this party, if `most` of its memory may run and wait.
    fn no_room(&self, shares: &ShareLimits, party: &Party, most: usize) -> Option<NoRoom> {
        if self.in_use >= shares.total {
            return Some(NoRoom::InAll);
        }
        if self.is_full(shares, party.vault()) {
            return Some(NoRoom::OfVault);
        }
        let mut queues = self.queues.iter();
        let queue = queues.find(|(vault, _)| vault.as_ref() == party.vault());
        let waiting = queue.into_iter().flat_map(|(_, queue)| queue);
        let waiting = waiting.filter(|waiting| waiting.party == *party && !waiting.granted.is_closed());
        let mut holders = party.holders().iter();
        let memory = holders.find(|holder| matches!(holder, Holder::Memory(..)));
        let running = memory.map_or(0, |memory| self.held_by(memory));
        (running + waiting.count() >= most).then_some(NoRoom::OfMemory)
    }

    fn fits(&self, shares: &ShareLimits, party: &Party, amount: usize) -> bool {
        let in_use = self.in_use.saturating_add(amount);
        let fits = |holder: &Holder| self.held_by(holder) + amount <= shares.of_holder(holder);
        in_use <= shares.total && party.holders().iter().all(fits)
    }

    fn take(&mut self, party: &Party, amount: usize) {
        self.in_use += amount;
        for holder in party.holders() {
            *self.held.entry(holder.clone()).or_default() += amount;
        }
    }

    fn give_back(&mut self, party: &Party, amount: usize) {
        self.in_use = self.in_use.saturating_sub(amount);
        for holder in party.holders() {
            if let Some(held) = self.held.get_mut(holder) {
                *held = held.saturating_sub(amount);
                if *held == 0 {
                    self.held.remove(holder);
                }
            }
        }
    }

    fn wait(&mut self, waiting: Waiting) {
        let vault = waiting.party.vault();
        match self.queues.iter_mut().find(|(of, _)| of.as_ref() == vault) {
            Some((_, queue)) => queue.push_back(waiting),
            None => self.queues.push_back((vault.cloned(), VecDeque::from([waiting]))),
        }
    }

    /// Removes the next waiter whose amount fits, and counts it as in use.
    fn next(&mut self, shares: &ShareLimits) -> Option<Waiting> {
        // Thousands may wait: they are looked through only where one of them may fit.
        if self.in_use >= shares.total {
            return None;
        }
        for _ in 0..self.queues.len() {
            let (vault, mut queue) = self.queues.pop_front()?;
            if self.is_full(shares, vault.as_ref()) {
                self.queues.push_back((vault, queue));
                continue;
            }
            queue.retain(|waiting| !waiting.granted.is_closed());
            // Within a vault in the order of arrival, but waiters whose key has reached its limit are skipped.
            let fits = |waiting: &Waiting| self.fits(shares, &waiting.party, waiting.amount);
            let found = queue.iter().position(fits).and_then(|place| queue.remove(place));
            if !queue.is_empty() {
                self.queues.push_back((vault, queue));
            }
            if let Some(waiting) = found {
                self.take(&waiting.party, waiting.amount);
                return Some(waiting);
            }
        }
        None
    }
}

impl FairSemaphore {
    /// A semaphore with nothing in use.
    #[must_use]
    pub fn new(shares: ShareLimits) -> Self {
        Self(Arc::new(Inner {
            shares,
            state: Mutex::default(),
        }))
    }

    /// Limits a request to the party's share: a larger one would wait forever, or always be refused.
    fn most(&self, party: &Party, amount: usize) -> usize {
        let shares = &self.0.shares;
        let shares_of = party.holders().iter().map(|holder| shares.of_holder(holder));
        shares_of.chain([shares.total, amount]).min().unwrap_or(amount)
    }

    fn permit(&self, party: &Party, amount: usize) -> Permit {
        Permit {
            gate: self.clone(),
            party: party.clone(),
            amount,
        }
    }

    /// Waits for a permit.
    pub async fn acquire(&self, party: &Party, amount: usize) -> Permit {
        let amount = self.most(party, amount);
        let waiting = {
            let mut state = self.0.state.lock();
            if state.fits(&self.0.shares, party, amount) {
                state.take(party, amount);
                return self.permit(party, amount);
            }
            let (granted, waiting) = oneshot::channel();
            state.wait(Waiting {
                party: party.clone(),
                amount,
                granted,
            });
            waiting
        };
        match waiting.await {
            Ok(permit) => permit,
            // A gate keeps its waiters while it exists, and `self` is one reference.
            Err(_) => self.overdraw(party, amount),
        }
    }

    /// Waits for a permit behind those of the party's memory, of which at most `most` run and wait. Waits for no other
    /// limit: a client that is refused at once can come back.
    ///
    /// # Errors
    /// The limit that leaves no room.
    pub async fn enter(&self, party: &Party, most: usize) -> Result<Permit, NoRoom> {
        let refused = self.0.state.lock().no_room(&self.0.shares, party, most);
        match refused {
            Some(refused) => Err(refused),
            None => Ok(self.acquire(party, 1).await),
        }
    }

    /// A permit, if it is available at once.
    #[must_use]
    pub fn try_acquire(&self, party: &Party, amount: usize) -> Option<Permit> {
        let amount = self.most(party, amount);
        let mut state = self.0.state.lock();
        let fits = state.fits(&self.0.shares, party, amount);
        fits.then(|| {
            state.take(party, amount);
            self.permit(party, amount)
        })
    }

    /// Counts an amount that is already in use, even beyond the total.
    #[must_use]
    pub fn overdraw(&self, party: &Party, amount: usize) -> Permit {
        self.0.state.lock().take(party, amount);
        self.permit(party, amount)
    }

    /// The amount that is in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.0.state.lock().in_use
    }

    /// The vaults that hold all they may.
    #[must_use]
    pub fn vaults_at_limit(&self) -> Vec<String> {
        let (state, most) = (self.0.state.lock(), self.0.shares.of_vault);
        let at_limit = state.held.iter().filter_map(|(holder, held)| match holder {
            Holder::Vault(vault) if *held >= most => Some(vault.to_string()),
            Holder::Vault(_) | Holder::Key(_) | Holder::Memory(..) => None,
        });
        at_limit.collect()
    }

    /// The total and the limits.
    #[must_use]
    pub fn shares(&self) -> ShareLimits {
        self.0.shares
    }

    /// Returns an amount and passes on what fits now, before anybody else can take it.
    fn give_back(&self, party: &Party, amount: usize) {
        let next: Vec<Waiting> = {
            let mut state = self.0.state.lock();
            state.give_back(party, amount);
            std::iter::from_fn(|| state.next(&self.0.shares)).collect()
        };
        for next in next {
            // Outside the lock: a permit whose receiver was dropped is returned through `drop`.
            let permit = self.permit(&next.party, next.amount);
            drop(next.granted.send(permit));
        }
    }
}

impl Permit {
    /// Adds to the permit, if that is available and within the party's limit.
    pub fn grow(&mut self, more: usize) -> bool {
        let most = self.gate.most(&self.party, self.amount.saturating_add(more));
        let more = most.saturating_sub(self.amount);
        let mut state = self.gate.0.state.lock();
        let fits = state.fits(&self.gate.0.shares, &self.party, more);
        if fits {
            state.take(&self.party, more);
            drop(state);
            self.amount += more;
        }
        fits
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate.give_back(&self.party, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Poll;

    fn party(vault: &str) -> Party {
        Party::new(Some(vault), None)
    }

    /// The permit, if the waiter has it.
    async fn turn<F: Future<Output = Permit>>(waiting: std::pin::Pin<&mut F>) -> Option<Permit> {
        let mut waiting = waiting;
        std::future::poll_fn(|context| match waiting.as_mut().poll(context) {
            Poll::Ready(permit) => Poll::Ready(Some(permit)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    #[tokio::test]
    async fn a_vault_never_holds_more_than_its_share() {
        let gate = FairSemaphore::new(ShareLimits::of(4));
        let held: Vec<_> = (0..9).filter_map(|_| gate.try_acquire(&party("a"), 1)).collect();
        assert_eq!(held.len(), 2);
        assert!(gate.try_acquire(&party("b"), 1).is_some());
    }

    #[tokio::test]
    async fn a_key_never_holds_all_however_many_vaults_it_has() {
        let gate = FairSemaphore::new(ShareLimits::of(4));
        let vaults = ["a", "b", "c", "d", "e"];
        let of_key = |vault| gate.try_acquire(&Party::new(Some(vault), Some("k")), 1);
        let held: Vec<_> = vaults.into_iter().filter_map(of_key).collect();
        assert_eq!(held.len(), 3);
        assert!(
            gate.try_acquire(&Party::new(Some("e"), Some("other")), 1)
                .is_some()
        );
    }

    #[tokio::test]
    async fn of_requests_a_vault_and_a_key_hold_a_quarter() {
        let gate = FairSemaphore::new(ShareLimits::of_requests(8));
        let of = |vault: &str, key: &str| gate.try_acquire(&Party::new(Some(vault), Some(key)), 1);
        let greedy: Vec<_> = (0..9)
            .filter_map(|n| of(&format!("vault{}", n % 3), "greedy"))
            .collect();
        assert_eq!(greedy.len(), 2);
        let others: Vec<_> = (0..9)
            .filter_map(|n| of("other", &format!("key{}", n % 3)))
            .collect();
        assert_eq!(others.len(), 2);
        let rest: Vec<_> = (0..9)
            .filter_map(|n| of(&format!("of{n}"), &format!("of{n}")))
            .collect();
        assert_eq!(rest.len(), 4, "all are in use");
        drop((greedy, others, rest));
        assert_eq!(gate.in_use(), 0);
    }

    #[tokio::test]
    async fn waiters_are_admitted_vault_by_vault_and_not_by_arrival() {
        let gate = FairSemaphore::new(ShareLimits::of(1));
        let (a, b) = (party("a"), party("b"));
        let first = gate.acquire(&a, 1).await;
        let mut a2 = pin!(gate.acquire(&a, 1));
        let mut a3 = pin!(gate.acquire(&a, 1));
        let mut b1 = pin!(gate.acquire(&b, 1));
        for waiting in [a2.as_mut(), a3.as_mut()] {
            assert!(turn(waiting).await.is_none());
        }
        assert!(turn(b1.as_mut()).await.is_none());
        drop(first);
        let second = turn(a2.as_mut()).await.unwrap();
        assert!(turn(b1.as_mut()).await.is_none());
        drop(second);
        assert!(turn(a3.as_mut()).await.is_none(), "it is the other vault's turn");
        let third = turn(b1.as_mut()).await.unwrap();
        drop(third);
        assert!(turn(a3.as_mut()).await.is_some());
    }

    #[tokio::test]
    async fn one_memory_is_served_in_the_order_of_arrival_and_others_do_not_wait_for_it() {
        let gate = FairSemaphore::new(ShareLimits::of_memories(3, 2));
        let (m, other) = (Party::of_memory("a", "m"), Party::of_memory("a", "other"));
        let first = gate.enter(&m, 3).await.unwrap();
        let mut second = pin!(gate.acquire(&m, 1));
        let mut third = pin!(gate.acquire(&m, 1));
        assert!(turn(second.as_mut()).await.is_none() && turn(third.as_mut()).await.is_none());
        assert_eq!(gate.enter(&m, 3).await.unwrap_err(), NoRoom::OfMemory);
        let beside = gate.enter(&other, 3).await.unwrap();
        assert_eq!(gate.enter(&m, 9).await.unwrap_err(), NoRoom::OfVault);
        let far = gate.enter(&Party::of_memory("b", "m"), 3).await.unwrap();
        let refused = gate.enter(&Party::of_memory("c", "m"), 3).await;
        assert_eq!(refused.unwrap_err(), NoRoom::InAll);
        drop((first, far));
        let second = turn(second.as_mut()).await.unwrap();
        assert!(turn(third.as_mut()).await.is_none());
        drop((second, beside));
        assert!(turn(third.as_mut()).await.is_some());
    }

    #[tokio::test]
    async fn a_dropped_waiter_or_permit_blocks_no_other() {
        let gate = FairSemaphore::new(ShareLimits::of(1));
        let first = gate.acquire(&party("a"), 1).await;
        {
            let b = party("b");
            let mut dropped = pin!(gate.acquire(&b, 1));
            assert!(turn(dropped.as_mut()).await.is_none());
            drop(first);
            // It has its permit now, and drops it.
        }
        assert_eq!(gate.in_use(), 0);
        assert!(gate.try_acquire(&party("c"), 1).is_some());
    }

    #[tokio::test]
    async fn an_amount_over_the_share_is_cut_to_it_and_a_growing_one_stays_within() {
        let gate = FairSemaphore::new(ShareLimits::of(8));
        let all = gate.acquire(&party("a"), 100).await;
        assert_eq!((all.amount, gate.in_use()), (4, 4));
        drop(all);
        let all = gate.try_acquire(&party("a"), 100).unwrap();
        assert_eq!((all.amount, gate.in_use()), (4, 4));
        drop(all);
        let mut all = gate.acquire(&party("a"), 1).await;
        let other = gate.try_acquire(&party("a"), 1).unwrap();
        assert!(!all.grow(3), "the other holds some of the share");
        drop(other);
        assert!(all.grow(9));
        assert_eq!(gate.in_use(), 4);
        drop(all);
        assert_eq!(gate.in_use(), 0);
    }
}
