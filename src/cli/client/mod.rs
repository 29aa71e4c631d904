//! Shared code of all commands that call a running service.
//!
//! A command flattens [`ServiceArgs`] into its arguments, creates a [`Service`] from them, builds a [`Call`], and
//! prints the [`ServiceResponse`] through an [`Output`]; every error is a [`Failure`]. [`command`] lists
//! the commands.

mod call;
pub(super) mod command;
mod confirm;
mod events;
mod failure;
mod input;
mod output;
mod page;
mod pager;
mod project;
mod response;
mod service;
mod settings;
mod style;
mod table;
mod text;

pub(super) use call::{Call, OpenResponse, client_builder, innermost};
pub(super) use confirm::confirm;
pub(super) use events::{Feed, FeedEvent};
pub(super) use failure::{EXIT_CODES, Exit, Failure, finish, note, print_failure, wants_json};
pub(super) use input::{members, read, read_json, read_text};
pub(super) use output::{Look, Output};
pub(super) use page::{PageArgs, all};
pub(super) use project::FILE_NAME as PROJECT_FILE;
pub(super) use reqwest::Method;
pub(super) use response::ServiceResponse;
pub(super) use service::Service;
pub(super) use settings::{Connection, KeySource, MemoryArgs, MemoryRef, ServiceArgs, base_url, is_loopback};
pub use style::Color;
pub(super) use style::set_color;
pub(super) use table::{Column, ago, number, text, time, when, write_table};
pub(super) use text::one_line;
