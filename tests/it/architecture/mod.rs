//! Rules of the source code: dependencies between modules, no import cycles, the length of files, and queries of pages.

mod arrows;
mod circles;
mod imports;
mod pages;
mod sources;
mod tokens;
