//! Who asks, and what they may do (DESIGN §9).
//!
//! A service without API keys is open: whoever reaches it is an administrator of every vault.

/// What a caller may do; each role may do what the one before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessRole {
    /// Read memories.
    Reader,
    /// Read and change them.
    Writer,
    /// Everything, also what is set for a whole vault, such as rules.
    Admin,
}

impl AccessRole {
    /// Its name in configuration, requests and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Writer => "writer",
            Self::Admin => "admin",
        }
    }
}

/// Who makes a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What the caller may do.
    pub role: AccessRole,
}

impl Caller {
    /// Anybody, at a service that asks for no keys.
    #[must_use]
    pub fn open() -> Self {
        Self {
            role: AccessRole::Admin,
        }
    }

    /// Whether the caller may do what `role` may.
    #[must_use]
    pub fn may(&self, role: AccessRole) -> bool {
        self.role >= role
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_may_do_what_the_one_before_it_may() {
        let writer = Caller {
            role: AccessRole::Writer,
        };
        assert!(writer.may(AccessRole::Reader) && writer.may(AccessRole::Writer));
        assert!(!writer.may(AccessRole::Admin));
        assert!(Caller::open().may(AccessRole::Admin));
    }
}
