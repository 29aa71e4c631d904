//! Grounding: checks which passages of an update's input support each item of a role's answer.
//!
//! Valid syntax is not enough: small models archive records that the task does not concern,
//! and copy the examples of their instructions. So each item of an answer is compared with the update's task
//! and messages (the [`Input`]): by significant words ([`content_words`](crate::domain::text)), by literal
//! text (`verbatim`), and for credentials, which must not be stored. The result is reported as [`Evidence`]: the sentences that
//! share most words.
//!
//! Pure, and linear in the input: the input is indexed once per answer, for the words and texts of that
//! answer.

mod archives;
mod examples;
mod input;
mod judge;
mod verbatim;

pub use archives::name_replaced;
pub use examples::Examples;
pub use input::{Evidence, EvidenceOrigin, Input};
pub use judge::{Judge, JudgeContext, Judged};

use strum::{EnumString, IntoStaticStr, VariantNames};

/// What to do about items that the input does not support, the laxest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, EnumString, IntoStaticStr, VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub enum Strictness {
    /// Nothing is compared and no evidence is reported.
    Off,
    /// They are applied with a warning; items with a credential are rejected.
    Warn,
    /// They are rejected.
    #[default]
    Reject,
}

listed! {
    /// What to do about items of the models' answers that the task and the messages do not support: reject them, apply
    /// them with a warning, or compare nothing.
    Strictness as "EvidenceStrictness";
}
