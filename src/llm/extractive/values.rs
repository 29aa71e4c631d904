//! The values in a text, each with a kind: a date, a time, an amount. Values of the same kind replace each
//! other.

use super::cues::{is_month, is_small, number_word, weekday};
use super::line::folded_through;
use super::listed::{Listed, split};
use super::terms::{Script, Stem, number, pieces, stem};

/// Kinds of values that replace each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Date,
    Weekday,
    Time,
    Percent,
    Phone,
    /// `Q17`, `4JX-09`, `10.2.0.9`.
    Name,
    /// An amount of something.
    Of(Stem),
    Plain,
    /// A number in words without a unit.
    Bare,
}

impl Kind {
    /// Whether such values identify one of several things: `ZT411`, "9号".
    pub(super) fn designates(&self) -> bool {
        match self {
            Self::Name => true,
            Self::Of(unit) => ORDINALS.chars().any(|c| *unit == Stem::of(std::iter::once(c))),
            _ => false,
        }
    }
}

/// Suffixes of an ordinal number.
const ORDINALS: &str = "号番";

/// A kind and the normalised value.
pub(super) type Value = (Kind, String);

/// Words and signs of units, one line per unit; the first one is the canonical form.
const UNITS: &str = "€ euro euros eur\n$ dollar dollars usd dólares\n£ pound pounds gbp\n円 yen\n\
    s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒\n\
    min mins minute minutes minuten minuto minutos\n\
    hour h hours hrs stunde stunden heure heures hora horas 時間\nday days tag tage tagen jour jours día días 日間\n\
    week weeks woche wochen semaine semaines semana semanas 週間\n\
    month months monat monate monaten mois mes meses\nyear years jahr jahre jahren an ans année années año años 年間\n\
    kg kilo kilos kilogram kilograms kilogramm\ng gram grams gramm grammes gramos\n\
    km kilometre kilometres kilometer kilometers kilómetros\nm metre metres meter meters mètres metros\n\
    mg\nml\nl litre litres liter liters litros\ncm\nmm\nkb\nmb\ngb\ntb\nkw\nkwh\nv volt volts\nrps\nrpm\nhz\n\
    ° degree degrees grad degrés grados 度\nms millisecond milliseconds millisekunden 人 people persons personen personnes personas";

static KNOWN_UNITS: Listed = Listed::new(|| split(UNITS));

/// Words between a number and its unit.
const PASSED_OVER: &str = " of de d'environ more mehr plus más ";

/// The values of a text.
pub(super) fn values(text: &str) -> Vec<Value> {
    let folded = folded_through(text);
    let found: Vec<(Script, &str)> = pieces(&folded)
        .map(|(script, piece)| (script, piece.trim()))
        .filter(|(_, piece)| !piece.is_empty() && *piece != ".")
        .collect();
    let mut values: Vec<Value> = Vec::new();
    let mut digits = 0;
    let mut skip = 0;
    for (at, (script, piece)) in found.iter().enumerate() {
        if at < skip {
            continue;
        }
        let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
        if let Some(day) = weekday(piece) {
            values.push((Kind::Weekday, day.to_string()));
            digits = 0;
            continue;
        }
        let spelled = number_word(piece);
        if *script != Script::Word || !(piece.chars().any(|c| c.is_ascii_digit()) || spelled.is_some()) {
            digits = 0;
            continue;
        }
        if let Some(spelled) = spelled {
            let kind = unit_at(&found, at + 1).map_or(Kind::Bare, Kind::Of);
            values.push((kind, spelled.to_string()));
            continue;
        }
        if let Some((number, unit, after)) = japanese_number(&found, at) {
            let kind = unit.map_or(Kind::Plain, |unit| Kind::Of(unit_of(&unit.to_string())));
            values.push((kind, number.to_string()));
            skip = after;
            continue;
        }
        digits += piece.chars().filter(char::is_ascii_digit).count();
        if let Some((date, after)) = date(&found, at, piece) {
            values.push((Kind::Date, date));
            skip = after;
            digits = 0;
            continue;
        }
        let kind = kind(&found, at, piece, digits);
        // "6 h 30" and "9時21分" are one time.
        if kind == Kind::Time
            && let Some((minutes, after)) = minutes_after(&found, at)
        {
            values.push((kind, format!("{piece}:{minutes}")));
            skip = after;
            continue;
        }
        match values.last_mut() {
            // A phone number is written in groups.
            Some((_, text)) if kind == Kind::Phone && digits > piece.len() => {
                let joined = format!("{text}{piece}");
                values.pop();
                values.push((Kind::Phone, joined));
            }
            _ => values.push((kind, amount(piece))),
        }
    }
    values
}

