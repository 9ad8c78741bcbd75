//! One key, derived from whatever secret its owner keeps.

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha512;
use zeroize::Zeroize;

use super::HINT;

/// Least length of the secret a key is made of, in bytes.
const LEAST: usize = 32;

/// A secret key for [`Keyring`](super::Keyring). It is wiped from memory when dropped, and never shown.
pub struct SealKey {
    pub(super) secret: [u8; 64],
    /// Tells keys apart. It is derived beside the key, and tells nothing about it.
    pub(super) hint: [u8; HINT],
}

impl SealKey {
    /// Derives a key from secret bytes of any length from 32 on, by HKDF with SHA-512.
    ///
    /// The same bytes give the same key, on every machine. They must come from a source of secrets,
    /// such as 32 random bytes from a file; a password a person made up is none.
    ///
    /// # Errors
    /// When there are fewer than 32 bytes.
    ///
    /// ```
    /// use oxmcp_proto::SealKey;
    ///
    /// let secret: [u8; 32] = *b"thirty-two bytes kept in a vault";
    /// let key = SealKey::from_bytes(&secret)?;
    /// assert_eq!(format!("{key:?}"), "SealKey(..)");
    /// assert!(SealKey::from_bytes(b"short").is_err());
    /// # Ok::<(), oxmcp_proto::SealKeyError>(())
    /// ```
    pub fn from_bytes(secret: &[u8]) -> Result<Self, SealKeyError> {
        if secret.len() < LEAST {
            return Err(SealKeyError { length: secret.len() });
        }
        let derivation = Hkdf::<Sha512>::new(Some(b"oxmcp request state 1"), secret);
        let mut key = Self {
            secret: [0; 64],
            hint: [0; HINT],
        };
        for (label, out) in [(&b"key"[..], &mut key.secret[..]), (b"hint", &mut key.hint[..])] {
            derivation
                .expand(label, out)
                .unwrap_or_else(|_| unreachable!("only more than 16320 bytes are an error"));
        }
        Ok(key)
    }
}

impl Drop for SealKey {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(..)")
    }
}

/// The secret is too short to make a key of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealKeyError {
    length: usize,
}

impl fmt::Display for SealKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a key is made of at least {LEAST} secret bytes, and these are {}",
            self.length
        )
    }
}

impl std::error::Error for SealKeyError {}
