//! Operations given as JSON instead of DSL text: the body of `POST …/operations`, and tool arguments.
//!
//! They follow the same rules and produce the same faults as the items of a text. Their content is exact: a
//! snippet may contain any lines, including lines that would be headers or bullets in a text. The range of an
//! item or fault is the index of its request in the list.
//!
//! ```
//! use working_memory::domain::dsl::requests::{OperationRequest, read};
//!
//! let requests: Vec<OperationRequest> = serde_json::from_str(
//!     r#"[{"op": "add", "section": "learnings", "reason": "CI has no database", "content": "commit the query data"},
//!         {"op": "archive", "id": "KL-1", "reason": " "}]"#,
//! )?;
//! let parsed = read(&requests);
//! assert_eq!(parsed.items[0].range, 0..0);
//! assert_eq!((parsed.faults[0].kind.name(), parsed.faults[0].range.start), ("missing_reason", 1));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod read;
mod request;

pub use read::read;
pub use request::{OperationRequest, RecordSection, first_nul};
