//! The vaults that a key may access.

use crate::domain::ids::VaultId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A set of vaults, including vaults that do not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultScope {
    /// Every vault.
    All,
    /// These vaults.
    List(Arc<BTreeSet<VaultId>>),
    /// Vaults whose ids have this prefix. `team` also matches `teammates`; end the prefix with `.` or `:` to
    /// avoid that.
    Prefix(VaultId),
}

impl VaultScope {
    /// Whether the vault is in the set.
    #[must_use]
    pub fn contains(&self, vault: &VaultId) -> bool {
        match self {
            Self::All => true,
            Self::List(vaults) => vaults.contains(vault),
            Self::Prefix(prefix) => vault.as_str().starts_with(prefix.as_str()),
        }
    }

    /// Whether every vault of `other`, existing or not, is in this set.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (_, Self::List(vaults)) => vaults.iter().all(|vault| self.contains(vault)),
            (Self::Prefix(own), Self::Prefix(other)) => other.as_str().starts_with(own.as_str()),
            (Self::List(_), Self::Prefix(_)) | (_, Self::All) => false,
        }
    }

    /// The listed vaults; `None` for other scopes.
    #[must_use]
    pub fn vaults(&self) -> Option<&BTreeSet<VaultId>> {
        match self {
            Self::List(vaults) => Some(vaults),
            Self::All | Self::Prefix(_) => None,
        }
    }

    /// The prefix; `None` for other scopes.
    #[must_use]
    pub fn prefix(&self) -> Option<&VaultId> {
        match self {
            Self::Prefix(prefix) => Some(prefix),
            Self::All | Self::List(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scope() -> impl Strategy<Value = VaultScope> {
        let id = || "[ab]{1,3}".prop_map(|text| text.parse::<VaultId>().unwrap());
        prop_oneof![
            Just(VaultScope::All),
            prop::collection::btree_set(id(), 1..4).prop_map(|vaults| VaultScope::List(vaults.into())),
            id().prop_map(VaultScope::Prefix),
        ]
    }

    proptest! {
        #[test]
        fn a_scope_that_includes_another_contains_its_vaults(
            outer in scope(), inner in scope(), vault in "[ab]{1,4}"
        ) {
            let vault: VaultId = vault.parse().unwrap();
            if outer.includes(&inner) && inner.contains(&vault) {
                prop_assert!(outer.contains(&vault));
            }
        }

        #[test]
        fn every_scope_includes_itself_and_is_included_by_all(scope in scope()) {
            prop_assert!(scope.includes(&scope));
            prop_assert!(VaultScope::All.includes(&scope));
        }
    }

    #[test]
    fn a_list_never_includes_what_is_open_ended() {
        let list = VaultScope::List(BTreeSet::from(["a".parse().unwrap()]).into());
        assert!(!list.includes(&VaultScope::Prefix("a".parse().unwrap())));
        assert!(!list.includes(&VaultScope::All));
        assert!(!VaultScope::Prefix("a".parse().unwrap()).includes(&VaultScope::All));
    }
}
