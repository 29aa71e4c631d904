//! Statements that deny something, give another cause or change a responsibility, and similar ones that do
//! not.

use super::contradictions::{archived, leaves, stays};

#[test]
fn what_is_said_not_to_be_so() {
    leaves(&[
        (
            "the boiler loses pressure through a leak under the bathroom floor",
            "Turns out it's not a leak under the bathroom floor at all.",
        ),
        (
            "packages are installed with npm ci",
            "Nobody runs npm ci in here any more.",
        ),
        (
            "der Ausfall kommt von der alten Netzkarte",
            "Es ist nicht die alte Netzkarte.",
        ),
        (
            "デプロイが戻されるのはタスクのメモリ不足が原因",
            "メモリ不足ではありません。",
        ),
        (
            "payments get lost where the bank leaves out EndToEndId",
            "You had it down as the bank leaving out EndToEndId, payments have it, so it can't be that.",
        ),
    ]);
    stays(&[
        (
            "the boiler loses pressure through a leak under the bathroom floor",
            "It's not the boiler of the neighbours.",
        ),
        (
            "the boiler loses pressure through a leak under the bathroom floor",
            "The leak is not big.",
        ),
        (
            "there is no leak under the bathroom floor",
            "It's not a leak under the bathroom floor.",
        ),
        (
            "the boiler loses pressure through a leak under the bathroom floor",
            "Is it not a leak under the bathroom floor?",
        ),
        ("packages are installed with npm ci", "I don't care any more."),
    ]);
}

#[test]
fn one_plain_word_of_a_contrast_may_stand_in_any_record() {
    leaves(&[
        ("we merge to main", "Merge it to develop, not main."),
        (
            "Le départ de la croisière se fait de Brest",
            "On part finalement de Lorient et non de Brest.",
        ),
    ]);
    stays(&[
        (
            "The conference takes place in the Corn Exchange, main hall, 180 seats.",
            "Merge it to develop, not main, we release from main only on Thursdays.",
        ),
        (
            "because a cousin told it: Anna's maiden name was Petersen",
            "In letters call me Ms Abara please, not by first name.",
        ),
    ]);
}

#[test]
fn another_cause_of_the_same_thing() {
    leaves(&[(
        "The 502s on checkout come from long GC pauses",
        "Turned out the 502s on checkout happen because Node closes idle connections.",
    )]);
    stays(&[
        (
            "The 502s on checkout come from long GC pauses",
            "Turned out the login timeouts happen because of a stale link.",
        ),
        (
            "The 502s on checkout come from long GC pauses",
            "Turned out the 502s on checkout are caused by the GC of one pod.",
        ),
        (
            "The 502s on checkout come from long GC pauses",
            "Maybe the 502s on checkout happen because Node closes idle connections.",
        ),
    ]);
}

#[test]
fn other_hands() {
    leaves(&[
        (
            "Ana is on-call lead for checkout",
            "Tomasz is on-call lead for checkout now.",
        ),
        (
            "la gestionnaire du dossier est Mme Vasseur",
            "Mme Vasseur est en congé, c'est M. Okafor qui reprend le dossier.",
        ),
        ("flour comes from Holloway Mill", "Holloway closed in June!"),
    ]);
    stays(&[
        (
            "Ilse is on-call lead for search",
            "Tomasz is on-call lead for checkout now.",
        ),
        ("flour comes from Holloway Mill", "The till closed in June."),
    ]);
    let records = [
        "Ana is on-call lead for checkout",
        "Ilse is on-call lead for search",
    ];
    let text = "Tomasz is on-call lead for checkout now.";
    assert_eq!(archived(&records, &[("user", text)]), [1]);
}

#[test]
fn a_value_that_was_asked_about_or_will_not_do() {
    let records = [
        "秋期講習は18時に始まる。",
        "英語の補習は二階の教室で土曜10時から行う。",
    ];
    let session = [
        ("assistant", "承知しました。開始時刻は18時のままですか。"),
        ("user", "いえ、18時半からにします。"),
    ];
    assert_eq!(archived(&records, &session), [1]);
    let records = [
        "the glaze firing of the blue ends at 1220 °C",
        "the bisque firing goes up to 1000 °C",
    ];
    let session = [(
        "user",
        "She says 1220 is too hot for it, the frit is a different one from this year on. We go to 1205 with a hold of 15 minutes.",
    )];
    assert_eq!(archived(&records, &session), [1]);
}

