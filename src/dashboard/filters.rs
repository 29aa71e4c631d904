//! Filters of templates: numbers, sizes, times and texts in the form in which people read them. Templates escape what they
//! return.

#![expect(unreachable_pub, reason = "methods that `filter_fn` generates")]

use askama::{Result, Values, filter_fn};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use std::fmt::Display;

/// A whole number of any type. A template passes it by value or by reference, so it is read from its text.
fn whole(number: impl Display) -> i64 {
    number.to_string().parse().unwrap_or(i64::MAX)
}

/// A number with thousands separators.
#[filter_fn]
pub(super) fn grouped(number: impl Display, _: &dyn Values) -> Result<String> {
    let number = whole(number);
    let digits = number.unsigned_abs().to_string();
    let mut shown = if number < 0 { "-".to_owned() } else { String::new() };
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    Ok(shown)
}

/// A number of bytes.
#[filter_fn]
pub(super) fn size(bytes: impl Display, _: &dyn Values) -> Result<String> {
    let bytes = whole(bytes);
    Ok(match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1_000.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_000_000.0),
    })
}

/// A duration in milliseconds, in words.
#[filter_fn]
pub(super) fn took(millis: impl Display, _: &dyn Values) -> Result<String> {
    let millis = whole(millis);
    Ok(match millis {
        ..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1_000.0),
        _ => format!("{} min {} s", millis / 60_000, millis / 1_000 % 60),
    })
}

/// The time in ISO 8601, for programs.
#[filter_fn]
pub(super) fn iso(time: &DateTime<Utc>, _: &dyn Values) -> Result<String> {
    let shown = time.to_rfc3339_opts(SecondsFormat::Secs, true);
    Ok(shown)
}

/// The time to the minute.
#[filter_fn]
pub(super) fn minute(time: &DateTime<Utc>, _: &dyn Values) -> Result<String> {
    let shown = time.format("%Y-%m-%d %H:%M");
    Ok(shown.to_string())
}

/// The name of a value in words: `dry_run` as “dry run”.
#[filter_fn]
pub(super) fn words(name: impl Display, _: &dyn Values) -> Result<String> {
    let name = name.to_string();
    Ok(name.replace('_', " "))
}

/// The beginning of a text, with an ellipsis if there is more.
#[filter_fn]
pub(super) fn short(text: &str, _: &dyn Values, most: usize) -> Result<String> {
    if text.len() <= most {
        return Ok(text.to_owned());
    }
    Ok(format!("{}…", &text[..text.floor_char_boundary(most)]))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::filters;
    use askama::Template;

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

    #[derive(Template)]
    #[template(
        source = "{{ bytes|size }}, {{ 1500|size }}, {{ large|grouped }}, {{ -5|grouped }}, {{ 12|took }}, {{ 61000|took }}",
        ext = "txt"
    )]
    struct Numbers {
        bytes: i32,
        large: u64,
    }

    #[test]
    fn sizes_and_numbers_are_readable() {
        let (bytes, large) = (999, 1_234_567);
        let shown = Numbers { bytes, large }.render().unwrap();
        assert_eq!(shown, "999 B, 1.5 KB, 1,234,567, -5, 12 ms, 1 min 1 s");
    }

    #[derive(Template)]
    #[template(
        source = "{% import \"macros.html\" as m %}{{ m::id(id) }}{{ m::pager(pager) }}",
        ext = "html"
    )]
    struct Parts<'t> {
        id: &'t str,
        pager: crate::dashboard::visit::Pager,
    }

    #[test]
    fn an_id_and_a_page_cannot_break_out_of_their_tags() {
        let hostile = r#"x"><script>'&"#;
        let parts = Parts {
            id: hostile,
            pager: crate::dashboard::visit::Pager {
                first: None,
                next: Some(format!("/ui?q={hostile}")),
            },
        };
        let shown = parts.render().unwrap();
        assert!(shown.contains("script") && shown.contains("Next page"), "{shown}");
        assert!(!shown.contains("<script") && !shown.contains("x\""), "{shown}");
    }
}
