//! Sealed `requestState`: what a server hands to a client between the rounds of one call, so that
//! the client can carry it but neither read, change, keep nor misuse it.
//!
//! | part of the text | bytes | holds |
//! | --- | --- | --- |
//! | version | 1 | 1 |
//! | hint | 4 | which key sealed it; no secret |
//! | tag | 16 | authenticates all of the text, the principal and the request |
//! | sealed | 8 + n | when it expires, in milliseconds since 1970, and the payload |
//!
//! The whole is written in base64url without padding. The cipher is AES-SIV (RFC 5297) with a
//! 512 bit key, which needs no randomness. What that reveals: sealing the same payload for the same
//! principal, request and time of expiry with the same key gives the same text, so whoever sees two
//! texts can tell whether they hold the same; and the length of a payload shows. Nothing else does.
//!
//! A seal does not make a state usable once only: until it expires, the same principal can present
//! it again with the same request.

mod key;

use std::fmt;
use std::sync::Arc;

use aes_siv::KeyInit;
use aes_siv::siv::Aes256Siv;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha512};

pub use key::{SealKey, SealKeyError};

const VERSION: u8 = 1;
const HINT: usize = 4;
const HEAD: usize = 1 + HINT;
const TAG: usize = 16;
const EXPIRY: usize = 8;

/// Longest text that is looked at, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// Longest payload whose text is within [`MAX_TEXT`].
pub(crate) const MAX_PAYLOAD: usize = MAX_TEXT / 4 * 3 - HEAD - TAG - EXPIRY;

/// Keys that open seals, the first of which makes them.
///
/// All servers that answer for one another need the same keys. To change the key, start them with
/// the new key and the old one beside it, and drop the old one when the last state sealed with it
/// has expired.
///
/// ```
/// use oxmcp_proto::{Keyring, SealKey};
///
/// # fn secret(name: &str) -> Vec<u8> { name.repeat(8).into_bytes() }
/// let keys = Keyring::new(SealKey::from_bytes(&secret("new "))?).with_old(SealKey::from_bytes(&secret("old "))?);
/// assert_eq!(format!("{keys:?}"), "Keyring { keys: 2, .. }");
/// # Ok::<(), oxmcp_proto::SealKeyError>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    keys: Vec<Arc<SealKey>>,
}

/// What a seal is bound to: presented for another principal or another request, it does not open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound<'a> {
    /// Who made the request; empty where nobody is authenticated.
    pub(crate) principal: &'a str,
    /// The canonical text of the request's method and parameters.
    pub(crate) request: &'a str,
}

/// Why a text does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is no text that was ever sealed.
    Malformed,
    /// It was changed, or sealed with another key, for another principal or for another request.
    WrongKeyOrRequest,
    /// Its time is over.
    Expired,
}

/// The payload is longer than [`MAX_PAYLOAD`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PayloadTooLarge(pub(crate) usize);

impl Keyring {
    /// A ring of one key.
    pub fn new(current: SealKey) -> Self {
        Self {
            keys: vec![Arc::new(current)],
        }
    }

    /// Adds a key that opens seals and makes none.
    #[must_use]
    pub fn with_old(mut self, key: SealKey) -> Self {
        self.keys.push(Arc::new(key));
        self
    }

    /// Seals `payload` until `expires_unix_millis`.
    pub(crate) fn seal(
        &self,
        bound: &Bound<'_>,
        expires_unix_millis: u64,
        payload: &[u8],
    ) -> Result<String, PayloadTooLarge> {
        if payload.len() > MAX_PAYLOAD {
            return Err(PayloadTooLarge(payload.len()));
        }
        let key = &self.keys[0];
        let mut text = [&[VERSION][..], &key.hint].concat();
        let plain = [&expires_unix_millis.to_be_bytes()[..], payload].concat();
        let sealed = Aes256Siv::new(&key.secret.into())
            .encrypt(headers(&text, bound), &plain)
            .unwrap_or_else(|_| unreachable!("only more than 126 headers are an error"));
        text.extend_from_slice(&sealed);
        Ok(URL_SAFE_NO_PAD.encode(text))
    }

    /// The payload of `text`. At the time of expiry itself it is refused.
    pub(crate) fn open(&self, bound: &Bound<'_>, now_unix_millis: u64, text: &str) -> Result<Vec<u8>, Refusal> {
        if text.len() > MAX_TEXT {
            return Err(Refusal::Malformed);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Refusal::Malformed)?;
        if bytes.len() < HEAD + TAG + EXPIRY || bytes[0] != VERSION {
            return Err(Refusal::Malformed);
        }
        let (head, sealed) = bytes.split_at(HEAD);
        let mut plain = self
            .candidates(&head[1..])
            .find_map(|key| {
                Aes256Siv::new(&key.secret.into())
                    .decrypt(headers(head, bound), sealed)
                    .ok()
            })
            .ok_or(Refusal::WrongKeyOrRequest)?;
        let payload = plain.split_off(EXPIRY);
        let expires = u64::from_be_bytes(plain.try_into().unwrap_or_default());
        if now_unix_millis >= expires {
            return Err(Refusal::Expired);
        }
        Ok(payload)
    }

    /// The keys the hint names, then the others: a hint saves work and decides nothing.
    fn candidates(&self, hint: &[u8]) -> impl Iterator<Item = &SealKey> {
        let all = || self.keys.iter().map(AsRef::as_ref);
        let named = all().filter(move |key| key.hint == hint);
        named.chain(all().filter(move |key| key.hint != hint))
    }
}

fn headers<'a>(head: &'a [u8], bound: &Bound<'a>) -> [&'a [u8]; 3] {
    [head, bound.principal.as_bytes(), bound.request.as_bytes()]
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring")
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Malformed => "the request state is no text that this server made",
            Refusal::WrongKeyOrRequest => {
                "the request state was changed, or belongs to another request, user or server"
            }
            Refusal::Expired => "the request state has expired; start the request anew, without it",
        })
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for PayloadTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(length) = self;
        write!(
            f,
            "the state to be kept between the rounds of a call has {length} bytes, and at most {MAX_PAYLOAD} are possible"
        )
    }
}

impl std::error::Error for PayloadTooLarge {}

/// A short name for a text of these parts: another text has another one.
pub(crate) fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha512::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    URL_SAFE_NO_PAD.encode(&hash.finalize()[..16])
}

#[cfg(test)]
mod tests;
