//! URLs of pages, with escaped segments.

use crate::domain::ids::{MemoryId, VaultId};
pub(super) use crate::route_request::path;
use url::form_urlencoded::Serializer;

/// The page of a vault, or something below it.
pub(super) fn vault(vault: &str, below: &[&str]) -> String {
    path(&[&["ui", "vaults", vault], below].concat())
}

/// The page of a memory, or something below it.
pub(super) fn memory(vault: &str, memory: &str, below: &[&str]) -> String {
    self::vault(vault, &[&["memories", memory], below].concat())
}

/// The vault and the memory that the path of a page names.
pub(super) fn place(path: &str) -> Option<(&str, Option<&str>)> {
    let mut segments = path.strip_prefix("/ui/vaults/")?.split('/');
    let vault = segments.next().filter(|id| id.parse::<VaultId>().is_ok())?;
    let memory = segments.next().filter(|below| *below == "memories");
    let memory = memory.and_then(|_| segments.next());
    Some((vault, memory.filter(|id| id.parse::<MemoryId>().is_ok())))
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
    fn a_path_names_its_vault_and_memory() {
        assert_eq!(place("/ui/vaults/a/memories/b/edit"), Some(("a", Some("b"))));
        assert_eq!(place("/ui/vaults/a/search"), Some(("a", None)));
        for none in ["/ui/keys", "/ui/vaults/-/memories/b", "/ui/vaults/"] {
            assert_eq!(place(none), None, "{none}");
        }
    }

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
