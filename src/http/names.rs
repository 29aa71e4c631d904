//! Schemas of the strings that name an enumeration's values: the values are taken from the type that answers hold, so
//! that the documentation cannot miss one.

use crate::domain::history::ChangeKind;
use crate::domain::ids::RecordKind;
use crate::storage::Source;
use crate::storage::events::EventKind;
use crate::storage::records::RecordStatus;
use crate::storage::updates::{RunKind, RunStatus};
use std::borrow::Cow;
use strum::VariantNames;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! names {
    ($($(#[doc = $doc:literal])+ $name:ident of $type:ty;)+) => {$(
        $(#[doc = $doc])+
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .description(Some(concat!($($doc),+).trim()))
                    .enum_values(Some(<$type as VariantNames>::VARIANTS.iter().copied()))
                    .into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($type).into()
            }
        }
    )+};
}

names! {
    /// What a version did to a record.
    ChangeKindName of ChangeKind;
    /// What an event can tell of.
    EventKindName of EventKind;
    /// The kinds of records.
    RecordKindName of RecordKind;
    /// Whether a record is in the newest version.
    RecordStatusName of RecordStatus;
    /// The routes a run can come by.
    RunKindName of RunKind;
    /// Where a run can stand, and how it can end.
    RunStatusName of RunStatus;
    /// What can make a version.
    SourceName of Source;
}
