//! A folder of Markdown files
