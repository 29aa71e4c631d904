//! The domain core: context documents, the update DSL, and the effect of an update on a memory. Pure: no I/O,
//! no HTTP, no SQL, no clock; time and ids are arguments.

/// Makes types whose JSON is the string that they display, and that are parsed from it.
macro_rules! string_in_json {
    ($($name:ident),*) => {$(
        impl TryFrom<String> for $name {
            type Error = <Self as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )*};
}

/// Makes enumerations whose text, JSON and schema are the names of their values, as strum has them: the OpenAPI document
/// cannot miss one.
macro_rules! listed {
    ($($(#[doc = $doc:literal])+ $name:ident as $schema:literal;)+) => {$(
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.into())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.into())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name: std::borrow::Cow<'_, str> = serde::Deserialize::deserialize(deserializer)?;
                let names = <Self as strum::VariantNames>::VARIANTS;
                name.parse()
                    .map_err(|_| serde::de::Error::unknown_variant(&name, names))
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let names = <Self as strum::VariantNames>::VARIANTS.iter().copied();
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .description(Some(concat!($($doc),+).trim_ascii()))
                    .enum_values(Some(names))
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            }
        }
    )+};
}

pub(crate) use listed;

pub mod access;
pub mod bring;
pub mod changelog;
pub mod consolidation;
pub mod document;
pub mod dsl;
pub mod duration;
pub mod evidence;
pub mod faults;
pub mod handoff;
pub mod history;
pub mod ids;
pub mod memory;
pub mod memory_files;
pub mod operation;
pub mod prompt;
pub mod redaction;
pub mod search;
pub mod text;
pub mod window;
