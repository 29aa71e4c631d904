//! Cryptographically secure random bytes, for secrets. For ids see [`crate::clock`].

/// 256 random bits from the operating system; `None` if that fails.
#[must_use]
pub fn secret_bytes() -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source.fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_the_same() {
        let secrets: std::collections::HashSet<_> = (0..100).map(|_| secret_bytes().unwrap()).collect();
        assert_eq!(secrets.len(), 100);
    }
}
