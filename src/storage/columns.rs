//! Decodes identifiers and names from text columns. `sqlx.toml` maps columns to types.

use crate::domain::access::{AccessRole, SecretHash};
use crate::domain::handoff::{CitedLine, Window};
use crate::domain::history::ChangeKind;
use crate::domain::ids::{
    ActorId, Category, ContextId, HandoffId, ItemId, KeyId, MemoryId, RecordId, RecordKind, RootName, TaskId,
    UpdateId, VaultId,
};
use crate::domain::memory_files::FilePath;
use crate::storage::contexts::Source;
use crate::storage::events::EventKind;
use crate::storage::records::RecordStatus;
use crate::storage::updates::{RunKind, RunStatus};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArgumentBuffer;
use sqlx::postgres::{PgHasArrayType, PgTypeInfo, PgValueRef};
use sqlx::types::Json;
use sqlx::{Decode, Encode, Postgres, Type};

macro_rules! read_as_text {
    ($($type:ty),+ $(,)?) => {$(
        impl Type<Postgres> for $type {
            fn type_info() -> PgTypeInfo {
                <str as Type<Postgres>>::type_info()
            }

            fn compatible(column: &PgTypeInfo) -> bool {
                <str as Type<Postgres>>::compatible(column)
            }
        }

        impl PgHasArrayType for $type {
            fn array_type_info() -> PgTypeInfo {
                <&str as PgHasArrayType>::array_type_info()
            }
        }

        impl<'r> Decode<'r, Postgres> for $type {
            fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
                let text = <&str as Decode<'r, Postgres>>::decode(value)?;
                text.parse()
                    .map_err(|error| format!("{text:.150} is not a valid {}: {error}", stringify!($type)).into())
            }
        }
    )+};
}

read_as_text!(
    AccessRole,
    ActorId,
    Category,
    ChangeKind,
    ContextId,
    EventKind,
    FilePath,
    HandoffId,
    ItemId,
    KeyId,
    MemoryId,
    RecordId,
    RecordKind,
    RecordStatus,
    RootName,
    RunKind,
    RunStatus,
    Source,
    TaskId,
    UpdateId,
    VaultId,
);

/// These types are also used in array arguments of statements.
macro_rules! written_as_text {
    ($($id:ty),+ $(,)?) => {$(
        impl<'q> Encode<'q, Postgres> for $id {
            fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
                <&str as Encode<'_, Postgres>>::encode_by_ref(&self.as_str(), buffer)
            }
        }
    )+};
}

written_as_text!(ContextId, MemoryId, UpdateId, VaultId);

impl Type<Postgres> for Window {
    fn type_info() -> PgTypeInfo {
        <i64 as Type<Postgres>>::type_info()
    }
}

/// In seconds.
impl<'r> Decode<'r, Postgres> for Window {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let seconds = <i64 as Decode<'r, Postgres>>::decode(value)?;
        Ok(Self::try_from(seconds)?)
    }
}

impl Type<Postgres> for SecretHash {
    fn type_info() -> PgTypeInfo {
        <[u8] as Type<Postgres>>::type_info()
    }
}

impl<'r> Decode<'r, Postgres> for SecretHash {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let bytes = <&[u8] as Decode<'r, Postgres>>::decode(value)?;
        Self::from_bytes(bytes).ok_or_else(|| "is not the hash of a secret".into())
    }
}

/// A value as a JSON column has it; it becomes the value itself where its row is read.
pub(in crate::storage) struct FromJson<T>(T);

impl<T> Type<Postgres> for FromJson<T> {
    fn type_info() -> PgTypeInfo {
        <Json<T> as Type<Postgres>>::type_info()
    }

    fn compatible(column: &PgTypeInfo) -> bool {
        <Json<T> as Type<Postgres>>::compatible(column)
    }
}

impl<'r, T: DeserializeOwned + 'r> Decode<'r, Postgres> for FromJson<T> {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        let Json(value) = <Json<T> as Decode<'r, Postgres>>::decode(value)?;
        Ok(Self(value))
    }
}

impl From<FromJson<Self>> for Map<String, Value> {
    fn from(FromJson(members): FromJson<Self>) -> Self {
        members
    }
}

impl From<FromJson<Self>> for Vec<CitedLine> {
    fn from(FromJson(lines): FromJson<Self>) -> Self {
        lines
    }
}
