//! German participles and imperatives.

use super::super::listed::{Listed, split};

static IDLE: Listed = Listed::new(|| {
    split(
        " verkauft verdient versteht erinnert erzählt berichtet bestätigt behauptet bewegt benutzt benötigt erfordert erlaubt erlebt erscheint erkältet entspricht enthält verhindert versichert verwirrt berechtigt beliebt gedacht gewesen geworden gehört gesehen gewartet gesagt gefragt gemeint geglaubt gehofft gewollt gewünscht geplant gedauert gefallen gegeben gelesen geschaut \
    geht gibt genau gern gerne gerade gegen gesamt gestern genug gesund gering gemeinsam gefunden passiert interessiert funktioniert existiert genervt verschoben beginnt bekommt \
    besteht verträgt erwartet bekannt verboten erlaubt bevorzugt vermutet versucht verloren vergessen verstanden erhalten beachtet entschieden beschlossen notiert gut bereit gesetzt gezogen geeignet \
    abgestürzt ausgefallen aufgefallen abgesagt fehlgeschlagen umgezogen umgestellt zugenommen angenommen betrifft entsteht erreicht verlangt bedeutet gehängt geändert-von gewechselt gestiegen gesunken erhöht operiert geboren ",
    )
});
const PREFIXES: [&str; 31] = [
    "raus", "rein", "hoch", "runter", "fertig", "fort", "durch", "hin", "los", "ge", "ein", "aus", "auf",
    "ab", "an", "um", "vor", "zu", "zurück", "nach", "be", "ver", "er", "ent", "über", "zer", "mit", "weg",
    "fest", "frei", "unter",
];
static IMPERATIVES: Listed = Listed::new(|| {
    split(
        " mach mache schick schicke sende bestell bestelle buche buch prüfe prüf ändere änder lösche lösch schreib schreibe baue bau füge trag trage richte ruf rufe kauf kaufe sag sage such suche teste test \
    korrigiere korrigier aktualisiere ergänze sortiere fasse plane vergleiche rechne drucke nimm stell stelle setz setze entferne erstelle übersetze hol hole sammle summiere frag frage warte starte ",
    )
});

/// Participles without a regular ending.
static STRONG: Listed = Listed::new(|| {
    split(
        "überwiesen verschoben unterschrieben übernommen bekommen erhalten besprochen vergeben verglichen beschrieben verladen entnommen bestiegen \
        erworben entworfen versandt gesandt",
    )
});

pub(super) fn is_done(word: &str) -> bool {
    if STRONG.has(word) {
        return true;
    }
    if word.chars().count() < 5 || IDLE.has(word) {
        return false;
    }
    let participle = word.ends_with("iert")
        || ((word.ends_with('t') || word.ends_with("en")) && (word.starts_with("ge") || infix(word)))
        || ((word.ends_with("stellt")
            || word.ends_with("setzt")
            || word.ends_with("bessert")
            || word.ends_with("schickt")
            || word.ends_with("fasst"))
            && PREFIXES.iter().any(|prefix| word.starts_with(prefix)));
    let bound = word.ends_with('t')
        && word.len() >= 8
        && ["ver", "be", "er", "ent"]
            .iter()
            .any(|begin| word.starts_with(begin));
    (participle || bound) && !word.ends_with("igen") && !word.ends_with("ungen")
}

/// `ein-ge-tragen`: a prefix before the `ge` of the participle.
fn infix(word: &str) -> bool {
    PREFIXES.iter().filter(|prefix| **prefix != "ge").any(|prefix| {
        word.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with("ge") && rest.len() > 5)
    })
}

pub(super) fn is_imperative(word: &str) -> bool {
    IMPERATIVES.has(word)
}