fn kind(found: &[(Script, &str)], at: usize, piece: &str, digits: usize) -> Kind {
    let next = found.get(at + 1).map_or("", |(_, next)| *next);
    let before = at
        .checked_sub(1)
        .and_then(|at| found.get(at))
        .map_or("", |(_, piece)| *piece);
    if let Some((number, unit)) = glued(piece) {
        return if matches!(unit, "h" | "am" | "pm") && is_hour(number) {
            Kind::Time
        } else {
            Kind::Of(unit_of(unit))
        };
    }
    if is_clock(piece) {
        Kind::Time
    } else if piece.chars().any(char::is_alphabetic) || piece.matches('.').count() >= 2 {
        Kind::Name
    } else if (next.starts_with('時') && !next.starts_with("時間"))
        || (matches!(next, "h" | "uhr" | "am" | "pm" | "o'clock")
            && is_hour(piece)
            && (next, piece) != ("h", "24"))
    {
        Kind::Time
    } else if next.starts_with(['%', '％']) || matches!(next, "percent" | "prozent" | "pourcent") {
        Kind::Percent
    } else if digits >= 7 || (piece.starts_with('0') && digits >= 3 && !piece.contains('.')) {
        Kind::Phone
    } else if let Some(sign) = before.chars().next_back().filter(|c| "$€£¥".contains(*c)) {
        Kind::Of(unit_of(&sign.to_string()))
    } else {
        unit_at(found, at + 1).map_or(Kind::Plain, Kind::Of)
    }
}

/// "72 h" is not a time of day; "24 h" is one only in languages whose word for hour is longer.
fn is_hour(number: &str) -> bool {
    number.parse::<u32>().is_ok_and(|hour| hour <= 24)
}

/// The unit of the number before this position.
fn unit_at(found: &[(Script, &str)], at: usize) -> Option<Stem> {
    let (script, next) = found.get(at)?;
    if *script == Script::Other {
        let sign = next.chars().next().filter(|c| "€$£°".contains(*c));
        return sign.map(|sign| unit_of(&sign.to_string()));
    }
    if *script == Script::Han {
        let whole = ["時間", "日間", "週間", "年間"]
            .into_iter()
            .find(|unit| next.starts_with(unit));
        let first = next.char_indices().nth(1).map_or(*next, |(end, _)| &next[..end]);
        return Some(unit_of(whole.unwrap_or(first)));
    }
    if PASSED_OVER.contains(&format!(" {next} ")) {
        return unit_at(found, at + 1);
    }
    let is_unit = is_known_unit(next) || (next.chars().all(char::is_alphabetic) && !is_small(next));
    (is_unit && !next.is_empty() && !is_month(next)).then(|| unit_of(next))
}

pub(super) fn is_known_unit(word: &str) -> bool {
    KNOWN_UNITS.has(word)
}

/// The canonical unit of "seconds", "sec" and "s".
fn unit_of(word: &str) -> Stem {
    let same = |line: &&str| line.split(' ').any(|unit| unit == word);
    match UNITS.lines().map(str::trim).find(same) {
        Some(line) => Stem::of(line.split(' ').next().unwrap_or(word).chars()),
        None => stem(word),
    }
}

