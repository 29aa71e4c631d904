//! Renders the text that the service writes: record lines and the body of `Current Progress`.
//!
//! The marks of a record are what a person or an agent has set about a record: that it is pinned, and until when it holds. Written on its line, in
//! the brackets of its time: `[2026-11-24T10:00:00Z, pinned, until 2027-08-31]`.

use super::record::{end_of_reason, push_snippet};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::{AddedRecord, Progress};
use crate::domain::text::lines::document_line;
use chrono::{
    DateTime, Datelike as _, Days, NaiveDate, NaiveTime, SecondsFormat, SubsecRound as _, Timelike as _, Utc,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The marks of a record; most have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Marks {
    /// No model archives it, and it does not leave the window.
    pub pinned: bool,
    /// When it expires.
    pub until: Option<Until>,
}

/// The end of a record's validity: a day, which it includes, or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Until {
    /// To the end of this day, UTC.
    Day(NaiveDate),
    /// To this time.
    Time(DateTime<Utc>),
}

/// What an operation makes of a record's end: another one, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Expiry {
    /// `never`: it holds without an end.
    Never,
    /// It has this end.
    At(Until),
}

/// A text that is no date and no time. The message may be shown to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "write a date (2027-08-31, the last day on which it holds, UTC) or a time (2027-08-31T12:00:00Z, RFC 3339)"
)]
pub struct NotATime;

impl Until {
    /// The first moment at which the record does not hold any more.
    #[must_use]
    pub fn end(self) -> DateTime<Utc> {
        match self {
            Self::Time(time) => time,
            Self::Day(day) => {
                let next = day.checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
                next.and_time(NaiveTime::MIN).and_utc()
            }
        }
    }
}

impl FromStr for Until {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let read = match text.len() == 10 {
            // A day in another form, such as `+12027-1-1`, would not be read as it is written.
            true => NaiveDate::parse_from_str(text, "%Y-%m-%d")
                .ok()
                .map(Self::Day)
                .filter(|day| day.to_string() == text),
            false => read_time(text).map(|time| Self::Time(time.trunc_subsecs(0))),
        };
        read.ok_or(NotATime)
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => write!(f, "{}", day.format("%Y-%m-%d")),
            Self::Time(time) => f.write_str(&written_time(*time)),
        }
    }
}

impl FromStr for Expiry {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        match text {
            "never" => Ok(Self::Never),
            _ => text.parse().map(Self::At),
        }
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::At(until) => until.fmt(f),
        }
    }
}

string_in_json!(Until, Expiry, Marks);

impl Marks {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The marks with other ones in the place of those that are given.
    #[must_use]
    pub fn changed(self, pinned: Option<bool>, until: Option<Expiry>) -> Self {
        Self {
            pinned: pinned.unwrap_or(self.pinned),
            until: match until {
                None => self.until,
                Some(Expiry::Never) => None,
                Some(Expiry::At(until)) => Some(until),
            },
        }
    }

    /// Whether it has expired at a time.
    #[must_use]
    pub fn has_expired(&self, now: DateTime<Utc>) -> bool {
        self.until.is_some_and(|until| until.end() <= now)
    }

    /// Reads the parts between brackets, separated by commas; `None` if a part is no mark, or there twice.
    fn of_parts<'t>(parts: impl Iterator<Item = &'t str>) -> Option<Self> {
        let (pinned, until) = changed_marks(parts)?;
        let is_change = pinned == Some(false) || until == Some(Expiry::Never);
        (!is_change).then(|| Self::default().changed(pinned, until))
    }
}

/// Reads what becomes of marks: `pinned` or `unpinned`, and `until` with an end; `None` if a part is neither, or there
/// twice.
pub(in crate::domain) fn changed_marks<'t>(
    parts: impl Iterator<Item = &'t str>,
) -> Option<(Option<bool>, Option<Expiry>)> {
    let (mut pinned, mut until) = (None, None);
    for part in parts {
        match part {
            "pinned" if pinned.is_none() => pinned = Some(true),
            "unpinned" if pinned.is_none() => pinned = Some(false),
            _ if until.is_none() => {
                until = Some(part.strip_prefix("until ")?.trim().parse().ok()?);
            }
            _ => return None,
        }
    }
    Some((pinned, until))
}

