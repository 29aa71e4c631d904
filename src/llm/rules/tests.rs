//! What the rules hear and what they do not, for each kind of marker in each language.

use super::*;
use Place::{Archived, Completed, InProgress, Learning, Remaining, Snippet};

const MEMORY: &str = "# Key Learnings\n- KL-2 because it was so: the lab has one door\n\
    - KL-3 because it was so: the lab closes at five\n# Verbatim Context\n- VC-1 because it is run: build => make\n";

/// Where a sentence is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Learning,
    Completed,
    InProgress,
    Remaining,
    Archived,
    Snippet,
}

fn said(speaker: &str, text: &str) -> Vec<(Place, String)> {
    let message = ConversationMessage {
        role: speaker.to_owned(),
        content: text.to_owned(),
    };
    let operations = operations(MEMORY, "", &[message]);
    let of = |operation| match operation {
        Operation::Add(added) => match added.label {
            None => vec![(Learning, added.content)],
            Some(_) => vec![(Snippet, added.content)],
        },
        Operation::Archive { id, .. } => vec![(Archived, id.to_string())],
        Operation::Mark { .. } => panic!("the rules mark nothing"),
        Operation::RewriteProgress(progress) => {
            let lists = [
                (Completed, progress.completed),
                (InProgress, progress.in_progress),
                (Remaining, progress.remaining),
            ];
            let of_list =
                |(place, list): (Place, Vec<String>)| list.into_iter().map(move |text| (place, text));
            lists.into_iter().flat_map(of_list).collect()
        }
    };
    operations.into_iter().flat_map(of).collect()
}

/// Each accepted sentence, what is kept of it, and a sentence that is not heard: a guess, a question, a condition, hearsay or a
/// denial of the same. One of each in five languages.
fn pairs(place: Place, table: &str) {
    assert_eq!(table.trim().lines().count(), 5);
    for row in table.trim().lines() {
        let row: Vec<_> = row.trim().split(" | ").collect();
        let [accepted, kept, rejected] = row[..] else {
            panic!("{row:?}");
        };
        assert_eq!(said("user", accepted), [(place, kept.to_owned())], "{accepted}");
        assert_eq!(said("user", rejected), [], "{rejected}");
        assert_eq!(said("tool", accepted), [], "tools are not heard: {accepted}");
    }
}

#[test]
fn what_is_to_be_kept_is_kept_from_its_first_word_on() {
    for (text, kept) in [
        (
            "Remember: right turns are forbidden at the gate.",
            "Right turns are forbidden at the gate",
        ),
        ("Merke dir: gut ist die Note zwei.", "Gut ist die Note zwei"),
        ("Remember that, ok, the port is 80.", "The port is 80"),
        ("Done: good passwords everywhere.", "Good passwords everywhere"),
    ] {
        let said = said("user", text);
        assert_eq!(
            said.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            [kept],
            "{text}"
        );
    }
}

#[test]
fn requests_to_remember() {
    pairs(
        Learning,
        "
        Remember that the lab opens at six. | The lab opens at six | Perhaps remember that the lab opens at six.
        Merk dir: der Tierarzt heißt Kranz. | Der Tierarzt heißt Kranz | Vielleicht: merk dir, der Tierarzt heißt Kranz.
        Souviens-toi que le labo ouvre à six heures. | Le labo ouvre à six heures | Je crois, souviens-toi que le labo ouvre à six heures.
        Recuerda que el laboratorio abre a las seis. | El laboratorio abre a las seis | Tal vez, recuerda que el laboratorio abre a las seis.
        会議室は六階だと覚えておいてください。 | 会議室は六階だと覚えておいてください | たぶん会議室は六階だと覚えておいてください。",
    );
    assert_eq!(said("assistant", "Remember that the lab opens at six."), []);
}

