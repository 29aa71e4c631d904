use super::*;
use crate::domain::document::records;

fn now() -> DateTime<Utc> {
    "2026-11-25T00:00:00Z".parse().unwrap()
}

/// What is archived of a document, and the record that stays for it.
fn archived(document: &str) -> Vec<(String, Option<String>)> {
    let found = find(document, now())
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

/// Whether one of two learnings goes for the other.
fn are_duplicates(first: &str, second: &str) -> bool {
    !archived(&learnings(&[first, second])).is_empty()
}

#[test]
fn the_same_said_twice_is_a_duplicate() {
    for [first, second] in [
        [
            "Run the migrations before the deploy",
            "run the migrations before the deploy.",
        ],
        ["CI needs SQLX_OFFLINE=true", "The CI needs `SQLX_OFFLINE=true`"],
        ["tests are slow", "Tests are slow."],
        ["Anna owns billing", "Anna owns billing, and invoices too"],
        [
            "Die Datenbank läuft auf Port 5433",
            "Die Datenbank läuft jetzt auf dem Port 5433",
        ],
        ["Never deploy on Fridays", "Never deploy on Fridays after noon"],
        ["テストは毎晩走る", "テストは毎晩走る"],
    ] {
        assert!(are_duplicates(first, second), "{first} / {second}");
        assert!(are_duplicates(second, first), "{second} / {first}");
    }
}

#[test]
fn look_alikes_are_not() {
    for [first, second] in [
        [
            "The service listens on port 8080",
            "The service listens on port 8081",
        ],
        ["Anna owns billing", "Ana owns billing"],
        ["Deploy on Fridays", "Never deploy on Fridays"],
        ["Deploy on Fridays", "Don't deploy on Fridays"],
        ["Alice reports to Bob", "Bob reports to Alice"],
        ["use postgres instead of mysql", "use mysql instead of postgres"],
        [
            "the staging database is backed up nightly",
            "the production database is backed up nightly",
        ],
        ["Der Vertrag gilt bis 2027", "Der Vertrag gilt nicht bis 2027"],
        ["the budget is 4,000 euros", "the budget is 40,000 euros"],
        ["logs are in /var/log/app", "logs are in /var/log/api"],
        ["La clé est dans le coffre", "La clé n'est pas dans le coffre"],
        ["backups run before the deploy", "backups run after the deploy"],
        ["テストは毎晩走る", "テストは毎朝走る"],
    ] {
        assert!(!are_duplicates(first, second), "{first} / {second}");
    }
}

#[test]
fn the_record_that_says_more_stays_and_of_two_equal_ones_the_older() {
    let found = archived(&learnings(&[
        "Anna owns billing",
        "x y z",
        "Anna owns billing and invoices",
    ]));
    assert_eq!(found, [("KL-1".to_owned(), Some("KL-3".to_owned()))]);
    let found = archived(&learnings(&["tests are slow", "tests are slow"]));
    assert_eq!(found, [("KL-2".to_owned(), Some("KL-1".to_owned()))]);
}

#[test]
fn pinned_records_and_those_that_outlive_the_other_stay() {
    let pinned = "# Key Learnings\n- KL-1 tests are slow\n- KL-2 [pinned] tests are slow\n";
    assert_eq!(archived(pinned), [("KL-1".to_owned(), Some("KL-2".to_owned()))]);
    let both = "# Key Learnings\n- KL-1 [pinned] tests are slow\n- KL-2 [pinned] tests are slow\n";
    assert_eq!(archived(both), []);
    let sooner = "# Key Learnings\n- KL-1 [until 2027-01-01] tests are slow\n- KL-2 tests are slow\n";
    assert_eq!(archived(sooner), [("KL-1".to_owned(), Some("KL-2".to_owned()))]);
}

#[test]
fn what_has_expired_and_what_a_newer_decision_supersedes_goes() {
    let document = "# Key Learnings\n- KL-1 [until 2026-11-24] a\n- KL-2 [until 2026-11-25] b\n- KL-3 c\n\n\
                    # Decisions\n- D-3 because D-1 is superseded: we use Redis\n- D-2 D-1 stays as it is\n- D-1 we use Postgres\n";
    assert_eq!(
        archived(document),
        [
            ("KL-1".to_owned(), None),
            ("D-1".to_owned(), Some("D-3".to_owned()))
        ]
    );
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

#[test]
fn a_ground_that_does_not_hold_is_named() {
    let document = learnings(&["port 8080", "port 8081", "port 8080"]);
    let all = records(&document);
    let id = |text: &str| text.parse().unwrap();
    let checked = |ground, kept: Option<usize>| check(&all[0], ground, kept.map(|at| &all[at]));
    assert_eq!(checked(Ground::DuplicateOf(id("KL-3")), Some(2)), Ok(()));
    let fault = checked(Ground::DuplicateOf(id("KL-2")), Some(1)).unwrap_err();
    assert_eq!(
        fault,
        "KL-2 does not say all that KL-1 says: `8080` is missing in it."
    );
    assert!(
        checked(Ground::DuplicateOf(id("KL-9")), None)
            .unwrap_err()
            .contains("KL-9 is no active record")
    );
    assert!(checked(Ground::DuplicateOf(id("KL-1")), Some(0)).is_err());
    assert!(checked(Ground::SupersededBy(id("KL-2")), Some(1)).is_err());
    assert!(checked(Ground::Expired, None).unwrap_err().contains("has no end"));
}
