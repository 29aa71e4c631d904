//! Whether the database answers, as seen by this process.
//!
//! The connections of a process belong to *generations*. A generation ends
//! - when it is **retired**: a connection was lost, the server became read-only, or another server answers at the
//!   address. Its connections are closed when they are to be acquired again;
//! - when it is **given up**, because the database is silent: nothing, not even the heartbeat
//!   ([`crate::storage::database::heartbeat`]), was answered for [`SILENCE`]. Whatever waits on its connections, or on those
//!   retired before, fails at once, and so does acquiring a connection, until a heartbeat is answered.
//!
//! A slow statement is not silence: while others are answered, it may run until its own deadline.

use parking_lot::Mutex;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long the database may be silent before everything that waits for it fails. Eight heartbeats: shorter would take a
/// pause of the network for an outage.
pub(in crate::storage) const SILENCE: Duration = Duration::from_secs(2);

/// The minimum time between retirements because of a read-only server: readers lose their connections too.
const BETWEEN_RETIREMENTS: Duration = Duration::from_secs(1);

/// Identifies a server: the time at which it was started.
pub(in crate::storage) type ServerIdentity = String;

/// Why writes are blocked while the database is silent.
pub(in crate::storage) const SILENT: &str = "the database is silent";

/// The state of the database.
#[derive(Debug, Default)]
pub(in crate::storage) struct Liveness {
    state: Mutex<State>,
    /// Number of statements without an answer yet.
    in_flight: AtomicUsize,
    /// Signals that the database is in use, so that heartbeats are sent often.
    wanted: Notify,
    /// Whether the tables are distributed over several nodes, of which one may be lost while the others answer.
    is_distributed: AtomicBool,
    /// Whether a statement failed because the disk was full, and no room was found since.
    is_disk_full: AtomicBool,
}

#[derive(Debug)]
struct State {
    generation: Generation,
    is_silent: bool,
    server: Option<ServerIdentity>,
    /// The result of the last heartbeat, and its time.
    beat: Option<(Beat, Instant)>,
    /// When anything was answered last.
    answered: Instant,
}

/// The result of a heartbeat: why it was not committed, if it was not.
pub(in crate::storage) type Beat = Result<(), &'static str>;

/// The connections opened between two failures.
#[derive(Debug, Clone)]
pub(in crate::storage) struct Generation {
    began: Instant,
    given_up: CancellationToken,
}

impl Generation {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            given_up: CancellationToken::new(),
        }
    }

    /// Cancelled when the generation is given up, or one after it if it was retired.
    pub(in crate::storage) fn given_up(&self) -> &CancellationToken {
        &self.given_up
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            generation: Generation::new(),
            is_silent: false,
            server: None,
            beat: None,
            answered: Instant::now(),
        }
    }
}

impl Liveness {
    /// Records that the disk of the database is full, or has room again.
    pub(in crate::storage) fn set_disk_full(&self, is_full: bool) {
        self.is_disk_full.store(is_full, Ordering::Relaxed);
    }

    /// Whether the disk of the database was full when last written to.
    pub(in crate::storage) fn is_disk_full(&self) -> bool {
        self.is_disk_full.load(Ordering::Relaxed)
    }

    /// The current generation, for a connection to be acquired.
    ///
    /// # Errors
    /// The database is silent.
    pub(in crate::storage) fn generation(&self) -> Result<Generation, sqlx::Error> {
        let state = self.state.lock();
        if state.is_silent {
            return Err(silence());
        }
        Ok(state.generation.clone())
    }

    /// Whether a connection of this age belongs to an earlier generation.
    pub(in crate::storage) fn is_outdated(&self, age: Duration) -> bool {
        self.state.lock().generation.began.elapsed() < age
    }

    /// Ends the generation; statements in flight on its connections continue until the next one is given up.
    pub(in crate::storage) fn retire(&self) {
        self.state.lock().generation.began = Instant::now();
    }

    /// As [`Self::retire`], at most once in a while.
    pub(in crate::storage) fn retire_read_only(&self) {
        let mut state = self.state.lock();
        if state.generation.began.elapsed() > BETWEEN_RETIREMENTS {
            state.generation.began = Instant::now();
        }
    }

    /// The database is silent: ends the generation and fails everything that waits on it.
    pub(in crate::storage) fn give_up(&self) {
        let mut state = self.state.lock();
        state.is_silent = true;
        state.beat = Some((Err(SILENT), Instant::now()));
        let given_up = Self::next_generation(&mut state).given_up;
        drop(state);
        given_up.cancel();
    }