#[test]
fn rules() {
    pairs(
        Learning,
        "
        Never deploy on Fridays. | Never deploy on Fridays | Should we never deploy on Fridays?
        Nie am Freitag ausrollen. | Nie am Freitag ausrollen | Der Chef sagt, nie am Freitag ausrollen.
        Toujours compiler avec make. | Toujours compiler avec make | Toujours compiler avec make ?
        Nunca desplegar los viernes. | Nunca desplegar los viernes | Supongo, nunca desplegar los viernes.
        必ずmakeでビルドしてください。 | 必ずmakeでビルドしてください | 必ずmakeでビルドすると思います。",
    );
    assert_eq!(said("assistant", "Never deploy on Fridays."), []);
}

#[test]
fn decisions() {
    pairs(
        Learning,
        "
        Decision: the queue runs on Postgres. | The queue runs on Postgres | Decision: the queue runs on Postgres if it grows.
        Entscheidung: die Warteschlange liegt in Postgres. | Die Warteschlange liegt in Postgres | Entscheidung: vielleicht liegt die Warteschlange in Postgres.
        Décision : la file tourne sur Postgres. | La file tourne sur Postgres | Décision : la file tourne peut-être sur Postgres.
        Decisión: la cola usa Postgres. | La cola usa Postgres | Decisión: quizás la cola usa Postgres.
        キューはPostgresを採用します。 | キューはPostgresを採用します | キューはPostgresを採用しますか。",
    );
}

#[test]
fn findings() {
    pairs(
        Learning,
        "
        Root cause: the cache keeps stale rows. | The cache keeps stale rows | Root cause: the cache probably keeps stale rows.
        Ursache: der Cache hält alte Zeilen. | Der Cache hält alte Zeilen | Ursache: vermutlich hält der Cache alte Zeilen.
        Cause : le cache garde de vieilles lignes. | Le cache garde de vieilles lignes | Cause : le cache garde peut-être de vieilles lignes.
        Causa: la caché guarda filas viejas. | La caché guarda filas viejas | Causa: creo que la caché guarda filas viejas.
        原因：キャッシュが古い行を返します。 | キャッシュが古い行を返します | 原因：キャッシュが古いのかもしれません。",
    );
}

#[test]
fn finished_work() {
    pairs(
        Completed,
        "
        Fixed the invoice parser. | Fixed the invoice parser | Almost fixed the invoice parser.
        Ich habe den Rechnungsparser repariert. | Ich habe den Rechnungsparser repariert | Ich habe den Rechnungsparser fast repariert.
        J'ai corrigé le lecteur de factures. | Corrigé le lecteur de factures | J'ai presque corrigé le lecteur de factures.
        He corregido el lector de facturas. | Corregido el lector de facturas | Casi he corregido el lector de facturas.
        請求書のパーサーを修正しました。 | 請求書のパーサーを修正しました | 請求書のパーサーを修正しましたか。",
    );
    assert_eq!(said("assistant", "Fixed the invoice parser.")[0].0, Completed);
}

#[test]
fn work_in_progress() {
    pairs(
        InProgress,
        "
        I'm working on the invoice parser. | I'm working on the invoice parser | If time allows, I'm working on the invoice parser.
        Ich arbeite an dem Rechnungsparser. | Ich arbeite an dem Rechnungsparser | Vielleicht: ich arbeite an dem Rechnungsparser.
        Je travaille sur le lecteur de factures. | Je travaille sur le lecteur de factures | Peut-être, je travaille sur le lecteur de factures.
        Estoy trabajando en el lector de facturas. | Estoy trabajando en el lector de facturas | Supongo, estoy trabajando en el lector de facturas.
        請求書のパーサーに取り組んでいます。 | 請求書のパーサーに取り組んでいます | 請求書のパーサーに取り組んでいますか。",
    );
}

#[test]
fn work_that_is_left() {
    pairs(
        Remaining,
        "
        Next: test the invoice parser. | Test the invoice parser | Perhaps, next: test the invoice parser.
        Als Nächstes: den Rechnungsparser testen. | Den Rechnungsparser testen | Vielleicht, als Nächstes: den Rechnungsparser testen.
        Prochaine étape : tester le lecteur de factures. | Tester le lecteur de factures | Peut-être, prochaine étape : tester le lecteur de factures.
        Siguiente paso: probar el lector de facturas. | Probar el lector de facturas | Quizás, siguiente paso: probar el lector de facturas.
        次：請求書のパーサーをテストする。 | 請求書のパーサーをテストする | たぶん、次：請求書のパーサーをテストする。",
    );
    let boxes = "- [x] wrote the invoice parser\n- [x] lexer\n- [ ] test the renderer well";
    let kept = [
        (Completed, "Wrote the invoice parser"),
        (Completed, "Lexer"),
        (Remaining, "Test the renderer well"),
    ];
    let kept = kept.map(|(place, text)| (place, text.to_owned()));
    assert_eq!(said("assistant", boxes), kept);
}

