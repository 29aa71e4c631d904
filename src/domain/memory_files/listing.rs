//! Formats the listing of a directory for `view`: two levels of names with sizes, without hidden entries.

use super::path::FilePath;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many levels of names are shown.
const LEVELS: usize = 2;

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
    /// By their names below the directory. A directory sorts before its content.
    entries: BTreeMap<Vec<String>, Entry>,
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
        let names: Vec<String> = file.segments_below(&self.directory).map(str::to_owned).collect();
        let shown = names.iter().take_while(|name| !name.starts_with('.')).count();
        for level in 1..=shown.min(LEVELS) {
            let entry = self.entries.entry(names[..level].to_vec()).or_default();
            entry.bytes += bytes;
            entry.is_directory |= names.len() > level;
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
        for (names, entry) in &self.entries {
            let (size, path) = (size(entry.bytes), names.join("/"));
            let end = if entry.is_directory { "/" } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(shown, "\n{size}\t{directory}/{path}{end}");
        }
        shown
    }
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
        let files = "b.txt 3|a/y/deep/x 1024|a/x 1|a-b 2|.hidden/x 4|a/.secret 5|B 0";
        for file in files.split('|') {
            let (file, bytes) = file.split_once(' ').unwrap();
            listing.add(&path(&format!("/memories/{file}")), bytes.parse().unwrap());
        }
        assert_eq!(
            listing.render(),
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n\
             1.0K\t/memories\n0B\t/memories/B\n1.0K\t/memories/a/\n1B\t/memories/a/x\n1K\t/memories/a/y/\n\
             2B\t/memories/a-b\n3B\t/memories/b.txt"
        );
    }
}
