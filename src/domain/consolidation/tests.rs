use super::*;

fn now() -> DateTime<Utc> {
    "2026-11-25T00:00:00Z".parse().unwrap()
}

/// What is archived of a document, and the record that stays for it.
fn archived(document: &str) -> Vec<(String, Option<String>)> {
    let found = find(document, now(), &mut Share::of(document, 0.2))
        .into_iter()
        .map(|operation| match operation {
            Operation::Archive { id, ground, .. } => {
                (id.to_string(), ground.unwrap().kept().map(|id| id.to_string()))
            }
            other => panic!("{other:?}"),
        });
    found.collect()
}

fn learnings(texts: &[&str]) -> String {
    let lines = texts
        .iter()
        .enumerate()
        .map(|(at, text)| format!("- KL-{} {text}\n", at + 1));
    format!("# Key Learnings\n{}", lines.collect::<String>())
}

/// The rows of a table with two columns.
fn pairs(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = table.trim().lines();
    rows.map(|row| row.trim().split_once(" | ").expect("two columns"))
}

/// Whether one of two learnings goes for the other.
fn are_duplicates(first: &str, second: &str) -> bool {
    !archived(&learnings(&[first, second])).is_empty()
}

#[test]
fn the_same_said_twice_is_a_duplicate() {
    for (first, second) in pairs(
        "
        Run the migrations before the deploy | run the migrations before the deploy.
        CI needs SQLX_OFFLINE=true | The CI needs `SQLX_OFFLINE=true`
        tests are slow | Tests are slow.
        Anna owns billing | Anna owns billing, and invoices too
        Die Datenbank läuft auf Port 5433 | Die Datenbank läuft jetzt auf dem Port 5433
        Never deploy on Fridays | Never deploy on Fridays, Anna says
        the **port** is 8080 | the port is 8080, says Anna
        call Ana at 5 | Call Ana at 5 and send the list
        CI needs 8 GB | CI needs Docker 27, and CI needs 8 GB
        テストは毎晩走る | テストは毎晩走る",
    ) {
        assert!(are_duplicates(first, second), "{first} / {second}");
        assert!(are_duplicates(second, first), "{second} / {first}");
    }
}

