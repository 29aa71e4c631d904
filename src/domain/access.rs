//! Who asks, and what they may do (DESIGN §9).
//!
//! A service without API keys is open: whoever reaches it is an administrator of every vault.

mod scope;
mod session;
mod token;

pub use scope::VaultScope;
pub use session::SessionToken;
pub use token::{SecretHash, Token};

use crate::domain::ids::{ActorId, KeyId, VaultId};
use chrono::{DateTime, Utc};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// What a caller may do; each role may do what the one before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum AccessRole {
    /// Read memories.
    Reader,
    /// Read them, and propose changes that somebody else approves.
    Proposer,
    /// Read and change them.
    Writer,
    /// Everything, also what is set for a whole vault, such as rules, and what takes history away.
    Admin,
}

impl AccessRole {
    /// Its name in configuration, requests and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An API key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Names it in lists and in front of its secret.
    pub key_id: KeyId,
    /// Who holds it; the actor of the versions its holder makes.
    pub name: ActorId,
    /// What its holder may do.
    pub role: AccessRole,
    /// In which vaults.
    pub scope: VaultScope,
    /// Whether its holder may name another actor with `X-Actor-Id`.
    pub speaks_for_others: bool,
    /// The name of the key that made it, or what else did.
    pub created_by: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last got a new secret.
    pub rotated_at: Option<DateTime<Utc>>,
    /// From when on it is not taken any more; for ever if `None`.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}

impl ApiKey {
    /// Whether it is taken at this time.
    #[must_use]
    pub fn is_active(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// Who makes a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What the caller may do.
    pub role: AccessRole,
    /// In which vaults.
    pub scope: VaultScope,
    /// The key that was shown; `None` at a service that asks for none.
    pub key: Option<ApiKey>,
}

impl Caller {
    /// Anybody, at a service that asks for no keys.
    #[must_use]
    pub fn open() -> Self {
        Self {
            role: AccessRole::Admin,
            scope: VaultScope::All,
            key: None,
        }
    }

    /// The holder of a key.
    #[must_use]
    pub fn holder_of(key: ApiKey) -> Self {
        Self {
            role: key.role,
            scope: key.scope.clone(),
            key: Some(key),
        }
    }

    /// Whether the caller may do what `role` may.
    #[must_use]
    pub fn may(&self, role: AccessRole) -> bool {
        self.role >= role
    }

    /// Whether the caller may know that this vault is there. If not, it is answered as one that is not.
    #[must_use]
    pub fn sees(&self, vault: &VaultId) -> bool {
        self.scope.contains(vault)
    }

    /// What tells this caller's requests from those of others.
    #[must_use]
    pub fn id(&self) -> &str {
        self.key.as_ref().map_or("anybody", |key| key.key_id.as_str())
    }

    /// Who made what this caller makes, if `named` says that it was somebody. `None`: the caller may not say so.
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
    fn a_key_is_taken_until_it_expires_or_is_revoked() {
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
