//! Rules of the source code: dependencies between modules, and queries of pages.

mod arrows;
mod pages;
mod sources;
