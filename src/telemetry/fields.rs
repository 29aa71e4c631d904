//! Formats the fields of a log line like `tracing-subscriber`, with a fast path for short plain words and numbers, which
//! nearly all fields are: the general formatter takes as long as the rest of a small request's log line.

use std::fmt::{self, Debug};
use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};

/// Writes fields as ` name="text" name=1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainFields;

impl<'writer> FormatFields<'writer> for PlainFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = PlainVisitor {
            writer,
            buffer: String::with_capacity(BUFFER_BYTES),
            is_empty: true,
            result: Ok(()),
        };
        fields.record(&mut visitor);
        visitor.flush();
        visitor.result
    }
}

/// Room for the fields of most lines.
const BUFFER_BYTES: usize = 320;

struct PlainVisitor<'writer> {
    writer: Writer<'writer>,
    /// What is on its way to the writer, to which every piece by itself would be a call through two tables.
    buffer: String,
    is_empty: bool,
    result: fmt::Result,
}

impl PlainVisitor<'_> {
    /// Writes a field whose value needs no escaping.
    fn write(&mut self, field: &Field, [before, value, after]: [&str; 3]) {
        let blank = if self.is_empty { "" } else { " " };
        self.is_empty = false;
        for part in [blank, field.name(), "=", before, value, after] {
            self.buffer.push_str(part);
        }
    }

    fn flush(&mut self) {
        let writer = &mut self.writer;
        self.result = self.result.and_then(|()| writer.write_str(&self.buffer));
        self.buffer.clear();
    }

    /// Writes any other field with the general formatter.
    fn write_usual(&mut self, record: impl FnOnce(&mut DefaultVisitor<'_>)) {
        self.flush();
        if self.result.is_ok() {
            let mut usual = DefaultVisitor::new(self.writer.by_ref(), self.is_empty);
            record(&mut usual);
            self.result = usual.finish();
            self.is_empty = false;
        }
    }

    /// Colours and renamed fields need the general formatter.
    fn is_ours(&self, field: &Field) -> bool {
        let name = field.name();
        !self.writer.has_ansi_escapes()
            && name != "message"
            && !name.bytes().any(|byte| byte == b'.' || byte == b'#')
    }
}

/// Whether a text needs no escaping.
fn is_plain(text: &str) -> bool {
    let plain = |byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    // Without an early end it is several bytes an instruction.
    text.bytes().fold(true, |all, byte| all & plain(byte))
}

impl Visit for PlainVisitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if self.is_ours(field) && is_plain(value) {
            self.write(field, ["\"", value, "\""]);
        } else {
            self.write_usual(|usual| usual.record_str(field, value));
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if self.is_ours(field) {
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

#[cfg(test)]
mod tests {
    use super::super::captured_log::CapturedLog;
    use super::*;
    use std::io;
    use tracing_subscriber::fmt::format::DefaultFields;

    fn logged<F>(fields: F, ansi: bool) -> String
    where
        F: for<'writer> FormatFields<'writer> + Send + Sync + 'static,
    {
        let written = CapturedLog::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .without_time()
            .with_ansi(ansi)
            .fmt_fields(fields)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let _in_a_span = tracing::info_span!("span", first = "1", second = 2).entered();
            let (some, none) = (Some("word"), None::<&str>);
            tracing::info!(
                method = "GET",
                some,
                none,
                status = 200_u16,
                millis = 7_u64,
                "request"
            );
            for text in ["", "a \"quoted\" \\ word", "line\nline", "ärger \u{1b}[1m", "~ !"] {
                tracing::info!(text, "said {text}");
            }
            let error = io::Error::other(fmt::Error);
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::info!(error, signed = -1, r#type = "raw", a.b = "dotted", list = ?[1], shown = %"as it is");
            tracing::info!("no fields");
        });
        written.text()
    }

    #[test]
    fn lines_look_as_they_always_do() {
        for ansi in [false, true] {
            assert_eq!(logged(PlainFields, ansi), logged(DefaultFields::new(), ansi));
        }
        let plain = logged(PlainFields, false);
        assert!(
            plain.contains(r#"request method="GET" some="word" status=200 millis=7"#),
            "{plain}"
        );
    }
}
