//! Detects lines that are not written by the sender, and headings that give the state of the list below them.

use super::sentence::ListState;
use super::split::list_item;
use super::text::folded;

/// Lines not written by the sender: quotations, tables, commands, markup, logs, stack traces.
pub(super) fn is_foreign(line: &str) -> bool {
    line.starts_with(['>', '|', '$', '<', '＞'])
        || line.starts_with("+++ ")
        || line.starts_with("--- ")
        || line.starts_with("[tool call")
        || line.starts_with("[tool ")
        || line.starts_with("Traceback")
        || (line.starts_with("at ") && line.contains('(') && line.contains(':'))
        || is_log(line)
}

/// A log line: begins with a time, contains a level, or consists of `key=value`.
fn is_log(line: &str) -> bool {
    let first = line
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_matches(['[', ']']);
    let marks = first.bytes().filter(|b| matches!(b, b':' | b'-')).count();
    let digits = first.bytes().filter(u8::is_ascii_digit).count();
    let timed = marks >= 2 && digits >= 5 && digits + marks + 4 >= first.len();
    let level = [" ERROR ", " WARN ", " INFO ", " DEBUG ", " FATAL ", " TRACE "]
        .iter()
        .any(|level| line.contains(level));
    let begins = [
        "ERROR",
        "WARN",
        "INFO ",
        "DEBUG",
        "FATAL",
        "error:",
        "warning:",
        "panic:",
        "Exception in",
        "Caused by:",
    ]
    .iter()
    .any(|level| line.starts_with(level));
    let words = line.split_whitespace().count();
    let pairs = line
        .split_whitespace()
        .filter(|word| {
            word.split_once('=')
                .is_some_and(|(key, value)| !key.is_empty() && !value.is_empty())
        })
        .count();
    timed || level || begins || (pairs >= 2 && pairs * 2 >= words)
}

pub(super) fn is_mail_header(line: &str) -> bool {
    let Some((name, value)) = line.split_once([':', '：']) else {
        return false;
    };
    !value.trim().is_empty()
        && matches!(
            name.trim().to_lowercase().as_str(),
            "from"
                | "to"
                | "cc"
                | "subject"
                | "date"
                | "sent"
                | "reply-to"
                | "von"
                | "an"
                | "betreff"
                | "gesendet"
                | "datum"
                | "de"
                | "à"
                | "objet"
                | "envoyé"
                | "para"
                | "asunto"
                | "fecha"
                | "enviado"
                | "差出人"
                | "宛先"
                | "件名"
                | "日時"
                | "送信者"
        )
}

/// The text of a heading, of a bold line, or of a short line that ends in a colon.
pub(super) fn title(line: &str) -> Option<String> {
    let heading = line
        .starts_with('#')
        .then(|| line.trim_start_matches('#'))
        .filter(|rest| rest.starts_with(' '));
    let bold = line
        .trim_end_matches(':')
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    let label = line.strip_suffix([':', '：']).filter(|rest| {
        let names_a_list = || heading_state(&folded(rest.trim_matches('*'))).is_some();
        rest.len() <= 40 && list_item(line).is_none() && names_a_list()
    });
    let text = heading.or(bold.filter(|text| !text.contains("**"))).or(label)?;
    Some(folded(text.trim().trim_matches(['*', ':', '：'])))
}

/// Headings of lists of work.
const LEFT: &str = "not done|remaining|left|to do|todo|todos|to-do|next|next steps|next step|outstanding|follow-up|follow-ups|pending|still open|still to do|open|open items|what's left|\
    offen|noch offen|noch zu tun|zu erledigen|nächste schritte|als nächstes|ausstehend|reste à faire|à faire|il reste|prochaines étapes|pendiente|pendientes|por hacer|próximos pasos|falta|残り|次の作業|未完了|やること|今後の予定";
const CURRENT: &str = "in progress|current|currently|ongoing|working on|doing now|in arbeit|gerade dabei|läuft|en cours|en curso|en progreso|作業中|進行中";
const DONE: &str = "done|completed|finished|accomplished|what i did|what changed|changes made|changes|erledigt|fertig|abgeschlossen|fait|terminé|terminés|réalisé|hecho|terminado|completado|完了|完了した作業|済み";

pub(super) fn heading_state(title: &str) -> Option<ListState> {
    let names = |words: &str| {
        words
            .split('|')
            .any(|word| title.starts_with(word) || title.ends_with(word))
    };
    if names(LEFT) {
        Some(ListState::Left)
    } else if names(CURRENT) {
        Some(ListState::Current)
    } else if names(DONE) {
        Some(ListState::Done)
    } else {
        None
    }
}
