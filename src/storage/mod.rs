//! Everything that talks to PostgreSQL: the only home of SQL.

pub mod embedded;
