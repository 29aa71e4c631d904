//! Identifiers, parsed once at the edge and carried as types from there on.
//!
//! Vault and memory ids stand in URLs: 1–128 of `A–Z a–z 0–9 . _ : @ -`, the first a letter or digit
//! (DESIGN §4). Record ids (`KL-7`) are per memory and kind and never used again (DESIGN §1).

use std::fmt;
use std::str::FromStr;
use strum::{EnumString, IntoStaticStr, VariantNames};
use uuid::Uuid;

/// The longest vault, memory, actor or context id, in bytes.
pub const MAX_ID_BYTES: usize = 128;

/// Why a text is not an identifier. The message is fit to be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be 1 to {MAX_ID_BYTES} of the characters A-Z a-z 0-9 . _ : @ - and begin with a letter or digit"
)]
pub struct InvalidId;

fn check(text: &str) -> Result<(), InvalidId> {
    let bytes = text.as_bytes();
    let first_fits = bytes.first().is_some_and(u8::is_ascii_alphanumeric);
    let rest_fits = bytes
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"._:@-".contains(b));
    if first_fits && rest_fits && bytes.len() <= MAX_ID_BYTES {
        Ok(())
    } else {
        Err(InvalidId)
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                check(text)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl From<Uuid> for $name {
            /// What the service makes: hexadecimal digits and dashes are always an id.
            fn from(id: Uuid) -> Self {
                Self(id.to_string())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// A tenant. Every key of every table begins with it.
    VaultId
);
text_id!(
    /// One memory of a vault: an agent's, or a task's.
    MemoryId
);
text_id!(
    /// One version of a memory's document; the service makes UUIDs of version 7.
    ContextId
);
text_id!(
    /// One run of the update pipeline; the service makes UUIDs of version 7.
    UpdateId
);
text_id!(
    /// One API key. It is no secret: it stands in lists, and in front of the secret in what the holder shows.
    KeyId
);
text_id!(
    /// One prompt item; the service makes UUIDs of version 7.
    ItemId
);
text_id!(
    /// A completed task, as its caller names it.
    TaskId
);
text_id!(
    /// One compiled handoff of a memory; the service makes UUIDs of version 7.
    HandoffId
);
text_id!(
    /// A tree of files of the memory tool, as its caller names it; a vault may have several.
    RootName
);
text_id!(
    /// Who made a version, as the caller names itself.
    ActorId
);

/// The longest category, in characters.
pub const MAX_CATEGORY_CHARS: usize = 128;

/// A category of prompt items, as components choose it, in any language; case counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Category(String);

/// Why a text is not a category. The message is fit to be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be 1 to {MAX_CATEGORY_CHARS} characters, without control or invisible characters, commas, or blanks at its \
     ends"
)]
pub struct InvalidCategory;

impl Category {
    /// The category as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Category {
    type Err = InvalidCategory;

    fn from_str(text: &str) -> Result<Self, InvalidCategory> {
        let fits = !text.is_empty()
            && text.trim().len() == text.len()
            && text.chars().count() <= MAX_CATEGORY_CHARS
            && !text.chars().any(is_unfit_for_category);
        fits.then(|| Self(text.to_owned())).ok_or(InvalidCategory)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Control characters, the ends of lines, what hides or turns text (but not the joiners that some scripts need), and
/// the comma, by which `?include=` separates names.
fn is_unfit_for_category(c: char) -> bool {
    c.is_control()
        || matches!(c, ',' | '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl ActorId {
    /// The actor of a request that names none.
    #[must_use]
    pub fn anonymous() -> Self {
        Self("anonymous".to_owned())
    }
}

/// The kinds of records a document holds (DESIGN §1).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr, VariantNames,
)]
pub enum RecordKind {
    /// `KL`, an entry of `Key Learnings`.
    #[strum(serialize = "KL")]
    Learning,
    /// `VC`, an entry of `Verbatim Context`.
    #[strum(serialize = "VC")]
    Verbatim,
    /// `T`, an entry of `Recent Tasks`.
    #[strum(serialize = "T")]
    Task,
    /// `D`, an entry of `Decisions`.
    #[strum(serialize = "D")]
    Decision,
}

impl RecordKind {
    /// All kinds, in the order of their sections.
    pub const ALL: [Self; 4] = [Self::Learning, Self::Verbatim, Self::Task, Self::Decision];

    /// The letters before the dash.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        self.into()
    }
}

/// A record's id: kind and number, `KL-7`. The number is 1 to 2^63-1, written without leading zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// What kind of record it is.
    pub kind: RecordKind,
    /// Its number within the memory and kind, at least 1.
    pub number: i64,
}

impl RecordId {
    /// The id of a kind and number.
    #[must_use]
    pub fn new(kind: RecordKind, number: i64) -> Self {
        debug_assert!(number >= 1, "record numbers start at 1");
        Self { kind, number }
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind.prefix(), self.number)
    }
}

/// Why a text is not a record id. The message is fit to be shown to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be KL-, VC-, T- or D- and a number from 1 to 9223372036854775807 without leading zeros")]
pub struct InvalidRecordId;

impl FromStr for RecordId {
    type Err = InvalidRecordId;

    /// Reads the exact form; the DSL's lenient spellings are the DSL's business.
    fn from_str(text: &str) -> Result<Self, InvalidRecordId> {
        let (prefix, digits) = text.split_once('-').ok_or(InvalidRecordId)?;
        let kind = prefix.parse().map_err(|_| InvalidRecordId)?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        let number = digits.parse().map_err(|_| InvalidRecordId)?;
        if plain {
            Ok(Self { kind, number })
        } else {
            Err(InvalidRecordId)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_paths_take_the_stated_characters_and_no_others() {
        for good in ["a", "7", "a.b_c:d@e-f", &"x".repeat(128)] {
            assert_eq!(
                good.parse::<VaultId>().map(|id| id.to_string()),
                Ok(good.to_owned())
            );
        }
        for bad in ["", ".a", "-a", "a b", "a/b", "ä", "a\0", &"x".repeat(129)] {
            assert_eq!(bad.parse::<VaultId>(), Err(InvalidId), "{bad:?}");
        }
    }

    #[test]
    fn categories_take_blanks_and_letters_of_any_script() {
        for good in [
            "a",
            "User notes",
            "Überblick",
            "作業 メモ",
            "a/b",
            "1",
            &"ä".repeat(128),
        ] {
            assert_eq!(
                good.parse::<Category>().map(|category| category.to_string()),
                Ok(good.to_owned())
            );
        }
        for bad in [
            "",
            " ",
            " a",
            "a ",
            "a\nb",
            "a\0",
            "a,b",
            "a\u{202e}b",
            "ru\u{200b}les",
            &"ä".repeat(129),
        ] {
            assert_eq!(bad.parse::<Category>(), Err(InvalidCategory), "{bad:?}");
        }
    }

    #[test]
    fn record_ids_read_back_as_written() {
        for good in ["KL-1", "VC-20", "T-3", "D-9223372036854775807"] {
            assert_eq!(
                good.parse::<RecordId>().map(|id| id.to_string()),
                Ok(good.to_owned())
            );
        }
        for bad in [
            "KL-0",
            "KL-01",
            "KL-",
            "kl-1",
            "KL-+1",
            "KL--1",
            "X-1",
            "KL1",
            "KL-9223372036854775808",
            " KL-1",
        ] {
            assert_eq!(bad.parse::<RecordId>(), Err(InvalidRecordId), "{bad:?}");
        }
    }
}
