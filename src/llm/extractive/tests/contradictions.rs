//! Contradictions without an explicit cue, and similar sentences that contradict nothing.

use super::{message, source};
use crate::domain::operation::Role;
use crate::llm::extractive::answer;

/// Numbers, from 1, of the records that are archived.
pub(super) fn archived(records: &[&str], messages: &[(&str, &str)]) -> Vec<usize> {
    archived_in("Notes", records, messages)
}

/// As [`archived`], in a session with this task.
fn archived_in(task: &str, records: &[&str], messages: &[(&str, &str)]) -> Vec<usize> {
    let mut document = String::from("# Key Learnings\n");
    for (at, record) in records.iter().enumerate() {
        document.push_str(&format!(
            "- KL-{} [2026-11-21T02:00:00Z] because x: {record}\n",
            at + 1
        ));
    }
    let messages = messages.iter().map(|(role, text)| message(role, text)).collect();
    let text = answer(Role::Learnings, &source(task, messages, &document));
    let archives = text.lines().skip_while(|line| *line != "  ARCHIVE:").skip(1);
    let number = |line: &str| line.trim().strip_prefix("- KL-")?.split(' ').next()?.parse().ok();
    archives.filter_map(number).collect()
}

/// Checks pairs of a record and a user sentence that archives it.
pub(super) fn leaves(pairs: &[(&str, &str)]) {
    let left = pairs
        .iter()
        .filter(|(record, text)| archived(&[record], &[("user", text)]) != [1]);
    assert_eq!(left.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}

/// Checks pairs of a record and a user sentence that does not archive it.
pub(super) fn stays(pairs: &[(&str, &str)]) {
    let outdated_records = pairs
        .iter()
        .filter(|(record, text)| !archived(&[record], &[("user", text)]).is_empty());
    assert_eq!(outdated_records.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}

#[test]
fn the_opposite_state_of_the_same_thing() {
    leaves(&[
        (
            "dock 5 is out of service",
            "Dock 5 is back in service since Monday.",
        ),
        (
            "the east gate is closed for lorries",
            "The east gate is open again.",
        ),
        (
            "Deploys from laptops are allowed",
            "Deploys from laptops are forbidden now.",
        ),
        ("Aufzug 2 ist außer Betrieb", "Aufzug 2 läuft wieder."),
        (
            "Hunde sind im Lager verboten",
            "Hunde sind im Lager jetzt erlaubt.",
        ),
        (
            "le parking du personnel est fermé",
            "Le parking du personnel est de nouveau ouvert.",
        ),
        ("la sala norte está cerrada", "La sala norte ya está abierta."),
        ("第2倉庫は閉鎖", "第2倉庫は今日から再開しました。"),
    ]);
    stays(&[
        (
            "dock 5 is out of service",
            "Dock 6 is back in service since Monday.",
        ),
        ("dock 5 is out of service", "Is dock 5 back in service?"),
        (
            "dock 5 is out of service",
            "If dock 5 is back in service, plan with eight.",
        ),
        ("dock 5 is out of service", "Maybe dock 5 is back in service."),
        ("dock 5 is out of service", "Dock 5 is still out of service."),
        ("dock 5 is out of service", "Dock 5 is not back in service."),
        (
            "the sauna café is closed on rainy afternoons",
            "The sauna is open.",
        ),
        ("the east gate is open", "The east gate is closed until noon."),
        (
            "Deploys to staging are allowed",
            "Deploys to production are forbidden.",
        ),
        ("Aufzug 2 ist außer Betrieb", "Aufzug 3 läuft wieder."),
        (
            "le parking du personnel est fermé",
            "Le parking des visiteurs est ouvert.",
        ),
        ("la sala norte está cerrada", "La sala sur está abierta."),
    ]);
}

#[test]
fn another_value_of_the_same_kind() {
    leaves(&[
        (
            "the rye dough gets 82 % water",
            "82 % water was soup, I'm staying at 76 %.",
        ),
        (
            "the request timeout is 30 s",
            "The request timeout is 45 seconds.",
        ),
        (
            "the fee of the club is 40 euros",
            "The fee of the club is now €48.",
        ),
        (
            "the invoice mailer runs on Tuesdays",
            "The invoice mailer runs on Thursdays now.",
        ),
        (
            "der Beitrag für Kinder beträgt 24 Euro",
            "Der Beitrag für Kinder sind ab Januar 30 Euro.",
        ),
        (
            "cada jugador tiene cinco cartas en mano",
            "Con cinco cartas se hace eterno, lo dejamos en cuatro.",
        ),
        (
            "le budget du mariage est de 9000 euros",
            "Le budget du mariage passe à 11000 euros.",
        ),
        ("予算は2万円", "予算は3万5千円に増えました。"),
    ]);
    stays(&[
        ("the request timeout is 30 s", "The pool timeout is 45 seconds."),
        (
            "the request timeout is 30 s",
            "Would 45 seconds be better as request timeout?",
        ),
        (
            "the request timeout is 30 s",
            "On production the request timeout could be 45 seconds.",
        ),
        (
            "on staging the request timeout is 30 s",
            "On production the request timeout is 45 s now.",
        ),
        (
            "the request timeout is 30 s",
            "The request timeout is 30 seconds.",
        ),
        ("billing listens on port 8103", "Billing sits at 38 now."),
        (
            "parking for staff costs 5 euros a day",
            "Parking for visitors costs 6 euros a day now.",
        ),
        ("nobody deploys on Fridays", "We deploy on Monday now."),
        (
            "Anna takes 5 mg of ramipril",
            "Ben takes 10 mg of atorvastatin now.",
        ),
        (
            "der Beitrag für Kinder beträgt 24 Euro",
            "Der Beitrag für Erwachsene sind ab Januar 60 Euro.",
        ),
        ("予算は2万円", "参加費は5千円になりました。"),
    ]);
}

#[test]
fn another_name_and_what_is_refuted() {
    leaves(&[
        ("Mum lives in Birkenweg 3", "Mum moved, she is in Haus Abendrot."),
        (
            "das Vereinskonto ist bei der Sparkasse",
            "Das Vereinskonto läuft jetzt bei der Volksbank.",
        ),
        (
            "the panel tests are run with Jest",
            "Jest is uninstalled, the panel tests use Vitest.",
        ),
        (
            "the crash comes from worn-out SD cards",
            "It has nothing to do with the SD cards.",
        ),
        (
            "climbing drains the stamina bar",
            "Decision: no stamina bar for climbing.",
        ),
        (
            "Dad has no drug allergies, the hives after amoxicillin came from washing powder",
            "He had hives after the amoxicillin, turns out it is an allergy.",
        ),
    ]);
    stays(&[
        (
            "notes are stored in one file per notebook",
            "The court moved the filing date.",
        ),
        (
            "das Vereinskonto ist bei der Sparkasse",
            "Der Kredit läuft jetzt bei der Volksbank.",
        ),
        (
            "SD cards are bought from Farrow",
            "It has nothing to do with the SD cards.",
        ),
        (
            "the crash comes from worn-out SD cards",
            "The SD cards have nothing to do with the slow start of the viewer.",
        ),
        (
            "there is no stamina bar for climbing",
            "Decision: no stamina bar for climbing.",
        ),
    ]);
}

#[test]
fn what_a_tool_shows_counts_when_the_assistant_tells_it() {
    let records = [
        "last collection for Leeds is 17:30",
        "last collection for Hull is 16:00",
    ];
    let shown = ("tool", "LEEDS,18:15\nHULL,16:00");
    let confirmed = (
        "assistant",
        "Leeds is collected at 18:15 in there; Hull stays where it was.",
    );
    assert_eq!(archived(&records, &[("user", "Look."), shown, confirmed]), [1]);
    // Without the tool only the assistant claims it, and a tool output alone claims nothing.
    assert_eq!(archived(&records, &[("user", "Look."), confirmed]), [0; 0]);
    assert_eq!(archived(&records, &[("user", "Look."), shown]), [0; 0]);
    let denied = ("user", "No, that's wrong, it is the timetable of last year.");
    assert_eq!(
        archived(&records, &[("user", "Look."), shown, confirmed, denied]),
        [0; 0]
    );
}

#[test]
fn what_replaces_a_record_is_kept() {
    let document =
        "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because x: the API takes 60 requests a minute\n";
    let messages = vec![
        message("user", "Why do we get 429?"),
        message("tool", "X-RateLimit-Limit: 30"),
        message("assistant", "The header says 30 requests a minute."),
    ];
    let text = answer(Role::Learnings, &source("Fix the collector", messages, document));
    assert!(
        text.contains("30 requests") && text.contains("KL-1 because"),
        "{text}"
    );
}

#[test]
fn what_is_over_lies_elsewhere_or_has_another_amount() {
    leaves(&[
        (
            "the caravan is parked at Kellner's farm",
            "We sold the caravan in March.",
        ),
        (
            "the spare key hangs by the back door",
            "The spare key hangs under the flower pot now.",
        ),
        (
            "choir rehearsal is on Tuesdays at 19:30",
            "The choir rehearsal starts at 20:00.",
        ),
        ("Paul eats fish", "Paul doesn't eat fish."),
        ("the roster is kept by Jonas", "Marta took over the roster."),
        (
            "invoices go out as iso.20022.02",
            "The bank only takes iso.20022.08.",
        ),
        (
            "Grandma takes 10 mg of Lisinopril",
            "They halved Grandma's Lisinopril.",
        ),
        (
            "the library closes at 17:00",
            "The library has new hours. It closes at 19:00 now.",
        ),
        (
            "das Boot liegt in Kappeln",
            "Das Boot haben wir im März verkauft.",
        ),
        (
            "le club paie 40 euros au Foyer Rural",
            "Le Foyer Rural a fait faillite.",
        ),
        (
            "la lavadora se repara en Talleres Soto",
            "Talleres Soto cierra, se jubilan.",
        ),
        ("祖母の薬は10mg、朝一錠", "祖母の薬が5mgに減りました。"),
        ("車は東駐車場にある", "車を売りました。"),
    ]);
    stays(&[
        (
            "the spare key is in the shed",
            "The spare key of the van is in the office.",
        ),
        ("Paul eats fish", "Paul doesn't eat fish on Mondays."),
        ("the gym bag is in the hall", "We cancelled the gym membership."),
        (
            "the mill delivers on Mondays",
            "This week the mill delivers on Friday.",
        ),
        ("the choir meets at 19:30", "On 12 May the choir meets at 18:00."),
        ("the roster is kept by Jonas", "Jonas took over the bar."),
        (
            "refunds are paid within 14 days",
            "My sister says refunds are paid within 30 days.",
        ),
        (
            "stay on Godot 4.2.2 until the release",
            "We stay at Casa Alegre, not at the Riviera.",
        ),
        (
            "Talleres Soto repara la lavadora",
            "Talleres Soto cierra a las 19:00.",
        ),
        (
            "staging runs in eu-west-2",
            "The other three boards run 1.9.0 now.",
        ),
    ]);
}

#[test]
fn what_a_session_is_about_is_no_claim_of_it() {
    let pairs = [
        ("消費税の端数は切り捨て", "請求書の消費税が1円ずれる不具合"),
        (
            "the import keeps amounts in cents",
            "The import keeps amounts in euros",
        ),
        ("Aufzug 2 ist außer Betrieb", "Aufzug 2 läuft wieder"),
    ];
    for (record, task) in pairs {
        let none = archived_in(task, &[record], &[("user", "Please have a look at it.")]);
        assert_eq!(none, [0; 0], "{task}");
    }
    // Without messages the task is a claim.
    assert_eq!(
        archived_in("Aufzug 2 läuft wieder", &["Aufzug 2 ist außer Betrieb"], &[]),
        [1]
    );
}
