//! The types of responses that pages of the dashboard read: those that the routes serialize and document.

pub(crate) use super::extract::page::List;
pub(crate) use super::feed::EventBody;
pub(crate) use super::routes::archive::ArchivedBody;
pub(crate) use super::routes::archive::epics::EpicBody;
pub(crate) use super::routes::blame::{BlameBody, BlameLine};
pub(crate) use super::routes::contexts::diff::DiffBody;
pub(crate) use super::routes::contexts::view::ContextBody;
pub(crate) use super::routes::handoff::view::HandoffBody;
pub(crate) use super::routes::keys::view::{KeyBody, NewKeyBody};
pub(crate) use super::routes::log::LogEntry;
pub(crate) use super::routes::memories::get::MemoryBody;
pub(crate) use super::routes::memories::list::MemoryEntry;
pub(crate) use super::routes::prompt::receipt::{PartBody, Receipt};
pub(crate) use super::routes::records::view::RecordBody;
pub(crate) use super::routes::search::view::SearchBody;
pub(crate) use super::routes::updates::view::RunBody;
pub(crate) use super::routes::vaults::list::VaultBody;
pub(crate) use super::routes::vaults::usage::UsageBody;
pub(crate) use super::routes::window::get::WindowBody;
