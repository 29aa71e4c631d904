//! A log line as text, as `tracing-subscriber` writes it, without its general machinery where a line is the service's
//! own and has no colours and no spans, as those of requests: that takes longer than the read of a cached document.

use chrono::{DateTime, Utc};
use std::cell::RefCell;
use std::fmt;
use std::time::SystemTime;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
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
        #[expect(clippy::disallowed_methods, reason = "the log tells the time of the machine")]
        write_time(&mut writer, SystemTime::now().into())?;
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

thread_local! {
    /// The second that was written last, and how: mostly it is still the same.
    static LAST: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
}

/// Writes a time to the microsecond.
fn write_time(writer: &mut impl fmt::Write, time: DateTime<Utc>) -> fmt::Result {
    LAST.with_borrow_mut(|(second, written)| {
        if *second != time.timestamp() {
            *second = time.timestamp();
            *written = time.format("%Y-%m-%dT%H:%M:%S").to_string();
        }
        write!(writer, "{written}.{:06}Z", time.timestamp_subsec_micros())
    })
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
        ] {
            let time: DateTime<Utc> = DateTime::from_timestamp(seconds, nanos).unwrap();
            let mut written = String::new();
            write_time(&mut written, time).unwrap();
            assert_eq!(written, time.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string());
        }
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
