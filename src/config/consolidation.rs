//! `[consolidation]`: how much of a memory one run may archive, and when runs begin by themselves. By default none does.

use super::values::section;

section! {
    /// When memories are consolidated, and how far.
    pub struct ConsolidationConfig in "consolidation" {
        /// Of the active records of a section, the share that one run may archive: over 0 to 1; at least one record.
        pub max_share: f64 = 0.2;
        /// A memory is consolidated by itself when this many records are new since its last run; the steps are proposed.
        /// 0: never.
        pub after_records: u32 = 0;
        /// A memory is consolidated by itself when its document is this full, in percent of `limits.context_bytes`, and ten
        /// records are new since its last run; the steps are proposed. 0: never.
        pub at_percent: u32 = 0, in 0..=100;
        /// Whether records are archived when they have expired.
        #[serde(deserialize_with = "super::values::flag")]
        pub archive_expired: bool = false;
        /// Not a setting; tests shorten it. Seconds between two looks for memories that are due.
        #[serde(skip)]
        pub poll_seconds: u32 = 60;
    }
}

impl ConsolidationConfig {
    /// Whether runs begin by themselves.
    #[must_use]
    pub fn is_automatic(&self) -> bool {
        self.after_records > 0 || self.at_percent > 0
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        self.ranges()?;
        match self.max_share > 0.0 && self.max_share <= 1.0 {
            true => Ok(()),
            false => Err("consolidation.max_share must be over 0 and at most 1".to_owned()),
        }
    }
}