#[test]
fn what_has_ended_or_was_given_up() {
    leaves(&[
        (
            "Arden Haulage drives the move",
            "Arden can't do October, so we cancelled them.",
        ),
        (
            "qPCR is normalised to GAPDH",
            "There is a new reference gene, so drop GAPDH.",
        ),
        (
            "Hintergrundaufträge laufen mit Celery und dem Redis-Broker",
            "Nein, Celery fliegt raus.",
        ),
        (
            "Die Reise geht von Berlin über Wien nach Budapest",
            "Wir lassen Budapest weg.",
        ),
        (
            "Le catalogue des tables est dans Hive Metastore",
            "Et on abandonne Hive pour le catalogue.",
        ),
        (
            "Les erreurs se lisent dans Sentry, projet relances",
            "On a quitté Sentry le mois dernier.",
        ),
        (
            "Le site des Combes fait partie du suivi",
            "Le site des Combes est fichu, le propriétaire l'a fauché.",
        ),
        (
            "La oficina nueva estará en la calle Pelayo 12",
            "El contrato de la calle Pelayo se cayó.",
        ),
    ]);
    stays(&[
        // One ordinary word may be in any record.
        (
            "Tickets are 25 pounds, 15 for members",
            "The member was thrown out.",
        ),
        (
            "Ear tags start with UK and 12 digits",
            "Pin the actions by commit instead of tags.",
        ),
        (
            "der Bezirksrat tagt am ersten Dienstag im Monat",
            "Ab nächster Woche proben wir mittwochs statt dienstags.",
        ),
        (
            "carer Denise comes Mondays and Thursdays",
            "We've got rid of the meeting on Mondays.",
        ),
        (
            "Refunds within 14 days of purchase",
            "Hive 3 had a mite drop of 14 a day.",
        ),
        (
            "Arden Haulage drives the move",
            "Arden can't do October, so maybe we cancel them.",
        ),
        (
            "Die Reise geht von Berlin über Wien nach Budapest",
            "Lassen wir Budapest weg?",
        ),
    ]);
}

#[test]
fn who_was_not_to_blame() {
    leaves(&[
        (
            "The 11 mA in deep sleep come from the CH340 USB bridge",
            "The meter still says 10.8 mA, so that bridge never was the culprit.",
        ),
        (
            "Die Verbindungsabbrüche nach 4 Sekunden kommen von der Antenne",
            "Dein Tipp mit der Antenne war's nicht.",
        ),
    ]);
    stays(&[
        (
            "Die Antenne ist mit 1,2 pF angepasst, gemessen bei 2,44 GHz",
            "Dein Tipp mit der Antenne war's nicht.",
        ),
        (
            "The 11 mA in deep sleep come from the CH340 USB bridge",
            "The display never was the culprit.",
        ),
    ]);
}

#[test]
fn a_denial_tells_of_the_same_thing_and_of_always() {
    leaves(&[
        (
            "En la oficina nueva cada persona tendrá su puesto fijo",
            "Al final los puestos no son fijos.",
        ),
        (
            "Samples are weighed before drying",
            "Samples are not weighed before drying any more.",
        ),
    ]);
    stays(&[
        (
            "Dad takes ramipril in the morning",
            "Dad didn't take ramipril this morning.",
        ),
        (
            "Samples are weighed before drying",
            "Samples are not only weighed before drying.",
        ),
        (
            "Samples are weighed before drying",
            "Not all samples are weighed before drying.",
        ),
        ("Samples are weighed before drying", "The scales are not here."),
    ]);
}

#[test]
fn what_takes_effect_from_a_day_and_what_is_left_of_several() {
    leaves(&[
        (
            "der Laborkurier holt die Proben um 11:15 Uhr",
            "Der Laborkurier steht ab 1. Juni schon um 10:20 Uhr in der Tür.",
        ),
        (
            "remise de 36 % sur les romans chez Dilibre",
            "Le commercial de Dilibre est passé : on aura 38 % sur les romans à partir du 1er novembre.",
        ),
        (
            "体験教室は土曜の10時と14時",
            "体験教室は14時の回に人が集まらないので、来月からは土曜の10時だけにします。",
        ),
        (
            "la almazara paga por rendimiento graso",
            "La almazara ha mandado carta; el rendimiento ya les da igual.",
        ),
    ]);
    stays(&[
        (
            "der Laborkurier holt die Proben um 11:15 Uhr",
            "Der Bäcker steht ab 1. Juni schon um 10:20 Uhr in der Tür.",
        ),
        (
            "体験教室は土曜の10時と14時",
            "体験教室は来月からも土曜の10時と14時だけです。",
        ),
        (
            "remise de 36 % sur les romans chez Dilibre",
            "Remise de 20 % sur les guides à partir du 1er novembre.",
        ),
    ]);
}

