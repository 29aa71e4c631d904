//! Complete responses, as small models write them.

use crate::expect::{archive, case, kinds, learning, operations, progress, read, reads, takes, verbatim};
use working_memory::domain::operation::FaultKind::{
    MissingReason, MultiLineInsight, NoSection, Placeholder, UnclosedFence,
};

#[test]
fn a_chatty_answer_in_a_fence() {
    takes(
        "
Sure! Here's the updated memory based on the recent messages:

```markdown
CURRENT_PROGRESS:
  Completed:
    - Wrote the DSL parser
  In Progress:
    - Wire parser to the route
  Remaining:
    - Benchmarks
```

Let me know if you'd like me to change anything!
",
        [progress(
            &["Wrote the DSL parser"],
            &["Wire parser to the route"],
            &["Benchmarks"],
        )],
    );
}

#[test]
fn bold_headers_stars_and_a_closing_remark() {
    takes(
        "
**KEY_LEARNINGS:**

**ADD:**
* because CI has no database: commit the prepared query data
* because `cargo test` runs in parallel: give each test its own schema

**ARCHIVE:**
* **KL-4** because it was fixed in the last release

*Note: I only archived what is no longer true.*
",
        [
            learning("CI has no database", "commit the prepared query data"),
            learning("`cargo test` runs in parallel", "give each test its own schema"),
            archive("KL-4", "it was fixed in the last release"),
        ],
    );
}

#[test]
fn markdown_headings_and_numbered_lists() {
    takes(
        "
# Current Progress

## Completed
1. Set up the repository
2. Wrote the schema

## In Progress
1. Write the migrations

## Remaining
1. Deploy

# Key Learnings

## ADD
1. because the pooler resets sessions: avoid session locks
2. because `now()` is constant in a transaction: order by version

## ARCHIVE
(none)

# Verbatim Context
No changes.
",
        [
            progress(
                &["Set up the repository", "Wrote the schema"],
                &["Write the migrations"],
                &["Deploy"],
            ),
            learning("the pooler resets sessions", "avoid session locks"),
            learning("`now()` is constant in a transaction", "order by version"),
        ],
    );
}

#[test]
fn a_flat_answer_with_flat_code() {
    takes(
        "
VERBATIM_CONTEXT
ADD
- because the handler is edited next: handler signature =>
async fn update(
    State(state): State<App>,
) -> Result<Json<Answer>, Problem> {
    todo!()
}
- because the port is needed: env line => PORT=8080
ARCHIVE
- VC-2 because the old handler is gone
",
        [
            verbatim(
                "the handler is edited next",
                "handler signature",
                "async fn update(\n    State(state): State<App>,\n) -> Result<Json<Answer>, Problem> {\n    todo!()\n}",
            ),
            verbatim("the port is needed", "env line", "PORT=8080"),
            archive("VC-2", "the old handler is gone"),
        ],
    );
}

#[test]
fn fenced_snippets_in_a_fenced_answer() {
    takes(
        "
```
VERBATIM_CONTEXT:
  ADD:
    - because the build runs it: Dockerfile =>
      ```dockerfile
      FROM scratch
      # a comment, no heading
      COPY app /app
      ```
    - because it fails: error text =>
      ```
      error[E0277]: the trait bound is not satisfied
        --> src/main.rs:3:5
      ```
  ARCHIVE:
    - [VC-1]: because replaced by the new Dockerfile
```
",
        [
            verbatim(
                "the build runs it",
                "Dockerfile",
                "```dockerfile\nFROM scratch\n# a comment, no heading\nCOPY app /app\n```",
            ),
            verbatim(
                "it fails",
                "error text",
                "```\nerror[E0277]: the trait bound is not satisfied\n  --> src/main.rs:3:5\n```",
            ),
            archive("VC-1", "replaced by the new Dockerfile"),
        ],
    );
}

