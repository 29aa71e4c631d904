//! A log line as text, as `tracing-subscriber` writes it, with a fast path for a line of the service's own without colours and
//! spans, as those of requests, and in it for short plain words and numbers, which nearly all fields are: the general machinery
//! takes longer than the read of a cached document.

use chrono::{DateTime, Utc};
use std::cell::RefCell;
use std::fmt::{self, Debug, Write as _};
use std::time::SystemTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::VisitOutput;
use tracing_subscriber::fmt::format::{DefaultVisitor, Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The target of the service's own lines begins with it. Others may come from the `log` crate, and name theirs elsewhere.
const OWN_TARGET: &str = "working_memory";

/// Room for most lines.
const LINE_BYTES: usize = 400;

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
        if writer.has_ansi_escapes() {
            return self.usual.format_event(context, writer, event);
        }
        let mut line = PlainLine {
            text: String::with_capacity(LINE_BYTES),
            is_empty: true,
            result: Ok(()),
        };
        if !target.starts_with(OWN_TARGET) || context.event_scope().is_some() {
            self.usual
                .format_event(context, Writer::new(&mut line.text), event)?;
        } else {
            #[expect(clippy::disallowed_methods, reason = "the log tells the time of the machine")]
            write_time(&mut line.text, SystemTime::now().into())?;
            write!(line.text, " {:>5} {target}: ", event.metadata().level())?;
            event.record(&mut line);
            line.result?;
        }
        // An error of the database may quote a client: a line end in it must not begin a line that looks like the service's.
        let text = line.text.trim_end_matches('\n');
        match consists_of(text, is_visible) {
            true => writer.write_str(text)?,
            false => writer.write_str(&text.replace(char::is_control, " "))?,
        }
        writer.write_char('\n')
    }
}

/// A line while its fields are written: ` name="text" name=1`.
struct PlainLine {
    text: String,
    /// No field is written yet.
    is_empty: bool,
    result: fmt::Result,
}

impl PlainLine {
    /// Writes a field whose value needs no escaping.
    fn write(&mut self, field: &Field, [before, value, after]: [&str; 3]) {
        let blank = if self.is_empty { "" } else { " " };
        self.is_empty = false;
        for part in [blank, field.name(), "=", before, value, after] {
            self.text.push_str(part);
        }
    }

    /// Writes any other field with the general formatter.
    fn write_usual(&mut self, record: impl FnOnce(&mut DefaultVisitor<'_>)) {
        let mut usual = DefaultVisitor::new(Writer::new(&mut self.text), self.is_empty);
        record(&mut usual);
        self.result = self.result.and(usual.finish());
        self.is_empty = false;
    }
}

/// Whether a field is written under its own name.
fn has_plain_name(field: &Field) -> bool {
    let name = field.name();
    name != "message" && !name.bytes().any(|byte| byte == b'.' || byte == b'#')
}

fn is_visible(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Whether a text has no other bytes than such. Without an early end it is several bytes an instruction.
fn consists_of(text: &str, is_such: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all, byte| all & is_such(byte))
}

/// Whether a text needs no escaping.
fn is_plain(text: &str) -> bool {
    consists_of(text, |byte| is_visible(byte) && byte != b'"' && byte != b'\\')
}

impl Visit for PlainLine {
    fn record_str(&mut self, field: &Field, value: &str) {
        if has_plain_name(field) && is_plain(value) {
            self.write(field, ["\"", value, "\""]);
        } else {
            self.write_usual(|usual| usual.record_str(field, value));
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if has_plain_name(field) {
            self.write(field, ["", itoa::Buffer::new().format(value), ""]);
        } else {
            self.write_usual(|usual| usual.record_u64(field, value));
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.write_usual(|usual| usual.record_error(field, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.write_usual(|usual| usual.record_debug(field, value));
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
    use super::*;
    use std::io;
    use tracing::Level;

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
            .with_writer(move || writer.clone());
        let log = || {
            tracing::info!(method = "GET", status = 200_u16, "request");
            tracing::trace!("traced");
            tracing::debug!(number = 1, "debugged");
            tracing::warn!(target: "elsewhere", "warned");
            let (some, none) = (Some("word"), None::<&str>);
            tracing::info!(some, none, millis = 7_u64, "fields");
            for text in ["", "a \"quoted\" \\ word", "line\nline", "ärger \u{1b}[1m", "~ !"] {
                tracing::info!(text, "said {}", text.replace('\n', " "));
            }
            let error = io::Error::other(fmt::Error);
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::info!(error, signed = -1, r#type = "raw", a.b = "dotted", list = ?[1], shown = %"as it is");
            tracing::info!(only = "a field");
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
    fn a_displayed_value_does_not_begin_a_line() {
        let written = CapturedLog::default();
        let writer = written.clone();
        let lines = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone());
        tracing::subscriber::with_default(lines.event_format(PlainLines::default()).finish(), || {
            tracing::warn!(error = %"of a\n2026 INFO forged\r", "own");
            tracing::warn!(target: "elsewhere", error = %"of a\n2026 INFO forged\u{1b}[1m", "of others");
        });
        assert_eq!(written.text().lines().count(), 2, "{}", written.text());
        assert!(
            !written
                .text()
                .trim_end()
                .contains(|c: char| c != '\n' && c.is_control())
        );
    }

    #[test]
    fn lines_look_as_they_always_do_but_for_their_time() {
        for ansi in [false, true] {
            let (plain, usual) = (logged(true, ansi), logged(false, ansi));
            assert_eq!((plain.len(), usual.len()), (13, 13));
            for (plain, usual) in plain.iter().zip(&usual) {
                let after_the_time = |line: &str| line.split_once('Z').unwrap().1.to_owned();
                assert_eq!(plain.len(), usual.len());
                assert_eq!(after_the_time(plain), after_the_time(usual));
            }
            let request = r#"request method="GET" status=200"#;
            assert!(ansi || plain[0].ends_with(request), "{}", plain[0]);
        }
    }
}
