//! Reads and checks values of a kind that several sections have. Messages name what is accepted.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize as _;
use serde::de::{Deserializer, Error};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use strum::VariantNames;
use url::Url;

/// Makes a section of the configuration. Each setting has a default, and a number may have a range; in the file and in the
/// environment it may be left out, and nothing else may stand there.
macro_rules! section {
    ($(#[$about:meta])* pub struct $name:ident in $path:literal {
        $($(#[$meta:meta])* $vis:vis $setting:ident: $type:ty = $default:expr $(, in $range:expr)?;)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$meta])* $vis $setting: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($setting: $default,)* }
            }
        }

        impl $name {
            /// Checks the numbers that have a range.
            pub(super) fn ranges(&self) -> Result<(), String> {
                $($(crate::config::values::within(concat!($path, ".", stringify!($setting)), self.$setting, $range)?;)?)*
                Ok(())
            }
        }
    };
}
pub(super) use section;

/// Reads the word for a value of `T`, which may be optional.
///
/// # Errors
/// Another word; the message lists the accepted ones.
pub(super) fn one_of<'de, D, T, U>(deserializer: D) -> Result<U, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr + VariantNames,
    U: From<T>,
{
    let text = String::deserialize(deserializer)?;
    let word = text.trim();
    word.parse::<T>().map(U::from).map_err(|_| {
        let names = T::VARIANTS.join(", ");
        D::Error::custom(format!("must be one of {names}, not {word:?}"))
    })
}

/// Reads a yes or no, which may be optional.
///
/// # Errors
/// Another word.
pub(super) fn flag<'de, D: Deserializer<'de>, T: From<bool>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    match &*text.trim().to_lowercase() {
        "true" | "on" | "yes" | "1" => Ok(true.into()),
        "false" | "off" | "no" | "0" => Ok(false.into()),
        _ => Err(D::Error::custom(format!("must be true or false, not {text:?}"))),
    }
}

/// Checks that a number is in a range.
pub(super) fn within<T>(key: &str, number: T, range: RangeInclusive<T>) -> Result<(), String>
where
    T: Copy + PartialOrd + Display,
{
    let (least, most) = range.into_inner();
    match (least..=most).contains(&number) {
        true => Ok(()),
        false => Err(format!("{key} must be {least} to {most}")),
    }
}

/// Reads a text without outer blanks; blank text counts as unset.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// Reads the address of a server.
///
/// # Errors
/// Another scheme, no host, or a user name or password, which logs would show.
pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let Some(text) = text(deserializer)? else {
        return Ok(None);
    };
    let url = Url::parse(&text).ok().filter(|url| {
        let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
        is_http && url.username().is_empty() && url.password().is_none()
    });
    url.map(Some).ok_or_else(|| {
        D::Error::custom("must be an http:// or https:// address with a host, without user name and password")
    })
}

/// Reads a key for a server.
///
/// # Errors
/// As for [`check_api_key`].
pub(super) fn api_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    let key = text(deserializer)?.map(SecretString::from);
    check_api_key(key.as_ref()).map_err(D::Error::custom)?;
    Ok(key)
}

/// Checks that a key can be sent in a header.
///
/// # Errors
/// It cannot; the message never shows it.
pub(super) fn check_api_key(key: Option<&SecretString>) -> Result<(), &'static str> {
    let is_sent = |key: &SecretString| key.expose_secret().bytes().all(|byte| byte.is_ascii_graphic());
    match key.is_none_or(is_sent) {
        true => Ok(()),
        false => Err("must be visible ASCII characters without blanks"),
    }
}