#[test]
fn the_template_returned_unchanged() {
    let parsed = read(case(
        "
CURRENT_PROGRESS:
  Completed:
    - <bullet>
  In Progress:
    - <bullet>
  Remaining:
    - <bullet>

KEY_LEARNINGS:
  ADD:
    - because <reason>: <one-line insight>
  ARCHIVE:
    - KL-<n> because <reason>

VERBATIM_CONTEXT:
  ADD:
    - because <reason>: <label> => <snippet, to the next bullet of this list>
  ARCHIVE:
    - VC-<n> because <reason>
",
    ));
    assert_eq!(operations(&parsed), []);
    let others: Vec<_> = kinds(&parsed)
        .into_iter()
        .filter(|&kind| kind != Placeholder)
        .collect();
    assert!(
        others.len() <= 1,
        "at most the progress has another fault: {others:?}"
    );
    assert!(parsed.faults.len() >= 5);
}

#[test]
fn reasoning_before_the_answer() {
    takes(
        "
Okay, the user wants me to update the key learnings. The messages say the tests failed
because of a missing index. I should:
1. add one learning
2. archive KL-2

Here is my final answer:

KEY_LEARNINGS:
  ADD:
    - because the list was slow: add the index first
  ARCHIVE:
    - KL-2 because the index exists now
",
        [
            learning("the list was slow", "add the index first"),
            archive("KL-2", "the index exists now"),
        ],
    );
}

#[test]
fn an_answer_that_refuses() {
    reads(
        "
I'm sorry, but there is nothing in these messages that I could add to the memory.
Please provide more context.
",
        [],
        [NoSection],
    );
}

#[test]
fn everything_unchanged() {
    takes(
        "CURRENT_PROGRESS: (no change)\nKEY_LEARNINGS: (no change)\nVERBATIM_CONTEXT: (no change)\n",
        [],
    );
    takes("## KEY_LEARNINGS\n\nNo changes.\n", []);
    takes("**KEY_LEARNINGS:** none\n", []);
    takes("KEY_LEARNINGS:\n  ADD:\n    - N/A\n  ARCHIVE:\n    - N/A\n", []);
}

#[test]
fn long_insights_over_several_lines() {
    reads(
        "
KEY_LEARNINGS:
  ADD:
    - because the run of 2026-11-21 failed at 10:42: the pooler closes idle
      connections after ten minutes, so the listener has to
      connect again
    - remember to thank the team
",
        [learning(
            "the run of 2026-11-21 failed at 10:42",
            "the pooler closes idle connections after ten minutes, so the listener has to connect again",
        )],
        [MultiLineInsight, MissingReason],
    );
}

#[test]
fn a_truncated_answer_inside_a_fence_without_a_stop_reason() {
    reads(
        "
VERBATIM_CONTEXT:
  ADD:
    - because a: script =>
      ```sh
      set -e
      cargo te",
        [verbatim("a", "script", "```sh\nset -e\ncargo te")],
        [UnclosedFence],
    );
}

#[test]
fn windows_line_ends_throughout() {
    takes(
        "Here:\r\n\r\n## Key Learnings\r\n### Add\r\n- because a: b\r\n\r\n## Verbatim Context\r\n### Add\r\n- because c: d =>\r\n```bat\r\ndir\r\n```\r\n\r\nDone.\r\n",
        [learning("a", "b"), verbatim("c", "d", "```bat\r\ndir\r\n```")],
    );
}

#[test]
fn a_snippet_of_the_services_own_document() {
    takes(
        "
VERBATIM_CONTEXT:
  ADD:
    - because the format is discussed: record example =>
      # Key Learnings
      - KL-1 [2026-11-21T02:00:00Z] because CI has no database: commit it

      # Decisions
KEY_LEARNINGS:
  ADD:
    - because records are lines: parse them as lines
",
        [
            verbatim(
                "the format is discussed",
                "record example",
                "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because CI has no database: commit it\n\n# Decisions",
            ),
            learning("records are lines", "parse them as lines"),
        ],
    );
}

#[test]
fn an_answer_in_another_language() {
    takes(
        "Voici la mise à jour :\n\nKEY_LEARNINGS:\n  ADD:\n    - because la CI n’a pas de base : valider les requêtes\n    - because データベースがない: クエリを保存する\n",
        [
            learning("la CI n’a pas de base", "valider les requêtes"),
            learning("データベースがない", "クエリを保存する"),
        ],
    );
}
