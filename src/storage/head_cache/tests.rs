use super::*;
use crate::storage::{Context, ContextMetadata, Redaction, Source};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

fn ids() -> (VaultId, MemoryId) {
    ("acme".parse().unwrap(), "agent".parse().unwrap())
}

pub(super) fn head(version: i64, text: &str) -> CachedHead {
    let (vault_id, memory_id) = ids();
    let context = Context {
        metadata: ContextMetadata {
            vault_id,
            memory_id,
            context_id: format!("c{version}").parse().unwrap(),
            version,
            actor_id: "a".parse().unwrap(),
            creation_time: chrono::DateTime::UNIX_EPOCH,
            source: Source::Put,
            bytes: i32::try_from(text.len()).unwrap(),
            update_id: None,
            log: String::new(),
            redaction: None,
        },
        text: text.to_owned(),
    };
    kept(context)
}

fn kept(context: Context) -> CachedHead {
    CachedHead::new((context, None))
}

fn change(version: Option<i64>, forget: bool) -> Notification {
    let (vault, memory) = ids();
    Notification {
        vault,
        memory,
        version,
        context: version.map(|version| format!("c{version}").parse().unwrap()),
        forget,
        queue: false,
    }
}

fn leased(bytes: u64) -> HeadCache {
    let heads = HeadCache::new(bytes);
    heads.next_epoch();
    heads.renew(Instant::now());
    heads
}

fn version_of(heads: &HeadCache) -> Option<i64> {
    let (vault, memory) = ids();
    heads
        .get(&vault, &memory)
        .map(|head| head.context.metadata.version)
}

fn token(heads: &HeadCache) -> FillToken {
    let (vault, memory) = ids();
    heads.fill_token(&vault, &memory)
}

#[test]
fn a_head_is_returned_until_a_newer_one_is_notified() {
    let heads = leased(1 << 20);
    heads.fill(token(&heads), head(1, "one"));
    assert_eq!(version_of(&heads), Some(1));
    // Neither a change of the queue of a memory nor of its handoff changes its head.
    heads.invalidate(&change(None, false));
    assert_eq!(version_of(&heads), Some(1));
    heads.invalidate(&change(Some(2), false));
    assert_eq!(version_of(&heads), None);
}

#[test]
fn a_writer_puts_its_version_in_whether_it_was_heard_of_or_not() {
    for received_first in [false, true] {
        let heads = leased(1 << 20);
        let (slow, mine) = (token(&heads), token(&heads));
        if received_first {
            heads.invalidate(&change(Some(2), false));
        }
        heads.fill_written(mine, head(2, "two"));
        heads.invalidate(&change(Some(2), false));
        heads.fill(slow, head(1, "one"));
        assert_eq!(version_of(&heads), Some(2), "{received_first}");
    }
}

#[test]
fn what_is_cached_stays_when_it_is_read_again_but_not_when_it_was_redacted() {
    let heads = leased(1 << 20);
    let (vault, memory) = ids();
    let get = || heads.get(&vault, &memory).unwrap();
    heads.fill(token(&heads), head(1, "one"));
    let cached = get().context;
    heads.fill(token(&heads), head(1, "one"));
    assert!(Arc::ptr_eq(&get().context, &cached));

    let mut redacted = Context::clone(&head(1, "").context);
    redacted.metadata.redaction = Some(Redaction {
        at: chrono::DateTime::UNIX_EPOCH,
        by: "a".parse().unwrap(),
        reason: "a key".to_owned(),
        sha256: String::new(),
    });
    heads.fill(token(&heads), kept(redacted));
    assert!(get().context.metadata.redaction.is_some() && get().context.text.is_empty());
}

#[test]
fn heads_are_bounded_by_their_bytes() {
    let heads = leased(64_000);
    let (vault, _) = ids();
    for number in 0..500 {
        let mut head = Context::clone(&head(1, &"x".repeat(1_000)).context);
        head.metadata.memory_id = format!("m{number}").parse().unwrap();
        heads.fill(heads.fill_token(&vault, &head.metadata.memory_id), kept(head));
    }
    let HeadCacheUse {
        heads: count, bytes, ..
    } = heads.usage();
    assert!(count > 10 && bytes <= 64_000, "{count} heads of {bytes} bytes");
    let none = leased(0);
    none.fill(token(&none), head(1, "one"));
    assert_eq!(version_of(&none), None);
}

#[test]
fn a_head_from_the_database_replaces_an_older_one_despite_notifications() {
    let heads = leased(1 << 20);
    heads.fill(token(&heads), head(1, "one"));
    heads.fill(token(&heads), head(2, "two"));
    assert_eq!(version_of(&heads), Some(2));
    let slow = token(&heads);
    // Another memory of the same stripe; no change of this memory was published.
    let (_, other) = ids();
    let notification = Notification {
        memory: other,
        ..change(Some(2), false)
    };
    heads.invalidate(&notification);
    heads.fill(slow, head(3, "three"));
    assert_eq!(version_of(&heads), None);
}