/// Splits `2.5mg`, `17h` into number and unit.
fn glued(piece: &str) -> Option<(&str, &str)> {
    let end = piece.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','))?;
    let (number, unit) = piece.split_at(end);
    let fits = !number.is_empty() && unit.chars().count() <= 4 && unit.chars().all(char::is_alphabetic);
    (fits && !matches!(unit, "st" | "nd" | "rd" | "th" | "er" | "e" | "x")).then_some((number, unit))
}

/// Normalises a number for comparison.
fn amount(piece: &str) -> String {
    let bare = glued(piece).map_or(piece, |(number, _)| number);
    let text = number(bare);
    if text.matches(',').count() == 1 && text.bytes().all(|b| b.is_ascii_digit() || b == b',') {
        text.replace(',', ".")
    } else {
        text
    }
}

/// Whether it is a time such as `17:30` or `17h30`.
fn is_clock(piece: &str) -> bool {
    piece.split_once([':', 'h']).is_some_and(|(hours, minutes)| {
        let all = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        all(hours) && all(minutes)
    })
}

/// The month and day that begin at a position, and the position after them.
fn date(found: &[(Script, &str)], at: usize, piece: &str) -> Option<(String, usize)> {
    let of = |at: usize| found.get(at).map_or("", |(_, piece)| *piece);
    let before = at.checked_sub(1).map_or("", of);
    if let Some((month, day)) = written_date(piece, before) {
        return Some((format!("{month}-{day}"), at + 1));
    }
    let day: u8 = piece.trim_end_matches(char::is_alphabetic).parse().ok()?;
    if !(1..=31).contains(&day) {
        return None;
    }
    // "10月24日"
    let han = |at: usize, unit: char| of(at).starts_with(unit);
    if han(at + 1, '月') && han(at + 3, '日') {
        let after: u8 = of(at + 2).parse().ok()?;
        return Some((format!("{day}-{after}"), at + 4));
    }
    if han(at + 1, '月') || (han(at + 1, '日') && !of(at + 1).starts_with("日間")) {
        return Some((format!("{day}"), at + 2));
    }
    // "4 May", "4. Mai", "4 de mayo", "the 4th of May", "May 4"
    let passed = usize::from(matches!(of(at + 1), "de" | "of"));
    let after = month(of(at + 1 + passed)).map(|month| (month, at + 2 + passed));
    let counts = is_known_unit(of(at + 1)) || of(at + 1).starts_with(['%', '€', '$']);
    let ahead = || month(before).filter(|_| !counts).map(|month| (month, at + 1));
    let (month, end) = after.or_else(ahead)?;
    // The year is part of the date.
    let is_year = |at: usize| of(at).len() == 4 && of(at).bytes().all(|b| b.is_ascii_digit());
    let end = if is_year(end) { end + 1 } else { end };
    Some((format!("{month}-{day}"), end))
}

