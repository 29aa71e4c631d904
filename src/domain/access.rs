//! Callers and their permissions (DESIGN §9).
//!
//! A service without API keys is open: every caller is an administrator of every vault.

mod scope;
mod session;
mod token;

pub use scope::VaultScope;
pub use session::SessionToken;
pub use token::{SecretHash, Token};

use crate::domain::ids::{ActorId, KeyId, VaultId};
use chrono::{DateTime, Utc};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The role of a caller; each role includes the permissions of the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum AccessRole {
    /// Read memories.
    Reader,
    /// Read memories and propose changes that somebody else approves.
    Proposer,
    /// Read and change memories.
    Writer,
    /// Everything, including settings of a whole vault, such as rules, and operations that delete history.
    Admin,
}

impl AccessRole {
    /// The name in configuration, requests and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An API key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id in lists and in tokens.
    pub key_id: KeyId,
    /// The name of its holder; the actor of the versions made with it.
    pub name: ActorId,
    /// The role of its holder.
    pub role: AccessRole,
    /// The vaults it may access.
    pub scope: VaultScope,
    /// Whether its holder may name another actor with `X-Actor-Id`.
    pub speaks_for_others: bool,
    /// The name of the key that created it, or another origin.
    pub created_by: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When its secret was last replaced.
    pub rotated_at: Option<DateTime<Utc>>,
    /// When it expires; never if `None`.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}

impl ApiKey {
    /// Whether it is valid at this time.
    #[must_use]
    pub fn is_active(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// The caller of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The role of the caller.
    pub role: AccessRole,
    /// The vaults the caller may access.
    pub scope: VaultScope,
    /// The key that was sent; `None` if the service requires none.
    pub key: Option<ApiKey>,
}

impl Caller {
    /// The caller of a service that requires no keys.
    #[must_use]
    pub fn open() -> Self {
        Self {
            role: AccessRole::Admin,
            scope: VaultScope::All,
            key: None,
        }
    }

    /// The caller that sent a key.
    #[must_use]
    pub fn holder_of(key: ApiKey) -> Self {
        Self {
            role: key.role,
            scope: key.scope.clone(),
            key: Some(key),
        }
    }

    /// Whether the caller has at least this role.
    #[must_use]
    pub fn may(&self, role: AccessRole) -> bool {
        self.role >= role
    }

    /// Whether the caller may see this vault. Otherwise the vault is reported as missing.
    #[must_use]
    pub fn sees(&self, vault: &VaultId) -> bool {
        self.scope.contains(vault)
    }

    /// Identifies the caller, for example for rate limits.
    #[must_use]
    pub fn id(&self) -> &str {
        self.key.as_ref().map_or("anybody", |key| key.key_id.as_str())
    }

    /// The actor of a change, given the actor that the request names. `None` if the caller may not name this
    /// actor.
    #[must_use]
    pub fn actor(&self, named: Option<ActorId>) -> Option<ActorId> {
        match (&self.key, named) {
            (None, named) => Some(named.unwrap_or_else(ActorId::anonymous)),
            (Some(key), None) => Some(key.name.clone()),
            (Some(key), Some(named)) => (key.speaks_for_others || key.name == named).then_some(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(speaks_for_others: bool) -> ApiKey {
        ApiKey {
            key_id: "k1".parse().unwrap(),
            name: "ci".parse().unwrap(),
            role: AccessRole::Writer,
            scope: VaultScope::Prefix("acme.".parse().unwrap()),
            speaks_for_others,
            created_by: "cli".to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            rotated_at: None,
            expires_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn a_role_may_do_what_the_one_before_it_may() {
        let writer = Caller::holder_of(key(false));
        assert!(writer.may(AccessRole::Reader) && writer.may(AccessRole::Writer));
        assert!(!writer.may(AccessRole::Admin));
        assert!(Caller::open().may(AccessRole::Admin));
    }

    #[test]
    fn an_actor_is_the_keys_name_unless_its_holder_may_speak_for_others() {
        let named = |name: &str| name.parse::<ActorId>().ok();
        let own = Caller::holder_of(key(false));
        assert_eq!(own.actor(None), named("ci"));
        assert_eq!(own.actor(named("ci")), named("ci"));
        assert_eq!(own.actor(named("boss")), None);
        let others = Caller::holder_of(key(true));
        assert_eq!(others.actor(named("boss")), named("boss"));
        assert_eq!(others.actor(None), named("ci"));
        assert_eq!(Caller::open().actor(named("boss")), named("boss"));
        assert_eq!(Caller::open().actor(None), Some(ActorId::anonymous()));
    }

    #[test]
    fn a_key_is_valid_until_it_expires_or_is_revoked() {
        let (now, later) = (
            DateTime::UNIX_EPOCH,
            DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(1),
        );
        let mut key = key(false);
        assert!(key.is_active(now));
        key.expires_at = Some(later);
        assert!(key.is_active(now) && !key.is_active(later));
        key.revoked_at = Some(now);
        assert!(!key.is_active(now));
    }

    #[test]
    fn every_role_is_found_by_its_name() {
        for name in AccessRole::VARIANTS {
            assert_eq!(name.parse().map(AccessRole::name), Ok(*name));
        }
        assert!("root".parse::<AccessRole>().is_err());
    }
}