/// As they are written between brackets; empty without marks.
impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pinned, self.until) {
            (true, Some(until)) => write!(f, "pinned, until {until}"),
            (true, None) => f.write_str("pinned"),
            (false, Some(until)) => write!(f, "until {until}"),
            (false, None) => Ok(()),
        }
    }
}

impl FromStr for Marks {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        Self::of_parts(parts).ok_or(NotATime)
    }
}

/// The brackets after a record's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Brackets<'t> {
    /// All of them.
    pub(super) written: &'t str,
    /// The time, as it is written, and the time.
    pub(super) time: Option<(&'t str, DateTime<Utc>)>,
    pub(super) marks: Marks,
}

impl<'t> Brackets<'t> {
    /// Reads the brackets at the beginning of a text, which end before a blank or at its end: a time, marks, or both;
    /// `None` for anything else, which is content.
    pub(super) fn at(text: &'t str) -> Option<Self> {
        let inner = text.strip_prefix('[')?;
        let inner = &inner[..inner.find(']')?];
        let written = &text[..inner.len() + "[]".len()];
        let after = text[written.len()..].chars().next();
        if after.is_some_and(|c| !super::lines::BLANKS.contains(&c)) {
            return None;
        }
        let mut parts = inner.split(',').map(str::trim).peekable();
        let time = parts
            .peek()
            .copied()
            .and_then(|text| Some((text, read_time(text)?)));
        // A time alone has no blanks around it.
        if time.is_some() {
            parts.next();
        }
        let has_marks = parts.peek().is_some();
        let marks = Marks::of_parts(parts)?;
        let is_time_alone = !has_marks && time.is_some_and(|(text, _)| text == inner);
        (has_marks || is_time_alone).then_some(Self { written, time, marks })
    }
}

/// Marks in brackets at the beginning of a text, and the text after them; the whole text without any.
pub(in crate::domain) fn leading_marks(text: &str) -> (Marks, &str) {
    match Brackets::at(text).filter(|found| found.time.is_none()) {
        Some(found) => (found.marks, text[found.written.len()..].trim_start()),
        None => (Marks::default(), text),
    }
}

/// The brackets of a record: its time, as it is written, and its marks; empty without either.
pub(in crate::domain) fn brackets(time: Option<&str>, marks: &Marks) -> String {
    let marks = marks.to_string();
    let parts: Vec<&str> = time
        .into_iter()
        .chain([marks.as_str()])
        .filter(|part| !part.is_empty())
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("[{}]", parts.join(", ")),
    }
}

/// Reads a time of the years 1 to 9999 in UTC, without a leap second, to the microsecond: PostgreSQL reads no other.
pub(super) fn read_time(text: &str) -> Option<DateTime<Utc>> {
    let time = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
    let is_stored = (1..=9999).contains(&time.year()) && time.nanosecond() < 1_000_000_000;
    is_stored.then(|| time.trunc_subsecs(6))
}

/// Formats a time for record lines: RFC 3339, whole seconds, `Z`.
#[must_use]
pub fn written_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Renders the lines of a new record. Characters that a record line cannot represent are normalised:
///
/// - everything except a snippet becomes one line: lines are trimmed (space, tab, CR) and joined by single
///   blanks;
/// - a `:` followed by a blank inside a reason becomes `;`, since it would end the reason;
/// - a `=>` inside a label becomes `->`, since it would end the label;
/// - a snippet loses the end of its last line and trailing blank lines;
/// - NUL, which is not allowed in documents, becomes U+FFFD.
pub(in crate::domain) fn record_lines(id: RecordId, time: DateTime<Utc>, record: &AddedRecord) -> String {
    let brackets = brackets(Some(&written_time(time)), &record.marks);
    let mut out = format!("- {id} {brackets} ");
    let reason = document_line(&record.reason);
    if !reason.is_empty() {
        out.push_str("because ");
        push_reason(&mut out, &reason);
        out.push_str(": ");
    }
    if id.kind == RecordKind::Verbatim {
        let label = record.label.as_deref().unwrap_or_default();
        out.push_str(&document_line(label).replace("=>", "->"));
        push_snippet(&mut out, &record.content);
    } else {
        out.push_str(&document_line(&record.content));
        out.push('\n');
    }
    out
}

