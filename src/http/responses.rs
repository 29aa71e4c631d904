//! The types of responses that the routes themselves define, and that pages of the dashboard and the command line read. Others
//! are types of the storage and of the domain.

pub(crate) use super::extract::page::List;
pub(crate) use super::routes::contexts::ContextBody;
pub(crate) use super::routes::contexts::views::DiffBody;
pub(crate) use super::routes::handoff::HandoffBody;
pub(crate) use super::routes::keys::{KeyBody, NewKeyBody};
pub(crate) use super::routes::memories::MemoryBody;
pub(crate) use super::routes::memory_tool::PutFileBody;
pub(crate) use super::routes::prompt::{PartBody, Receipt};
pub(crate) use super::routes::records::RecordBody;
pub(crate) use super::routes::search::SearchBody;
pub(crate) use super::routes::tasks::ImportAnswer;
pub(crate) use super::routes::vaults::UsageBody;
pub(crate) use super::routes::window::WindowBody;
pub(crate) use crate::http::routes::contexts::views::{BlameBody, BlameLine, LogEntry};
