//! How the code is built: which rooms may name which, that no files import each other, how long a file may be, and how
//! pages are read.

mod arrows;
mod circles;
mod imports;
mod length;
mod pages;
mod sources;
mod tokens;
