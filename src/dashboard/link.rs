//! URLs of pages and routes, with escaped segments.

use std::fmt::Write as _;
use url::form_urlencoded::Serializer;

/// A path of these segments: `path(&["ui", "vaults", vault])`.
pub(super) fn path(segments: &[&str]) -> String {
    let mut path = String::new();
    for segment in segments {
        path.push('/');
        for byte in segment.bytes() {
            if byte.is_ascii_alphanumeric() || b"._~:@-".contains(&byte) {
                path.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    path
}

/// The page of a vault, or something below it.
pub(super) fn vault(vault: &str, below: &[&str]) -> String {
    let mut segments = vec!["ui", "vaults", vault];
    segments.extend(below);
    path(&segments)
}

/// The page of a memory, or something below it.
pub(super) fn memory(vault: &str, memory: &str, below: &[&str]) -> String {
    let mut segments = vec!["ui", "vaults", vault, "memories", memory];
    segments.extend(below);
    path(&segments)
}

/// A path with these parameters; those without a value are omitted.
pub(super) fn with_query(path: &str, query: &[(&str, Option<&str>)]) -> String {
    let mut written = Serializer::new(String::new());
    let mut any = false;
    for (name, value) in query {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            written.append_pair(name, value);
            any = true;
        }
    }
    if any {
        format!("{path}?{}", written.finish())
    } else {
        path.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_a_url_are_escaped() {
        assert_eq!(path(&["ui", "a/b", "\"><x"]), "/ui/a%2Fb/%22%3E%3Cx");
        assert_eq!(memory("v", "m", &["raw"]), "/ui/vaults/v/memories/m/raw");
        assert_eq!(
            with_query("/ui", &[("q", Some("a&b")), ("c", None)]),
            "/ui?q=a%26b"
        );
        assert_eq!(with_query("/ui", &[("q", Some(""))]), "/ui");
    }
}
