//! A log line as text, as `tracing-subscriber` writes it, without its general machinery where a line is the service's
//! own and has no colours and no spans, as those of requests: that takes longer than the read of a cached document.

use chrono::{DateTime, Datelike, Timelike, Utc};
use std::cell::Cell;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::{self, FormatTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The target of the service's own lines begins with it. Others may come from the `log` crate, and name theirs elsewhere.
const OWN_TARGET: &str = "working_memory";

/// Writes events as lines.
#[derive(Debug, Default)]
pub(super) struct PlainLines {
    usual: Format<Full>,
}

impl<S, N> FormatEvent<S, N> for PlainLines
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let target = event.metadata().target();
        if writer.has_ansi_escapes() || !target.starts_with(OWN_TARGET) || context.event_scope().is_some() {
            return self.usual.format_event(context, writer, event);
        }
        PlainTime.format_time(&mut writer)?;
        writer.write_str(level(event.metadata().level()))?;
        writer.write_str(target)?;
        writer.write_str(": ")?;
        context.format_fields(writer.by_ref(), event)?;
        writer.write_str("\n")
    }
}

/// With the blanks around it.
fn level(level: &Level) -> &'static str {
    match *level {
        Level::ERROR => " ERROR ",
        Level::WARN => "  WARN ",
        Level::INFO => "  INFO ",
        Level::DEBUG => " DEBUG ",
        Level::TRACE => " TRACE ",
    }
}

/// The time now, in UTC, to the microsecond.
struct PlainTime;

/// A time as it is written.
type Stamp = [u8; 27];

/// The position of the microseconds in a stamp.
const MICROS: std::ops::Range<usize> = 20..26;

thread_local! {
    /// The second that was written last, and how: mostly it is still the same.
    static LAST: Cell<(u64, Stamp)> = const { Cell::new((0, *b"1970-01-01T00:00:00.000000Z")) };
}

impl FormatTime for PlainTime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        #[expect(clippy::disallowed_methods, reason = "the log tells the time of the machine")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        match since.ok().and_then(stamp) {
            Some(stamp) => writer.write_str(str::from_utf8(&stamp).map_err(|_| fmt::Error)?),
            None => time::SystemTime.format_time(writer),
        }
    }
}

/// A time after 1970; `None` after the year 9999.
fn stamp(since: Duration) -> Option<Stamp> {
    let (second, mut stamp) = LAST.get();
    if second != since.as_secs() {
        stamp = of_second(since.as_secs())?;
        LAST.set((since.as_secs(), stamp));
    }
    write_digits(&mut stamp[MICROS], since.subsec_micros());
    Some(stamp)
}

fn of_second(second: u64) -> Option<Stamp> {
    let time: DateTime<Utc> = DateTime::from_timestamp(i64::try_from(second).ok()?, 0)?;
    let year = u32::try_from(time.year()).ok().filter(|year| *year < 10_000)?;
    let mut stamp = *b"0000-00-00T00:00:00.000000Z";
    for (place, number) in [
        (0..4, year),
        (5..7, time.month()),
        (8..10, time.day()),
        (11..13, time.hour()),
        (14..16, time.minute()),
        (17..19, time.second()),
    ] {
        write_digits(&mut stamp[place], number);
    }
    Some(stamp)
}

/// Writes a number from its end, with zeros in front.
fn write_digits(text: &mut [u8], mut number: u32) {
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::super::captured_log::CapturedLog;
    use super::super::fields::PlainFields;
    use super::*;

    #[test]
    fn a_time_is_written_to_the_microsecond() {
        for (seconds, nanos) in [
            (0, 0),
            (951_782_399, 999_999_999),
            (951_782_400, 1_000),
            (1_795_502_402, 123_456_789),
            (1_795_502_402, 7_000),
            (4_107_542_400, 0),
            (253_402_300_799, 5_000),
        ] {
            let time: DateTime<Utc> = DateTime::from_timestamp(seconds, nanos).unwrap();
            let since = Duration::new(seconds.try_into().unwrap(), nanos);
            let expected = time.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
            assert_eq!(str::from_utf8(&stamp(since).unwrap()), Ok(&*expected));
        }
        assert_eq!(stamp(Duration::from_secs(253_402_300_800)), None);
    }

    fn logged(plain: bool, ansi: bool) -> Vec<String> {
        let written = CapturedLog::default();
        let writer = written.clone();
        let usual = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(ansi)
            .fmt_fields(PlainFields)
            .with_writer(move || writer.clone());
        let log = || {
            tracing::info!(method = "GET", status = 200_u16, "request");
            tracing::trace!("traced");
            tracing::debug!(number = 1, "debugged");
            tracing::warn!(target: "elsewhere", "warned");
            let _in_a_span = tracing::info_span!("span", first = "1").entered();
            tracing::error!("failed");
        };
        if plain {
            tracing::subscriber::with_default(usual.event_format(PlainLines::default()).finish(), log);
        } else {
            tracing::subscriber::with_default(usual.finish(), log);
        }
        written.text().lines().map(str::to_owned).collect()
    }

    #[test]
    fn lines_look_as_they_always_do_but_for_their_time() {
        for ansi in [false, true] {
            let (plain, usual) = (logged(true, ansi), logged(false, ansi));
            assert_eq!(plain.len(), 5);
            for (plain, usual) in plain.iter().zip(&usual) {
                let after_the_time = |line: &str| line.split_once('Z').unwrap().1.to_owned();
                assert_eq!(plain.len(), usual.len());
                assert_eq!(after_the_time(plain), after_the_time(usual));
            }
        }
    }
}