#[test]
fn what_the_assistant_reports_of_a_value_that_the_user_stated() {
    let record = ["the vat temperature is 25 degrees"];
    let user = ("user", "We have it at 28 degrees.");
    let reports = ("assistant", "I set the vat temperature to 28 degrees.");
    assert_eq!(archived(&record, &[user, reports]), [1]);
    let asks = ("assistant", "Shall I set the vat temperature to 28 degrees?");
    assert_eq!(archived(&record, &[user, asks]), [0; 0]);
    let of_another = (
        "assistant",
        "I set the room temperature to 28 degrees, and the vat is covered.",
    );
    assert_eq!(archived(&record, &[user, of_another]), [0; 0]);
}

#[test]
fn what_moved_or_has_another_amount() {
    leaves(&[
        (
            "The service runs on Heroku",
            "We moved the service to Fly last week.",
        ),
        ("The service runs on Heroku", "The service is on Fly now."),
        (
            "Invoices go to billing@acme.example",
            "Invoices go to accounts@acme.example from now on.",
        ),
        ("The budget is 12,000 euros", "The board cut the budget to 9,500."),
        ("Oma wohnt in Kassel", "Oma ist nach Göttingen gezogen."),
        (
            "Opa nimmt Marcumar",
            "Opa hat Marcumar abgesetzt, er bekommt jetzt Eliquis.",
        ),
        (
            "Le site est hébergé chez OVH",
            "On a migré le site chez Scaleway.",
        ),
        ("担当は田中さん", "担当が田中さんから鈴木さんに替わりました。"),
        (
            "予約システムのデータベースはMySQL 5.7で動いている",
            "MySQLのサーバーは電源を落としました。",
        ),
    ]);
    stays(&[
        (
            "The backup runs on Sundays",
            "We moved the backup to the new server.",
        ),
        ("The service runs on Heroku", "The shop is on Fly now."),
        ("The budget is 12,000 euros", "The board cut the queue to 9,500."),
        ("Oma wohnt in Kassel", "Tante Grete ist nach Göttingen gezogen."),
    ]);
}

#[test]
fn a_report_about_another_model_keeps_the_known_one() {
    stays(&[
        (
            "the ZT411 prints at 203 dpi",
            "The product labels go out on the new ZD621, which prints at 300 dpi.",
        ),
        (
            "the C200 laser cuts up to 8 mm",
            "The new C350 laser cuts up to 12 mm.",
        ),
        (
            "der MX12 druckt 20 Seiten in der Minute",
            "Der neue MX30 druckt 35 Seiten in der Minute.",
        ),
        ("la pompe P4 tient 6 bars", "La nouvelle pompe P7 tient 9 bars."),
        (
            "9号酵母は12度を超えると香りが落ちる",
            "7号酵母は15度でも香りが落ちません。",
        ),
        ("3番ホームは6両編成まで", "5番ホームは10両編成までになりました。"),
        (
            "the nightly revenue report reads from replica-2",
            "With the new index it takes 38 s now, tried on replica-1.",
        ),
        (
            "health certificates are uploaded 24 h before landing",
            "We changed the flight, it is landing on Thursday at 04:20.",
        ),
    ]);
    leaves(&[
        ("the ZT411 prints at 203 dpi", "The ZT411 prints at 300 dpi now."),
        (
            "labels are printed on the ZT411",
            "Labels are printed on the ZD621 now.",
        ),
        (
            "the nightly revenue report reads from replica-2",
            "The nightly revenue report reads from replica-1 now.",
        ),
        (
            "9号酵母は12度を超えると香りが落ちる",
            "9号酵母は14度を超えると香りが落ちることになりました。",
        ),
        (
            "the filter is changed after 24 h",
            "The filter is changed after 48 h now.",
        ),
    ]);
}