/// Renders the body of `Current Progress`: each non-empty list under its sub-heading, each bullet on one line.
pub(in crate::domain) fn progress_body(progress: &Progress) -> String {
    written_lists(&progress.with_bullets(document_line))
}

/// The same with the bullets as they are.
pub(in crate::domain) fn written_lists(progress: &Progress) -> String {
    let mut body = String::new();
    for (title, bullets) in progress.lists() {
        if !bullets.is_empty() {
            body.push_str(&format!("## {title}\n"));
        }
        for bullet in bullets {
            body.push_str(&format!("- {bullet}\n"));
        }
    }
    body
}

/// Writes a reason so that parsing finds the same end. A `:` at its very end may stay, because the delimiter
/// follows it directly.
fn push_reason(out: &mut String, mut reason: &str) {
    while let Some(colon) = end_of_reason(reason).filter(|colon| colon + 1 < reason.len()) {
        out.push_str(&reason[..colon]);
        out.push(';');
        reason = &reason[colon + 1..];
    }
    out.push_str(reason);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Option<(String, Option<String>, String)> {
        let read = Brackets::at(text)?;
        let time = read.time.map(|(text, _)| text.to_owned());
        Some((read.written.to_owned(), time, read.marks.to_string()))
    }

    #[test]
    fn brackets_hold_a_time_and_marks() {
        let table = "
            2026-11-24T10:00:00Z | 2026-11-24T10:00:00Z |
            2026-11-24T10:00:00Z, pinned | 2026-11-24T10:00:00Z | pinned
            2026-11-24T10:00:00Z,pinned,until 2027-08-31 | 2026-11-24T10:00:00Z | pinned, until 2027-08-31
            2026-11-24T10:00:00Z, until 2027-08-31, pinned | 2026-11-24T10:00:00Z | pinned, until 2027-08-31
            pinned | | pinned
            until 2027-08-31T14:00:00+02:00 | | until 2027-08-31T12:00:00Z";
        for row in table.trim().lines() {
            let row: Vec<&str> = row.split('|').map(str::trim).collect();
            let time = (!row[1].is_empty()).then(|| row[1].to_owned());
            let expected = (format!("[{}]", row[0]), time, row[2].to_owned());
            assert_eq!(at(&format!("[{}] because", row[0])), Some(expected));
        }
        for content in "[]|[x] done|[pinned|[pinned]x|[pinned, pinned]|[until soon]|[until 2027-02-30]|[pinned, 2026-11-24T10:00:00Z]|[ 2026-11-24T10:00:00Z ]|[2026-11-24T10:00:00Z,]|[Pinned]".split('|') {
            assert_eq!(at(content), None, "{content}");
        }
    }

    #[test]
    fn a_day_is_included_and_a_time_is_not() {
        let marks: Marks = "until 2027-08-31".parse().unwrap();
        let time = |text| read_time(text).unwrap();
        assert!(!marks.has_expired(time("2027-08-31T23:59:59Z")));
        assert!(marks.has_expired(time("2027-09-01T00:00:00Z")));
        let marks: Marks = "pinned, until 2027-08-31T12:00:00Z".parse().unwrap();
        assert!(!marks.has_expired(time("2027-08-31T11:59:59Z")));
        assert!(marks.has_expired(time("2027-08-31T12:00:00Z")));
        assert!(!Marks::default().has_expired(time("9999-12-31T23:59:59Z")));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(pinned: bool, day in prop::option::of(0..40_000_u64), seconds in prop::option::of(0..4_000_000_000_i64)) {
            let day = day.map(|days| Until::Day(NaiveDate::default() + Days::new(days)));
            let time = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0)).map(Until::Time);
            let marks = Marks { pinned, until: day.or(time) };
            prop_assert_eq!(marks.to_string().parse::<Marks>(), Ok(marks));
            let written = brackets(Some("2026-11-24T10:00:00Z"), &marks);
            prop_assert_eq!(Brackets::at(&written).map(|read| read.marks), Some(marks));
        }
    }
}