#[test]
fn corrections_of_a_record() {
    pairs(
        Archived,
        "
        KL-3 is outdated. | KL-3 | Maybe KL-3 is outdated.
        KL-3 ist veraltet. | KL-3 | Wenn KL-3 veraltet ist, sag es.
        KL-3 est obsolète. | KL-3 | Si KL-3 est obsolète, dis-le.
        KL-3 está obsoleto. | KL-3 | Creo que KL-3 está obsoleto.
        KL-3は無効です。 | KL-3 | KL-3は無効ですか。",
    );
    assert_eq!(said("user", "KL-4 is outdated."), [], "there is no KL-4");
    let still_holds = said("user", "I was wrong: KL-3 still holds.");
    assert_eq!(still_holds, [], "it is not called wrong");
    let archived = [(Archived, "KL-3".to_owned())];
    for named_behind in ["Please delete KL-3.", "No longer true: KL-3."] {
        assert_eq!(said("user", named_behind), archived, "{named_behind}");
    }
}

#[test]
fn a_correction_says_nothing_but_what_is_wrong_and_what_holds_instead() {
    for sentence in "
        Everything but KL-2 is outdated: only that stays.
        Apart from KL-3 everything is wrong.
        Alles außer KL-2 ist veraltet.
        Tout sauf KL-2 est obsolète.
        Todo menos KL-2 está obsoleto.
        Todo excepto KL-3 es falso.
        KL-2以外は古いです。
        Either KL-2 or KL-3 is wrong.
        KL-2 or KL-3 is wrong.
        KL-2/KL-3 is wrong.
        Entweder KL-2 oder KL-3 ist falsch.
        Soit KL-2 soit KL-3 est faux.
        O KL-2 o KL-3 es falso.
        The test of KL-3 is outdated: rewrite it.
        The date of KL-2 is wrong.
        Der Test zu KL-2 ist veraltet: neu schreiben.
        KL-2のテストは古いです。
        KL-2 is outdated only for trial customers.
        KL-2 is outdated, at least for trial customers.
        In staging, KL-2 is wrong.
        In staging, note that KL-2 is wrong.
        KL-2 is outdated soon.
        Delete KL-2 tomorrow.
        The claim that KL-3 is wrong is wrong.
        Some say KL-3 is outdated.
        Drop KL-2 into the chat please.
        Forget KL-2 for a moment, look at KL-3.
        Delete KL-2 and keep KL-3.
        KL-2 is wrong and KL-3 is fine.
        That was wrong, the record is KL-3."
        .trim()
        .lines()
    {
        assert_eq!(said("user", sentence.trim()), [], "{sentence}");
    }
    let to_do = said("user", "- [ ] Delete KL-3");
    assert_eq!(
        to_do,
        [(Remaining, "Delete KL-3".to_owned())],
        "it is not said to be done"
    );
    for row in "
        KL-2 and KL-3 are outdated: the limit is 50. | The limit is 50 | KL-2 | KL-3
        KL-2, KL-3 are no longer true. | KL-2 | KL-3
        Both KL-2 and KL-3 are obsolete now because the lab moved. | KL-2 | KL-3
        KL-2は無効です：輸出の上限は50行になりました。 | 輸出の上限は50行になりました | KL-2
        KL-2とKL-3は古いです：輸出の上限は50行です。 | 輸出の上限は50行です | KL-2 | KL-3
        KL-2を削除してください。 | KL-2
        Der Eintrag KL-2 ist falsch – das Labor hat zwei Türen. | Das Labor hat zwei Türen | KL-2
        Korrektur zu KL-2: das Labor hat zwei Türen. | Das Labor hat zwei Türen | KL-2
        L'entrée KL-2 est obsolète : le labo a deux portes. | Le labo a deux portes | KL-2
        La entrada KL-2 es falsa, porque hay dos puertas. | KL-2
        VC-1 is outdated - run make all. | Run make all | VC-1
        Please note that KL-2 is outdated then. | KL-2
        KL-2 is out of date too: the lab has two doors. | The lab has two doors | KL-2
        \"the lab has one door\" is no longer true: the lab has two. | The lab has two | KL-2
        KL-2 is outdated, please delete it. | KL-2
        The learning KL-2 is wrong: it should be assigned to Bob. | KL-2
        KL-2 is outdated: please ignore it. | KL-2
        KL-2 ist veraltet: bitte löschen. | KL-2"
        .trim()
        .lines()
    {
        let row: Vec<&str> = row.trim().split(" | ").collect();
        let said = said("user", row[0]);
        let said: Vec<&str> = said.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(said, row[1..], "{}", row[0]);
    }
}