/// Events of one memory.
#[derive(Debug, Clone, Copy)]
enum Step {
    ReadBegins,
    ReadEnds(usize),
    WriteElsewhere,
    DeletedElsewhere,
    WriteBegins,
    WriteEnds {
        which: usize,
        /// Another instance writes before the writer caches its version.
        overtaken: bool,
        /// All notifications arrive before the writer caches its version.
        received_first: bool,
    },
    PlainWriteHere,
    Received,
    Proved,
    Broken,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::ReadBegins),
        4 => (0usize..4).prop_map(Step::ReadEnds),
        3 => Just(Step::WriteElsewhere),
        1 => Just(Step::DeletedElsewhere),
        4 => Just(Step::WriteBegins),
        4 => (0usize..4, any::<bool>(), any::<bool>())
            .prop_map(|(which, overtaken, received_first)| Step::WriteEnds { which, overtaken, received_first }),
        2 => Just(Step::PlainWriteHere),
        4 => Just(Step::Received),
        1 => Just(Step::Proved),
        1 => Just(Step::Broken),
    ];
    prop::collection::vec(step, 1..80)
}

/// A memory as stored in the database. `age` is unique for every state, also after a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    age: usize,
    version: i64,
}

impl State {
    fn next(self) -> Self {
        Self {
            age: self.age + 1,
            version: self.version + 1,
        }
    }

    fn shown(self) -> CachedHead {
        let mut shown = Context::clone(&head(self.version, &self.age.to_string()).context);
        shown.metadata.context_id = self.id();
        kept(shown)
    }

    fn id(self) -> ContextId {
        format!("age-{}", self.age).parse().unwrap()
    }

    /// The notification of its change.
    fn notification(self) -> Notification {
        Notification {
            context: Some(self.id()),
            ..change(Some(self.version), false)
        }
    }
}

proptest! {
    #[test]
    fn no_head_is_returned_that_was_replaced_before_the_last_renewal(steps in steps()) {
        let heads = leased(1 << 20);
        let mut now = State { age: 0, version: 1 };
        // Notifications in transit: the resulting age and the notification.
        let mut on_the_way: VecDeque<(usize, Notification)> = VecDeque::new();
        let mut readers: Vec<(FillToken, State)> = Vec::new();
        // A write is saved if the state is still the one that it started from.
        let mut writers: Vec<(FillToken, State)> = Vec::new();
        // The oldest age that may still be returned.
        let mut oldest = 0;
        for step in steps {
            match step {
                Step::ReadBegins => readers.push((token(&heads), now)),
                Step::ReadEnds(which) if !readers.is_empty() => {
                    let (token, state) = readers.remove(which % readers.len());
                    if state.version > 0 {
                        heads.fill(token, state.shown());
                    }
                }
                Step::ReadEnds(_) => {}
                Step::WriteElsewhere => {
                    now = now.next();
                    on_the_way.push_back((now.age, now.notification()));
                }
                Step::DeletedElsewhere => {
                    now = State { age: now.age + 1, version: 0 };
                    on_the_way.push_back((now.age, change(None, true)));
                }
                Step::WriteBegins => writers.push((token(&heads), now)),
                Step::WriteEnds { which, overtaken, received_first } if !writers.is_empty() => {
                    let (token, base) = writers.remove(which % writers.len());
                    if base != now || base.version == 0 {
                        continue;
                    }
                    now = now.next();
                    let mine = now;
                    on_the_way.push_back((now.age, now.notification()));
                    if overtaken {
                        now = now.next();
                        on_the_way.push_back((now.age, now.notification()));
                    }
                    if received_first {
                        for (_, notification) in on_the_way.drain(..) {
                            heads.invalidate(&notification);
                        }
                        oldest = now.age;
                    }
                    heads.fill_written(token, mine.shown());
                    heads.invalidate(&mine.notification());
                    oldest = oldest.max(mine.age);
                }
                Step::WriteEnds { .. } => {}
                Step::PlainWriteHere => {
                    now = now.next();
                    let notification = now.notification();
                    on_the_way.push_back((now.age, notification.clone()));
                    heads.invalidate(&notification);
                    oldest = now.age;
                }
                Step::Received => {
                    if let Some((age, notification)) = on_the_way.pop_front() {
                        heads.invalidate(&notification);
                        oldest = oldest.max(age);
                    }
                }
                Step::Proved => {
                    for (_, notification) in on_the_way.drain(..) {
                        heads.invalidate(&notification);
                    }
                    heads.renew(Instant::now());
                    oldest = now.age;
                }
                Step::Broken => {
                    on_the_way.clear();
                    heads.next_epoch();
                    prop_assert_eq!(version_of(&heads), None);
                    heads.renew(Instant::now());
                    oldest = now.age;
                }
            }
            let (vault, memory) = ids();
            if let Some(cached) = heads.get(&vault, &memory) {
                let age: usize = cached.context.text.parse().unwrap();
                prop_assert!(age >= oldest, "{} was given, {} is the oldest allowed", age, oldest);
            }
        }
    }
}
