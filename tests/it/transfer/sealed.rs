//! Files changed by hand with corrected hashes, so that the checks after the hash are tested.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The lines of a file, to be changed.
pub(super) struct File(pub(super) Vec<Value>);

impl File {
    pub(super) fn of(text: &str) -> Self {
        Self(
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
        )
    }

    /// The index of the first line of a kind.
    pub(super) fn first(&self, kind: &str) -> usize {
        self.0.iter().position(|line| line.get(kind).is_some()).unwrap()
    }

    /// The file with hashes that match its lines.
    pub(super) fn sealed(mut self) -> String {
        let mut text = String::new();
        let mut hash = Sha256::new();
        for line in &mut self.0 {
            if line.get("memory").is_some() {
                hash = Sha256::new();
            }
            if line.get("end").is_some() {
                let digest = hash.clone().finalize();
                let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                line["end"]["sha256"] = json!(digits);
            }
            let written = format!("{line}\n");
            hash.update(&written);
            text.push_str(&written);
        }
        text
    }
}
