//! Callers and their permissions (DESIGN §9).
//!
//! A service without API keys is open: every caller is an administrator of every vault.
//!
//! API tokens: `wm_<key_id>_<secret>`.
//!
//! The prefix makes tokens recognisable to people and secret scanners. The id finds the key without revealing
//! the secret. The secret is 256 random bits in hexadecimal, and only the SHA-256 of the token is stored: a
//! slow hash protects secrets that people choose, which can be guessed; 256 random bits cannot be guessed,
//! however fast the hash is.
//!
//! The session token in a browser's cookie: 256 random bits in hexadecimal. As for API keys, only its SHA-256
//! is stored.
//!
//! The CSRF token of a form is derived from the session token, so it needs no storage and is valid only in
//! the same browser session.

use crate::domain::ids::{ActorId, KeyId, VaultId};
use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;
use strum::{EnumString, IntoStaticStr, VariantNames};
use subtle::ConstantTimeEq;

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

listed! {
    /// What the holder of a key may do; each role may do what the one before it may.
    AccessRole as "KeyRole";
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

/// How long an old secret may remain valid after a rotation, in seconds: thirty days.
pub const MAX_GRACE: u32 = 30 * 86_400;

const BEGINNING: &str = "wm_";

/// Whether a text is 256 bits in hexadecimal.
fn is_secret(text: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == 64 && text.bytes().all(is_digit)
}

/// A token as its holder sends it. `Debug` does not show it.
#[derive(Debug, Clone)]
pub struct Token {
    key_id: KeyId,
    text: SecretString,
}

impl Token {
    /// Creates the token of a key from a secret.
    #[must_use]
    pub fn new(key_id: KeyId, secret: &[u8; 32]) -> Self {
        let text = format!("{BEGINNING}{key_id}_{}", hex::encode(secret));
        Self {
            key_id,
            text: text.into(),
        }
    }

    /// Parses a token; `None` if it does not have the form of one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (key_id, secret) = text.strip_prefix(BEGINNING)?.rsplit_once('_')?;
        if !is_secret(secret) {
            return None;
        }
        Some(Self {
            key_id: key_id.parse().ok()?,
            text: text.into(),
        })
    }

    /// The id of the key that the token names.
    #[must_use]
    pub fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// The hash to store.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(self.text.expose_secret())
    }

    /// The token itself, to be shown once to its holder.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }
}

/// The SHA-256 of a token.
#[derive(Debug, Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Hashes a text with enough entropy.
    fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Reads a stored hash; `None` if the length is wrong.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares two hashes in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// Prefix for deriving the form token, so that the form token reveals nothing about the stored hash.
const FORM: &str = "form of ";

/// A session token. `Debug` does not show it.
#[derive(Debug, Clone)]
pub struct SessionToken(SecretString);

impl SessionToken {
    /// Creates the token from a secret.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hex::encode(secret).into())
    }

    /// Parses what a browser sent; `None` if it does not have the form of a session token.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_secret(text).then(|| Self(text.into()))
    }

    /// The hash to store.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(self.expose())
    }

    /// The CSRF token of the session's forms.
    #[must_use]
    pub fn form_token(&self) -> String {
        hex::encode(Sha256::digest(format!("{FORM}{}", self.expose())))
    }

    /// The token itself, for the browser's cookie.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
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

    #[test]
    fn what_has_not_the_form_of_a_token_is_none() {
        let digits = "ab".repeat(32);
        let all = "|wm_|wm_DIGITS|wm__DIGITS|wx_k_DIGITS|wm_k_DIGITS0|wm_.k_DIGITS| wm_k_DIGITS|wm_k_OTHER|wm_k_UPPER";
        let all = all
            .replace("DIGITS", &digits)
            .replace("UPPER", &digits.to_uppercase());
        for bad in all.replace("OTHER", &"zz".repeat(32)).split('|') {
            assert!(Token::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_session_reads_back_and_neither_its_forms_nor_what_debug_shows_tell_it() {
        let session = SessionToken::new(&[0xab; 32]);
        let read = SessionToken::parse(session.expose()).unwrap();
        assert!(read.hash().matches(&session.hash()));
        assert_eq!(read.form_token(), session.form_token());
        assert_ne!(read.form_token(), SessionToken::new(&[0xac; 32]).form_token());
        assert_ne!(session.form_token(), session.expose());
        let token = Token::new("0a1b2c".parse().unwrap(), &[0xab; 32]);
        assert!(!format!("{session:?} {token:?}").contains("abab"));
    }

    #[test]
    fn what_has_not_the_form_of_a_session_is_none() {
        let digits = "ab".repeat(32);
        let (upper, long, blank) = (digits.to_uppercase(), format!("{digits}0"), format!(" {digits}"));
        for bad in ["", "x", &digits[1..], &upper, &long, &blank] {
            assert!(SessionToken::parse(bad).is_none(), "{bad}");
        }
    }
}
