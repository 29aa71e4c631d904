//! Cryptographically secure random bytes, for secrets. For ids see [`crate::clock`].

/// 256 random bits from the operating system.
///
/// # Panics
/// The operating system gives none; then there are no ids either.
#[must_use]
pub fn secret_bytes() -> [u8; 32] {
    let mut bytes = [0; 32];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source.fill(&mut bytes).expect("randomness of the system");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_the_same() {
        let secrets: std::collections::HashSet<_> = (0..100).map(|_| secret_bytes()).collect();
        assert_eq!(secrets.len(), 100);
    }
}