/// Month and day of `2026-11-20`, `20.11.2026`, "am 19.11."
fn written_date(piece: &str, before: &str) -> Option<(u8, u8)> {
    let parts: Vec<&str> = piece.split(['-', '.', '/']).collect();
    let number = |at: usize| parts.get(at).and_then(|part| part.parse::<u8>().ok());
    let (day, month) = match parts.len() {
        3 if parts[0].len() == 4 => (number(2)?, number(1)?),
        3 if parts[2].len() == 4 => (number(0)?, number(1)?),
        2 if piece.contains('.') && matches!(before, "am" | "vom" | "zum" | "den" | "der" | "bis" | "ab") => {
            (number(0)?, number(1)?)
        }
        _ => return None,
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((month, day))
}

/// The month that a word names, by its beginning in any language.
fn month(word: &str) -> Option<usize> {
    const MONTHS: [&[&str]; 12] = [
        &["jan", "jän", "ene"],
        &["feb", "fév"],
        &["mar", "mär"],
        &["apr", "avr", "abr"],
        &["may", "mai"],
        &["jun", "juin"],
        &["jul", "juil"],
        &["aug", "aoû", "ago"],
        &["sep"],
        &["oct", "okt"],
        &["nov"],
        &["dec", "dez", "déc", "dic"],
    ];
    let begins = |names: &&[&str]| names.iter().any(|name| word.starts_with(name));
    let at = MONTHS.iter().position(begins);
    at.filter(|_| is_month(word)).map(|at| at + 1)
}

/// The minutes after "6 h" or "9時", and the position after them; "9時半" is half past nine.
fn minutes_after<'f>(found: &[(Script, &'f str)], at: usize) -> Option<(&'f str, usize)> {
    let (_, unit) = found.get(at + 1)?;
    if unit.starts_with("時半") {
        return Some(("30", at + 2));
    }
    let (_, minutes) = found.get(at + 2)?;
    let fits = minutes.len() == 2 && minutes.bytes().all(|b| b.is_ascii_digit());
    (matches!(*unit, "h" | "時") && fits).then_some((*minutes, at + 3))
}

/// `3万5千円`: the number, its unit, and the position after it.
fn japanese_number(found: &[(Script, &str)], at: usize) -> Option<(u64, Option<char>, usize)> {
    let mut whole = 0_u64;
    let mut place = at;
    let mut unit = None;
    let mut is_scaled = false;
    while let Some((Script::Word, digits)) = found.get(place) {
        let number: u64 = digits.parse().ok()?;
        let mut after = found.get(place + 1).map_or("", |(_, after)| *after).chars();
        let scale = match after.next() {
            Some('万') => 10_000,
            Some('千') => 1_000,
            Some('百') => 100,
            first => {
                whole = whole.checked_add(number)?;
                unit = first;
                place += 1;
                break;
            }
        };
        is_scaled = true;
        whole = whole.checked_add(number.checked_mul(scale)?)?;
        place += 2;
        unit = after.next();
        if unit.is_some() {
            break;
        }
    }
    is_scaled.then_some((whole, unit, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_a_kind() {
        let kinds = |text: &str| values(text).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        for (text, kind) in [
            ("deadline 15 February", Kind::Date),
            ("el 4 de mayo", Kind::Date),
            ("10月24日", Kind::Date),
            ("2026-11-20", Kind::Date),
            ("erst am 19.11. um 18:30", Kind::Date),
            ("at 17:00", Kind::Time),
            ("vers 17h30", Kind::Time),
            ("10 %", Kind::Percent),
            ("Q17 is bad", Kind::Name),
            ("12 pages", Kind::Of(Stem::of("pag".chars()))),
            ("listens on 8113", Kind::Plain),
        ] {
            assert_eq!(kinds(text).first(), Some(&kind), "{text}");
        }
    }

    #[test]
    fn one_value_is_written_in_many_ways() {
        for (one, other) in [
            ("it is 30 s", "30 seconds it is"),
            ("2.5mg in the morning", "2,5 mg am Morgen"),
            ("96 Euro", "96 €"),
            ("on 1 May 2019", "2019-05-01"),
            ("May 4", "el 4 de mayo"),
            ("11月20日", "20 November"),
            ("ab Januar 12 Euro", "12 Euro"),
            ("cinco cartas", "5 cartas"),
            ("3万5千円", "35000円"),
            ("départ à 6 h 30", "6:30"),
        ] {
            let last = |text: &str| values(text).pop();
            assert_eq!(last(one), last(other), "{one} / {other}");
            assert!(last(one).is_some(), "{one}");
        }
        for (one, other) in [("30 s", "30 min"), ("5 h", "6 h 30"), ("12 Euro", "12 pages")] {
            assert_ne!(values(one), values(other), "{one} / {other}");
        }
    }
}
