//! Shared code of all commands that call a running service.
//!
//! A command flattens [`ServiceArgs`] into its arguments, creates a [`Service`] from them, builds a [`Call`], and
//! prints the [`ServiceResponse`] through an [`Output`]; every error is a [`Failure`].

mod events;
mod failure;
mod input;
mod output;
mod service;
mod settings;
mod table;

pub(super) use events::{follow, pieces};
pub(super) use failure::{EXIT_CODES, Exit, Failure, ServiceResponse, found, note};
pub(super) use input::{confirm, read, read_json, read_text, whole_pairs};
pub(super) use output::{Look, Output, escaped, set_color};
pub(super) use reqwest::Method;
pub(super) use service::{Call, Service, built, client_builder, innermost, whole};
pub(super) use settings::{
    Connection, FILE_NAME as PROJECT_FILE, KEY_VARIABLE, KeySource, MemoryArgs, MemoryRef, ServiceArgs,
    base_url, is_loopback, variable,
};
pub(super) use table::{Cell, Column, PageArgs, ago, all, text, time, when, write_entry, write_table};
