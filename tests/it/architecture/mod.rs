//! Rules of the source code: dependencies between modules, no import cycles between them, and queries of pages.

mod arrows;
mod circles;
mod imports;
mod pages;
mod sources;
mod tokens;
