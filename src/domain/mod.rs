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
pub mod retention;
pub mod search;
pub mod text;
pub mod window;
