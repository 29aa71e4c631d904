//! The part that shows date and time.

use chrono::{DateTime, Offset, Utc};
use chrono_tz::Tz;

/// Formats date and time in a zone, to the minute: within one minute the bytes are the same.
pub(super) fn line(time: DateTime<Utc>, zone: Tz) -> String {
    let local = time.with_timezone(&zone);
    let shown = local.format("Current date and time: %A, %Y-%m-%d %H:%M");
    if zone == Tz::UTC {
        return format!("{shown} (UTC)");
    }
    let minutes = local.offset().fix().local_minus_utc() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    format!("{shown} ({}, UTC{sign}{hours:02}:{minutes:02})", zone.name())
}
