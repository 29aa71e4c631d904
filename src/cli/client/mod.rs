//! Shared code of all commands that call a running service.
//!
//! A command flattens [`ServiceArgs`] into its arguments, creates a [`Service`] from them, builds a [`Call`], and
//! prints the [`ServiceResponse`] through an [`Output`]; every error is a [`Failure`]. [`command`] lists
//! the commands.

mod call;
pub(super) mod command;
mod confirm;
mod endpoint;
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
mod wire;

pub(super) use call::{Call, OpenResponse};
pub(super) use confirm::confirm;
pub(super) use events::{Feed, FeedEvent};
pub(super) use failure::{EXIT_CODES, Exit, Failure, finish, note, print_failure, wants_json};
pub(super) use input::{read, read_text};
pub(super) use output::{Look, Output};
pub(super) use page::{List, PageArgs, all};
pub(super) use project::FILE_NAME as PROJECT_FILE;
pub(super) use reqwest::Method;
pub(super) use response::ServiceResponse;
pub(super) use service::Service;
pub(super) use settings::{Connection, KeySource, MemoryArgs, MemoryRef, ServiceArgs, base_url, is_loopback};
pub use style::Color;
pub(super) use style::set_color;
pub(super) use table::{Table, ago, when};
pub(super) use text::one_line;
pub(super) use wire::client as http_client;