    /// Records the result of an answered heartbeat.
    pub(in crate::storage) fn beat(&self, beat: Beat) {
        let mut state = self.state.lock();
        state.is_silent = false;
        state.beat = Some((beat, Instant::now()));
    }

    /// The result of the last heartbeat, and its time; `None` before the first.
    pub(in crate::storage) fn last_beat(&self) -> Option<(Beat, Instant)> {
        self.state.lock().beat
    }

    /// Records that a new connection leads to `server`. If the earlier connections led to another server, ends and
    /// returns their generation.
    pub(in crate::storage) fn connected_to(&self, server: &str) -> Option<Generation> {
        let mut state = self.state.lock();
        if state.server.as_deref() == Some(server) {
            return None;
        }
        let is_another = state.server.replace(server.to_owned()).is_some();
        is_another.then(|| Self::next_generation(&mut state))
    }

    /// Whether the newest connection leads to this server.
    pub(in crate::storage) fn is_server(&self, server: &str) -> bool {
        self.state.lock().server.as_deref() == Some(server)
    }

    /// Sets whether the tables are distributed.
    pub(in crate::storage) fn set_distributed(&self, is_distributed: bool) {
        self.is_distributed.store(is_distributed, Ordering::Relaxed);
    }

    /// Whether the tables are distributed, as far as known.
    pub(in crate::storage) fn is_distributed(&self) -> bool {
        self.is_distributed.load(Ordering::Relaxed)
    }

    /// A statement was answered, with success or an error.
    pub(in crate::storage) fn answered(&self) {
        self.state.lock().answered = Instant::now();
    }

    /// Whether anything was answered after `time`.
    pub(in crate::storage) fn answered_since(&self, time: Instant) -> bool {
        self.state.lock().answered > time
    }

    /// Counts a statement as waiting until the returned guard is dropped.
    pub(in crate::storage) fn begin(&self) -> Waiting<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.want_beat();
        Waiting(self)
    }

    /// Requests a heartbeat soon.
    pub(in crate::storage) fn want_beat(&self) {
        self.wanted.notify_one();
    }

    /// Returns when the database is in use; at once if a statement waits.
    pub(in crate::storage) async fn wanted(&self) {
        if self.in_flight.load(Ordering::Relaxed) == 0 {
            self.wanted.notified().await;
        }
    }

    fn next_generation(state: &mut State) -> Generation {
        std::mem::replace(&mut state.generation, Generation::new())
    }
}

/// A statement without an answer yet; counted until dropped.
#[derive(Debug)]
pub(in crate::storage) struct Waiting<'l>(&'l Liveness);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The error returned while the database is silent.
pub(in crate::storage) fn silence() -> sqlx::Error {
    let problem = "the database is silent: it answers nothing";
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiters_outlive_the_end_of_their_generation_until_the_database_is_silent() {
        let liveness = Liveness::default();
        let first = liveness.generation().unwrap();
        liveness.retire();
        let second = liveness.generation().unwrap();
        assert!(!first.given_up().is_cancelled());
        liveness.give_up();
        assert!(second.given_up().is_cancelled() && first.given_up().is_cancelled());
        assert!(liveness.generation().is_err());
        liveness.beat(Ok(()));
        let third = liveness.generation().unwrap();
        assert!(!third.given_up().is_cancelled());
    }

    #[test]
    fn connections_of_before_are_outdated_and_those_of_after_are_not() {
        let liveness = Liveness::default();
        std::thread::sleep(Duration::from_millis(5));
        liveness.retire();
        assert!(liveness.is_outdated(Duration::from_secs(1)));
        assert!(!liveness.is_outdated(Duration::ZERO));
    }

    #[test]
    fn another_server_is_noticed_and_the_first_is_none() {
        let liveness = Liveness::default();
        assert!(liveness.connected_to("one").is_none());
        assert!(liveness.connected_to("one").is_none());
        let of_one = liveness.connected_to("two").unwrap();
        assert!(!of_one.given_up().is_cancelled());
        assert!(liveness.is_server("two") && !liveness.is_server("one"));
    }

    #[test]
    fn an_answer_is_of_its_time() {
        let liveness = Liveness::default();
        std::thread::sleep(Duration::from_millis(2));
        let before = Instant::now();
        assert!(!liveness.answered_since(before));
        std::thread::sleep(Duration::from_millis(2));
        liveness.answered();
        assert!(liveness.answered_since(before));
        assert!(!liveness.answered_since(Instant::now()));
    }
}
