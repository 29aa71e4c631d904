//! Operations asked for one by one instead of in a text: the JSON of `POST …/operations`, and what the arguments of a
//! tool come to.
//!
//! They are judged like the items of a text, by the same rules and with the same faults. What they say is exact: a
//! snippet may hold any lines, also such as would be headers or bullets of a text. Items and faults have the place of
//! their request in the list as their range.
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