#[test]
fn look_alikes_are_not() {
    for (first, second) in pairs(
        "
        The service listens on port 8080 | The service listens on port 8081
        Anna owns billing | Ana owns billing
        Deploy on Fridays | Never deploy on Fridays
        Deploy on Fridays | Don't deploy on Fridays
        Alice reports to Bob | Bob reports to Alice
        use postgres instead of mysql | use mysql instead of postgres
        the staging database is backed up nightly | the production database is backed up nightly
        Der Vertrag gilt bis 2027 | Der Vertrag gilt nicht bis 2027
        the budget is 4,000 euros | the budget is 40,000 euros
        logs are in /var/log/app | logs are in /var/log/api
        La clé est dans le coffre | La clé n'est pas dans le coffre
        backups run before the deploy | backups run after the deploy
        テストは毎晩走る | テストは毎朝走る
        水温≥60度 | 水温≤60度
        the pool has ≥ 20 connections | the pool has ≤ 20 connections
        retry where status != 200 | retry where status = 200
        the licence costs €50 | the licence costs £50
        sync staging → production | sync staging ← production
        the limit is 50 | the limit is 50 on Sundays
        The port is 8080 | Previously the port was 8080
        All tests pass | Almost all tests pass
        Deploys need approval | Deploys used to need approval
        Backups are kept for 30 days | Backups are kept for less than 30 days
        Das Budget ist 500 Euro | Das Budget ist höchstens 500 Euro
        Le budget est de 500 euros | Le budget est de moins de 500 euros
        备份保留30天 | 备份保留少于30天
        backups run | backups run when the queue is empty
        backups run | backups run before the deploy
        deploy on Friday | nobody may deploy on Friday
        deploy on Friday | deploy on Friday is banned
        the cache works | the cache hardly works
        Anna owns billing | Anna formerly owns billing
        we use Redis | maybe we use Redis
        am Freitag deployen | niemand darf am Freitag deployen
        deploy viernes | nadie deploy viernes
        周五部署 | 周五部署禁止
        the API is public | is the API public?
        APIは公開です | APIは公開ですか。
        the radio sends with 5 mW | the radio sends with 5 MW
        call getId first | call getID first
        the config is in /etc/App | the config is in /etc/app
        run ./deploy.sh first | run /deploy.sh first
        edit .env first | edit env first
        match *.rs files | match .rs files
        clear /tmp/* first | clear /tmp/ first
        standup is at 9 | standup is at 9 EST
        the budget is 5 | the budget is 5 million
        call 0151 2345 | call 0151 2345 678
        预算是5 | 预算是5百万",
    ) {
        assert!(!are_duplicates(first, second), "{first} / {second}");
    }
}

#[test]
fn what_goes_and_what_stays_for_it() {
    let table = r"
        KL-1 for KL-3 | # Key Learnings\n- KL-1 Anna owns billing\n- KL-2 x y z\n- KL-3 Anna owns billing and invoices\n
        KL-2 for KL-1 | # Key Learnings\n- KL-1 tests are slow\n- KL-2 tests are slow\n
        KL-1 for KL-2 | # Key Learnings\n- KL-1 tests are slow\n- KL-2 [pinned] tests are slow\n
        none | # Key Learnings\n- KL-1 [pinned] tests are slow\n- KL-2 [pinned] tests are slow\n
        KL-1 for KL-2 | # Key Learnings\n- KL-1 [until 2027-01-01] tests are slow\n- KL-2 tests are slow\n
        none | # Decisions\n- D-2 [until 2027-01-01] because D-1 is superseded: we use Redis\n- D-1 we use Postgres\n
        KL-1 expired | # Key Learnings\n- KL-1 [until 2026-11-24] a\n- KL-2 [until 2026-11-25] b\n- KL-3 c\n
        D-1 for D-3 | # Decisions\n- D-5 sessions go to Redis, which does not replace D-2\n- D-4 gelöst wie in D-2\n- D-3 because D-1 is superseded: we use Redis\n- D-2 D-1 stays as it is\n- D-1 we use Postgres\n";
    for (expected, document) in pairs(table) {
        let found = archived(&document.replace("\\n", "\n")).into_iter();
        let said = found.map(|(id, kept)| match kept {
            Some(kept) => format!("{id} for {kept}"),
            None => format!("{id} expired"),
        });
        let said = said.collect::<Vec<_>>().join(", ");
        assert_eq!(said, expected.replace("none", ""), "{document}");
    }
}

#[test]
fn a_decision_goes_only_for_one_that_says_of_it_that_it_is_replaced() {
    let goes = |newer: &str| {
        let document = format!("# Decisions\n- D-2 {newer}\n- D-1 use Redis for the queue\n");
        !archived(&document).is_empty()
    };
    for newer in "
        use Postgres, it replaces D-1
        use Postgres instead of D-1
        use Postgres (supersedes the decision D-1)
        because D-1 has been superseded by this: use Postgres
        D-1 wird ersetzt, wir nehmen Postgres
        D-1 est remplacé : la file tourne sur Postgres
        la cola usa Postgres, reemplaza D-1
        D-1 被取代，队列用 Postgres"
        .trim()
        .lines()
    {
        assert!(goes(newer.trim()), "{newer}");
    }
    for newer in "
        Postgres replaces MySQL; D-1 stays valid
        Postgres replaces MySQL and D-1 stays valid
        replace the cache with memcached. D-1 still holds for the queue
        replaced cables in hall 3; see D-1 for the queue
        replaced cables in hall 3 as in D-1
        use Kafka as well, in addition to D-1; the new logo replaces the old one
        because as D-1 said: the new printer replaces the old
        D-1 replaces the older cron job and stays
        this replaces D-1 on staging
        does this replace D-1?
        maybe this replaces D-1
        this should replace D-1
        if the load grows, this replaces D-1
        D-1 is to be replaced next year
        use Kafka. This replaces D-1, but only on staging
        use Kafka, it replaces D-1 (staging only)
        this supersedes D-1, except for billing
        rejected: Bob's idea, which replaces D-1
        the plan that supersedes D-1, by Bob, was rejected
        die Idee von Bob ersetzt D-1, sie wurde verworfen
        do not replace D-1"
        .trim()
        .lines()
    {
        assert!(!goes(newer.trim()), "{newer}");
    }
}

#[test]
fn at_most_a_fifth_of_a_section_goes_at_once() {
    let texts = ["tests are slow"; 20];
    assert_eq!(archived(&learnings(&texts)).len(), 4);
}

#[test]
fn a_snippet_is_a_duplicate_only_if_it_is_equal() {
    let snippets = |second: &str| format!("# Verbatim Context\n- VC-1 run => make test\n- VC-2 {second}\n");
    assert_eq!(archived(&snippets("Run => make test")).len(), 1);
    assert_eq!(archived(&snippets("run => make  test")).len(), 0);
    assert_eq!(archived(&snippets("build => make test")).len(), 0);
}

fn id(text: &str) -> RecordId {
    text.parse().unwrap()
}

/// What is wrong with a ground; empty if it holds.
fn fault(document: &str, archived: &str, ground: Ground) -> String {
    let checked = Grounds::of(document, now()).check(id(archived), ground, |_| false);
    checked.err().unwrap_or_default()
}

#[test]
fn a_ground_that_does_not_hold_is_named() {
    let document = learnings(&["port 8080", "port 8081", "port 8080"]);
    for (ground, expected) in [
        (Ground::DuplicateOf(id("KL-3")), ""),
        (
            Ground::DuplicateOf(id("KL-2")),
            "KL-2 does not say all that KL-1 says: `8080` is missing in it.",
        ),
        (Ground::DuplicateOf(id("KL-9")), "KL-9 is no active record"),
        (Ground::DuplicateOf(id("KL-1")), "KL-1"),
        (Ground::SupersededBy(id("KL-2")), "KL-2"),
        (Ground::Expired, "has no end"),
    ] {
        is_named(&document, ground, expected);
    }
    let leaves = Grounds::of(&document, now()).check(id("KL-1"), Ground::DuplicateOf(id("KL-3")), |_| true);
    assert!(leaves.is_err(), "what goes too takes no place");
}

/// What is wrong with the ground to archive KL-1 has these words; none if it holds.
fn is_named(document: &str, ground: Ground, expected: &str) {
    let found = fault(document, "KL-1", ground);
    assert!(
        found.contains(expected) && found.is_empty() == expected.is_empty(),
        "{ground:?} in {document}: {found}"
    );
}

#[test]
fn a_record_has_expired_by_its_mark_or_by_an_end_that_it_states() {
    for (text, expected) in [
        ("[until 2026-11-24] the offer", ""),
        ("[until 2026-11-25] the offer", "its end is not past"),
        ("the certificate expires on 2026-11-01", ""),
        ("the contract is valid until 2026-10-01", ""),
        ("Angebot gilt bis 2026-11-01.", ""),
        ("le billet est valable jusqu'au 2026-11-02", ""),
        ("la oferta vence el 2026-11-02", ""),
        ("valid from 2026-01-01 until 2026-11-01", ""),
        ("valid until 2026-11-01, renewed on 2027-11-01", "has no end"),
        ("valid until 2027-11-01", "its end is not past"),
        ("the offer ends on 2026-11-01 at 18:00 UTC", ""),
        ("der Vertrag läuft am 2026-11-01 ab", ""),
        ("the API key is valid from 2026-01-01", "has no end"),
        ("gültig ab 2026-01-01", "has no end"),
        ("valable depuis 2026-01-01", "has no end"),
        ("the new price is not valid until 2026-01-01", "has no end"),
        ("the contract does not end on 2026-01-01", "has no end"),
        ("the contract doesn’t end on 2026-01-01", "has no end"),
        ("the key cannot expire on 2026-01-01", "has no end"),
        ("the trial ends neither on 2026-01-01", "has no end"),
        ("the license never expires since 2026-01-01", "has no end"),
        ("the migration ended on 2026-03-01", "has no end"),
        ("logs until 2026-01-01 are in the bucket old-logs", "has no end"),
        ("the release of 2026-11-01 broke the build", "has no end"),
        ("until the release nothing moves", "has no end"),
        (
            "the policy is 12 characters; the exception for Bob expired 2020-01-01",
            "has no end",
        ),
        (
            "the freeze ends 2020-01-01 and Bob owns the release process",
            "has no end",
        ),
    ] {
        is_named(&learnings(&[text]), Ground::Expired, expected);
    }
}

#[test]
fn a_newer_record_takes_the_place_of_one_that_it_says_has_changed() {
    for (older, newer) in pairs(
        "
        Deploys run on Tuesday evenings | Deploys now run on Thursday evenings
        The staging database runs on host blue | The staging database moved to host green
        Der Wartungstermin der Heizung ist am Montag | Der Wartungstermin der Heizung ist jetzt am Freitag
        Le contact de facturation est Anna | Le contact de facturation est désormais Bert
        La reunión semanal es el lunes | La reunión semanal es ahora el jueves
        会议在星期一上午举行 | 会议改为星期四上午举行",
    ) {
        let document = learnings(&[older, newer]);
        is_named(&document, Ground::SupersededBy(id("KL-2")), "");
        assert!(fault(&document, "KL-2", Ground::SupersededBy(id("KL-1"))).contains("is older"));
    }
    for (older, newer) in pairs(
        "
        Deploys run on Tuesday evenings | Deploys run on Thursday evenings
        The production database runs on port 5432 | Lunch is now at noon
        The production database listens on port 5432 | The coffee machine moved to port 5433",
    ) {
        let document = learnings(&[older, newer]);
        is_named(&document, Ground::SupersededBy(id("KL-2")), "KL-2");
    }
}

#[test]
fn a_merge_says_all_that_its_parts_say_and_nothing_else() {
    let document = learnings(&[
        "CI needs 8 GB of memory",
        "CI needs Docker 27 on the runner",
        "never deploy on Fridays",
        "Anna has port 8080",
        "Bert has port 8081",
        "never restart the primary",
    ]);
    let table = "
        KL-1 KL-2 | CI needs 8 GB of memory and Docker 27 on the runner | -
        KL-1 KL-2 | CI needs memory and Docker 27 on the runner | `8` is missing
        KL-1 KL-2 | CI needs 8 GB of memory and Docker 28 on the runner | `27` is missing
        KL-1 KL-2 | CI needs 8 GB of memory and Docker 27 on the runner since March | `since`
        KL-1 KL-2 | CI needs 8 GB of fast memory and Docker 27 on the runner | `fast`
        KL-1 KL-2 | CI never needs 8 GB of memory and Docker 27 on the runner | negate
        KL-1 KL-3 | CI needs 8 GB of memory, never deploy on Fridays | negate
        KL-3 KL-6 | never deploy on Fridays; never restart the primary | -
        KL-3 KL-6 | never deploy on Fridays; restart the primary | negate
        KL-1 | CI needs 8 GB of memory | two to
        KL-1 KL-1 | CI needs 8 GB of memory | two to
        KL-1 KL-9 | CI needs 8 GB of memory | KL-9 is no active record
        KL-4 KL-5 | Anna has port 8080, Bert has port 8081 | -
        KL-4 KL-5 | Anna has port 8081, Bert has port 8080 | 80";
    for (ids, row) in pairs(table) {
        let (text, expected) = row.split_once(" | ").expect("three columns");
        let ids: Vec<RecordId> = ids.split(' ').map(id).collect();
        let merged = Grounds::of(&document, now()).check_merge(&ids, text, |_| false);
        match expected {
            "-" => assert_eq!(merged, Ok(Marks::default()), "{text}"),
            expected => {
                let fault = merged.unwrap_err();
                assert!(fault.contains(expected), "{text}: {fault}");
            }
        }
    }
}
