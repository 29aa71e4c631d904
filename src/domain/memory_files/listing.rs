//! Formats the listing of a directory for `view`: two levels of names with sizes, without hidden entries.

use super::path::FilePath;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A name of the first level, and optionally one of the second. A directory sorts before its content.
type EntryPath = (String, Option<String>);

/// An entry of the listing.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    bytes: u64,
    is_directory: bool,
}

/// Collects the files of a directory, in any order.
#[derive(Debug)]
pub struct Listing {
    directory: FilePath,
    bytes: u64,
    files: u64,
    entries: BTreeMap<EntryPath, Entry>,
}

impl Listing {
    /// A directory without files.
    #[must_use]
    pub fn of(directory: FilePath) -> Self {
        Self {
            directory,
            bytes: 0,
            files: 0,
            entries: BTreeMap::new(),
        }
    }

    /// Adds a file below the directory.
    pub fn add(&mut self, file: &FilePath, bytes: u64) {
        self.bytes += bytes;
        self.files += 1;
        let mut segments = file.segments_below(&self.directory);
        let Some(first) = segments.next().filter(|name| is_shown(name)) else {
            return;
        };
        let second = segments.next();
        let deeper = segments.next().is_some();
        self.count((first.to_owned(), None), bytes, second.is_some());
        if let Some(second) = second.filter(|name| is_shown(name)) {
            self.count((first.to_owned(), Some(second.to_owned())), bytes, deeper);
        }
    }

    /// Whether the directory exists: it contains a file, or it is the root.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.files > 0 || self.directory.is_root()
    }

    /// Formats the listing for the model.
    #[must_use]
    pub fn render(&self) -> String {
        let Self { directory, bytes, .. } = self;
        let mut shown = format!(
            "Here're the files and directories up to 2 levels deep in {directory}, excluding hidden items:\n\
             {}\t{directory}",
            size(*bytes)
        );
        for ((first, second), entry) in &self.entries {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\n{}\t{directory}/{first}", size(entry.bytes));
            if let Some(second) = second {
                let _ = write!(shown, "/{second}");
            }
            if entry.is_directory {
                shown.push('/');
            }
        }
        shown
    }

    fn count(&mut self, place: EntryPath, bytes: u64, is_directory: bool) {
        let entry = self.entries.entry(place).or_default();
        entry.bytes += bytes;
        entry.is_directory |= is_directory;
    }
}

fn is_shown(name: &str) -> bool {
    !name.starts_with('.')
}

/// Formats a size in the largest unit with a value of at least 1, with one decimal unless it is whole.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "K", "M", "G"];
    let tens = bytes.checked_ilog2().unwrap_or_default() / 10;
    let unit = usize::try_from(tens).unwrap_or_default().min(UNITS.len() - 1);
    let whole = 1_u64 << (10 * unit);
    if bytes.is_multiple_of(whole) {
        return format!("{}{}", bytes / whole, UNITS[unit]);
    }
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let size = bytes as f64 / whole as f64;
    format!("{size:.1}{}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::parse(text).unwrap()
    }

    #[test]
    fn sizes_are_those_of_the_reference() {
        for (bytes, shown) in [
            (0, "0B"),
            (1, "1B"),
            (1_023, "1023B"),
            (1_024, "1K"),
            (1_025, "1.0K"),
            (1_280, "1.2K"),
            (1_536, "1.5K"),
            (1_792, "1.8K"),
            (1_048_575, "1024.0K"),
            (1_048_576, "1M"),
            (3 << 30, "3G"),
            (5 << 40, "5120G"),
        ] {
            assert_eq!(size(bytes), shown, "{bytes}");
        }
    }

    #[test]
    fn two_levels_are_shown_by_name_each_directory_before_what_is_in_it() {
        let mut listing = Listing::of(path("/memories"));
        for (file, bytes) in [
            ("/memories/b.txt", 3),
            ("/memories/a/y/deep/x", 1_024),
            ("/memories/a/x", 1),
            ("/memories/a-b", 2),
            ("/memories/.hidden/x", 4),
            ("/memories/a/.secret", 5),
            ("/memories/B", 0),
        ] {
            listing.add(&path(file), bytes);
        }
        assert_eq!(
            listing.render(),
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n\
             1.0K\t/memories\n0B\t/memories/B\n1.0K\t/memories/a/\n1B\t/memories/a/x\n1K\t/memories/a/y/\n\
             2B\t/memories/a-b\n3B\t/memories/b.txt"
        );
    }
}
