//! What is said not to be so, to have another cause or to be in other hands, and look-alikes.

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
    let said = "Tomasz is on-call lead for checkout now.";
    assert_eq!(archived(&records, &[("user", said)]), [1]);
}
