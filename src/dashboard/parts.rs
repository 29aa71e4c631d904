//! Small parts of pages: times, sizes, ids, pagination. They escape external text, so that
//! templates insert them without escaping.

use super::link;
use askama::filters::HtmlSafe;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use std::fmt;

/// A text that is escaped for HTML when it is displayed.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['<', '>', '&', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'&' => "&amp;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

impl HtmlSafe for Escaped<'_> {}

/// A time, absolute and relative.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    time: DateTime<Utc>,
    now: DateTime<Utc>,
}

impl When {
    pub(super) fn new(time: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        Self { time, now }
    }

    /// Only the time of day.
    pub(super) fn clock(&self) -> String {
        self.time.format("%Y-%m-%d %H:%M:%S UTC").to_string()
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let iso = self.time.to_rfc3339_opts(SecondsFormat::Secs, true);
        let shown = self.time.format("%Y-%m-%d %H:%M");
        let ago = ago(self.now - self.time);
        write!(
            f,
            r#"<time datetime="{iso}" title="{iso}">{shown}</time> <span class="ago" data-time="{iso}">{ago}</span>"#
        )
    }
}

impl HtmlSafe for When {}

/// An age, in words.
pub(super) fn ago(age: TimeDelta) -> String {
    let seconds = age.num_seconds();
    if seconds.abs() < 10 {
        return "now".to_owned();
    }
    let number = seconds.abs();
    let (count, unit) = match number {
        ..60 => (number, "second"),
        60..3_600 => (number / 60, "minute"),
        3_600..86_400 => (number / 3_600, "hour"),
        86_400..2_592_000 => (number / 86_400, "day"),
        2_592_000..31_536_000 => (number / 2_592_000, "month"),
        _ => (number / 31_536_000, "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    if seconds < 0 {
        format!("in {count} {unit}{plural}")
    } else {
        format!("{count} {unit}{plural} ago")
    }
}

/// A duration, in words.
pub(super) fn took(millis: i64) -> String {
    match millis {
        ..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1_000.0),
        _ => format!("{} min {} s", millis / 60_000, millis / 1_000 % 60),
    }
}

/// A number of bytes.
pub(super) fn size(bytes: i64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1_000.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_000_000.0),
    }
}

/// A number with thousands separators.
pub(super) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    if number < 0 { format!("-{shown}") } else { shown }
}

/// An id with a button that copies it, if scripts run.
#[derive(Debug)]
pub(super) struct Id<'t>(pub(super) &'t str);

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = Escaped(self.0);
        write!(f, r#"<code class="id" data-copy="{id}"><bdi>{id}</bdi></code>"#)
    }
}

impl HtmlSafe for Id<'_> {}

/// A bar for a used share, with its value in words.
#[derive(Debug)]
pub(super) struct Bar {
    percent: f64,
    label: String,
}

impl Bar {
    pub(super) fn new(percent: f64, label: impl Into<String>) -> Self {
        Self {
            percent: percent.clamp(0.0, 100.0),
            label: label.into(),
        }
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.percent {
            ..70.0 => "low",
            70.0..90.0 => "mid",
            _ => "high",
        };
        write!(
            f,
            r#"<svg class="bar {level}" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{label}"><rect class="all" width="100" height="6" rx="3"/><rect class="part" width="{percent:.1}" height="6" rx="3"/></svg>"#,
            label = Escaped(&self.label),
            percent = self.percent,
        )
    }
}

impl HtmlSafe for Bar {}

/// HTML of this service, in which external text is escaped.
#[derive(Debug, Default)]
pub(super) struct Markup(pub(super) String);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// The links to the first and the next page of a list.
#[derive(Debug)]
pub(super) struct Pager {
    first: Option<String>,
    next: Option<String>,
}

impl Pager {
    /// `path` with `query` is the list; `cursor` is that of this page and `next` that of the next one.
    pub(super) fn new(
        path: &str,
        query: &[(&str, Option<&str>)],
        cursor: Option<&str>,
        next: Option<&str>,
    ) -> Self {
        let with = |cursor: Option<&str>| {
            let mut all = query.to_vec();
            all.push(("cursor", cursor));
            link::with_query(path, &all)
        };
        Self {
            first: cursor.map(|_| with(None)),
            next: next.map(|next| with(Some(next))),
        }
    }

    /// Sets another URL of the first page.
    pub(super) fn first(mut self, path: String) -> Self {
        self.first = self.first.map(|_| path);
        self
    }
}

impl fmt::Display for Pager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first.is_none() && self.next.is_none() {
            return Ok(());
        }
        f.write_str(r#"<nav class="pager" aria-label="Pages">"#)?;
        if let Some(first) = &self.first {
            write!(f, r#"<a class="button" href="{}">First page</a>"#, Escaped(first))?;
        }
        if let Some(next) = &self.next {
            write!(
                f,
                r#"<a class="button" href="{}" rel="next">Next page</a>"#,
                Escaped(next)
            )?;
        }
        f.write_str("</nav>")
    }
}

impl HtmlSafe for Pager {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_shown_in_the_largest_unit() {
        for (seconds, age) in [
            (0, "now"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (7_200, "2 hours ago"),
            (86_400 * 40, "1 month ago"),
            (-120, "in 2 minutes"),
        ] {
            assert_eq!(ago(TimeDelta::seconds(seconds)), age);
        }
    }

    #[test]
    fn sizes_and_numbers_are_readable() {
        assert_eq!(
            (size(999), size(1_500)),
            ("999 B".to_owned(), "1.5 KB".to_owned())
        );
        assert_eq!(
            (grouped(1_234_567), grouped(-5)),
            ("1,234,567".to_owned(), "-5".to_owned())
        );
        assert_eq!(
            (took(12), took(61_000)),
            ("12 ms".to_owned(), "1 min 1 s".to_owned())
        );
    }

    #[test]
    fn an_id_and_a_page_cannot_break_out_of_their_tags() {
        let hostile = r#"x"><script>'&"#;
        let shown = Id(hostile).to_string();
        assert!(
            !shown.contains("<script") && shown.contains("&lt;script&gt;"),
            "{shown}"
        );
        let pager = Pager::new("/ui", &[("q", Some(hostile))], None, Some("c\"")).to_string();
        assert!(!pager.contains("<script") && !pager.contains("c\""), "{pager}");
    }
}