#[test]
fn requests_to_keep_a_text_exactly() {
    let table = "
        Keep this command exactly as it is: | Do not keep this command exactly as it is:
        Bitte wortwörtlich aufheben: | Bitte nicht wortwörtlich aufheben:
        Garde cette commande : | Ne garde pas cette commande :
        Guarda este comando: | No guardes este comando:
        このコマンドを保存して。 | このコマンドを保存しないで。";
    for row in table.trim().lines() {
        let (accepted, rejected) = row.trim().split_once(" | ").expect("two columns");
        let with = |sentence: &str| format!("{sentence}\n```sh\nmake  test\n```\n");
        let kept = [(Snippet, "make  test".to_owned())];
        assert_eq!(said("user", &with(accepted)), kept, "{accepted}");
        assert_eq!(said("user", &with(rejected)), [], "{rejected}");
        let by_another = said("assistant", &with(accepted));
        assert_eq!(by_another, [], "only the user asks: {accepted}");
    }
}

#[test]
fn what_only_looks_like_a_statement_is_not_heard() {
    for sentence in "
        Make sure the login is fixed.
        Please check that the login is fixed.
        I hope the parser is fixed.
        The goal is that the migration is complete.
        Vérifie que le parseur est terminé.
        Asegúrate de que el hotel está reservado.
        Stell sicher: der Parser ist fertig.
        Ich habe den Parser nicht repariert.
        Wir haben die Tests noch nicht geschrieben.
        Ich habe keine Tests geschrieben.
        Ich habe das nie implementiert.
        Wir haben uns nicht für Parquet entschieden.
        Wir haben uns auf nichts geeinigt.
        TypeError: argument must not be null
        ERROR [main] key must not be empty
        psycopg2.errors.NotNullViolation: value must never be null
        thread 'main' panicked at 'index must always be positive'
        at foo (bar.js:10): must never be null
        Tool output: we decided to use Parquet
        Translate to German: We decided to use Parquet.
        For example, we decided to use Parquet.
        Example: never deploy on Friday.
        Do we always have to run the tests
        Why must we always run tests
        Can someone confirm we decided to use Parquet
        So we decided to use Parquet or not
        必須ですか
        Decision: none yet
        Decision: to be made
        Entscheidung: noch offen
        Root cause: still unknown.
        Root cause: I do not know.
        The root cause is still under investigation.
        Die Ursache ist unbekannt.
        La cause est inconnue.
        La causa es desconocida.
        原因は不明です。
        原因は調査中です。
        Next: nothing.
        TODO: none
        Nächster Schritt: keiner
        Reste à faire : rien
        Pendiente: nada
        In progress: nothing.
        Finished: 0 of 3 tests.
        Done: the lexer is not done.
        Fertig: der Lexer ist nicht fertig.
        - [x] Not started: parser
        I've tested the fix and it fails.
        必ずしもそうではない
        今後は分かりません
        Wir nehmen an, dass es geht.
        Immer das Gleiche.
        Siempre lo mismo.
        Never say never."
        .trim()
        .lines()
    {
        assert_eq!(said("user", sentence.trim()), [], "{sentence}");
    }
    // What is close to them is.
    for (place, sentence) in [
        (Completed, "I've fixed the check that the parser makes."),
        (Learning, "Always make sure the tests are green."),
        (Learning, "Errors: never swallow them."),
    ] {
        assert_eq!(
            said("user", sentence).first().map(|(place, _)| *place),
            Some(place),
            "{sentence}"
        );
    }
}

