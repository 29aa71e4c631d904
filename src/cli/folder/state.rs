//! The state of a folder: a small JSON file in it.

use super::tree::{Lock, Tree};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::io;

/// Reads the file of a state; `None` if there is none.
///
/// # Errors
/// It cannot be read; one that has another form is [`io::ErrorKind::InvalidData`].
pub(in crate::cli) fn read<T: DeserializeOwned>(tree: &Tree, name: &str) -> io::Result<Option<T>> {
    let Some(bytes) = tree.read(name)? else {
        return Ok(None);
    };
    let state = serde_json::from_slice(&bytes);
    state
        .map(Some)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Writes it atomically.
///
/// # Errors
/// An I/O error.
pub(in crate::cli) fn write(lock: &Lock<'_>, name: &str, state: &impl Serialize) -> io::Result<()> {
    let mut json = serde_json::to_vec_pretty(state)?;
    json.push(b'\n');
    lock.replace(name, &json)
}

/// The hash by which texts are compared.
pub(in crate::cli) fn hash(text: &[u8]) -> String {
    hex::encode(Sha256::digest(text))
}
