//! Enumerations by the names of their values, in parameters, bodies and responses. The OpenAPI document takes the
//! names from the type itself, so it cannot miss one.

use crate::domain::access::AccessRole;
use crate::domain::evidence::Strictness;
use crate::domain::history::ChangeKind;
use crate::domain::ids::RecordKind;
use crate::domain::memory::Collapse;
use crate::domain::operation::Role;
use crate::domain::prompt::PartSource;
use crate::domain::window::Grouping;
use crate::pipeline::{ModeKind, OnInvalid, meaning};
use crate::storage::Source;
use crate::storage::events::EventKind;
use crate::storage::records::RecordStatus;
use crate::storage::updates::{RunKind, RunStatus};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::str::FromStr;
use strum::VariantNames;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// An enumeration of the API.
pub(crate) trait Listed: VariantNames {
    /// The name of its schema.
    const NAME: &'static str;
    /// The description of its schema.
    const DESCRIPTION: &'static str;
}

/// A value of an enumeration, which is parsed, written and documented by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Named<T>(pub(crate) T);

impl<T: Listed> PartialSchema for Named<T> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(T::DESCRIPTION))
            .enum_values(Some(T::VARIANTS.iter().copied()))
            .into()
    }
}

impl<T: Listed> ToSchema for Named<T> {
    fn name() -> Cow<'static, str> {
        T::NAME.into()
    }
}

impl<T: Copy + Into<&'static str>> Display for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.into())
    }
}

impl<T: Copy + Into<&'static str>> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.into())
    }
}

impl<'de, T: Listed + FromStr> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        let value = name
            .parse()
            .map_err(|_| D::Error::unknown_variant(&name, T::VARIANTS))?;
        Ok(Self(value))
    }
}

/// Declares the schema of an enumeration and a type alias for its values.
macro_rules! listed {
    ($($(#[doc = $doc:literal])+ $visibility:vis $name:ident of $type:ty as $schema:literal;)+) => {$(
        impl $crate::http::names::Listed for $type {
            const NAME: &'static str = $schema;
            const DESCRIPTION: &'static str = concat!($($doc),+).trim_ascii();
        }

        $(#[doc = $doc])+
        $visibility type $name = $crate::http::names::Named<$type>;
    )+};
}

pub(in crate::http) use listed;

listed! {
    /// What a version did to a record.
    pub(crate) ChangeKindName of ChangeKind as "ChangeKind";
    /// What to do about items of the models' answers that the task and the messages do not support: reject them, apply
    /// them with a warning, or compare nothing.
    pub(crate) StrictnessName of Strictness as "EvidenceStrictness";
    /// What a text can lose.
    pub(crate) CollapseKind of Collapse as "PutWarningKind";
    /// What an event can tell of.
    pub(crate) EventKindName of EventKind as "EventKind";
    /// The values of `by`.
    pub(crate) GroupingName of Grouping as "Grouping";
    /// What becomes of the operations: they are saved, or wait for somebody to approve them.
    pub(crate) ModeName of ModeKind as "Mode";
    /// What to do about items that stay faulty: drop them and apply the rest, or save nothing.
    pub(crate) OnInvalidName of OnInvalid as "OnInvalid";
    /// What a part can be made of.
    pub(crate) PartSourceName of PartSource as "PromptPartSource";
    /// The kinds of records.
    pub(crate) RecordKindName of RecordKind as "RecordKind";
    /// Whether a record is in the newest version.
    pub(crate) RecordStatusName of RecordStatus as "RecordStatus";
    /// A section that is updated, and the model that updates it.
    pub(crate) RoleName of Role as "Role";
    /// What the holder of a key may do; each role may do what the one before it may.
    pub(crate) AccessRoleName of AccessRole as "KeyRole";
    /// The routes a run can come by.
    pub(crate) RunKindName of RunKind as "RunKind";
    /// Where a run can stand, and how it can end.
    pub(crate) RunStatusName of RunStatus as "RunStatus";
    /// The values of `mode`.
    pub(crate) SearchModeName of meaning::Mode as "SearchMode";
    /// What can make a version.
    pub(crate) SourceName of Source as "Source";
}