#[test]
fn a_task_alone_is_work_in_progress_unless_it_reports_something() {
    let memory = "# Current Progress\n## In Progress\n- Wire the parser\n## Remaining\n- Test it well\n";
    for (memory, task, expected) in [
        (
            "",
            "Wired the parser. Next: benchmarks",
            ["Wired the parser", "", "Benchmarks"],
        ),
        (
            "",
            "Tried a cache. Next: measure it",
            ["", "Tried a cache", "Measure it"],
        ),
        (
            "",
            "wire the parser\nwith many details",
            ["", "Wire the parser", ""],
        ),
        (
            memory,
            "Done: wire the parser",
            ["Wire the parser", "", "Test it well"],
        ),
    ] {
        let Some(Operation::RewriteProgress(progress)) = operations(memory, task, &[]).pop() else {
            panic!("{task}");
        };
        let lists = [progress.completed, progress.in_progress, progress.remaining];
        assert_eq!(lists.map(|list| list.join(", ")), expected, "{task}");
    }
    let again = operations(memory, "wire the parser", &[]);
    assert_eq!(again, [], "it is in progress already");
}

#[test]
fn a_session_that_says_endlessly_much_is_read_in_linear_time() {
    let times = |text: &str, bytes: usize| text.repeat(bytes / text.len());
    // Each of them took minutes at the size of a body when every place was searched from the start of its line.
    for text in [
        format!("Next: {}", times("a.", 500_000)),
        times("remember ", 200_000),
        times("from now on * we ", 100_000),
        times("\"the lab closes\" is no longer true.\n", 50_000),
        format!("Next: {}", times("\u{201c}", 100_000)),
    ] {
        for speaker in ["user", "assistant"] {
            assert!(said(speaker, &text).len() <= 1);
        }
    }
    let withdrawn = (0..20_000).map(|n| ConversationMessage {
        role: "user".to_owned(),
        content: ["Next: check the lamp.", "scratch that"][n % 2].to_owned(),
    });
    assert_eq!(operations("", "", &withdrawn.collect::<Vec<_>>()), []);
}

#[test]
fn of_endlessly_many_reports_the_last_count() {
    let text: String = (0..500)
        .map(|n| format!("Next: clean room w{n:04} now.\n"))
        .collect();
    let kept = said("assistant", &text);
    assert_eq!(kept.len(), 200);
    assert_eq!(kept[199].1, "Clean room w0499 now");
    let long = format!("Next: {}.", "clean the lamp ".repeat(200));
    assert_eq!(said("assistant", &long), []);
}

/// A rewriting by the lists would remove what else a person has written there.
#[test]
fn progress_with_more_than_its_lists_stays_as_it_is() {
    let message = ConversationMessage {
        role: "assistant".to_owned(),
        content: "Done: the lexer.".to_owned(),
    };
    let heard = |progress: &str| {
        let memory = format!("# Current Progress\n## In Progress\n- lexer\n{progress}");
        operations(&memory, "", std::slice::from_ref(&message)).len()
    };
    for wrapped in ["and more", "`more`", "2 more.  All."] {
        assert_eq!(
            heard(&format!("## Remaining\n- docs\n  {wrapped}\n")),
            1,
            "{wrapped}"
        );
    }
    for more in [
        "1. a step\n",
        "## Blocked\n- the API keys\n",
        "We wait for them.\n",
        "```\ncode\n```\n",
        "- fix:\n  1. run\n",
        "- fix:\n\n  ```sh\n  make\n  ```\n",
        "- run `make  all`\n",
    ] {
        assert_eq!(heard(more), 0, "{more}");
    }
}
