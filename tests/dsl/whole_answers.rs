//! Complete responses, as small models write them.

use crate::table::TEXT;

#[test]
fn chat_fences_and_reasoning_around_the_answer_are_ignored() {
    TEXT.rule(
        "a chatty answer in a fence",
        &[(
            "Sure! Here's the updated memory based on the recent messages:

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
            "progress Wrote the DSL parser | Wire parser to the route | Benchmarks",
        )],
    );
    TEXT.rule(
        "reasoning before the answer",
        &[(
            "Okay, the user wants me to update the key learnings. The messages say the tests failed
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
            "KL the list was slow | add the index first + archive KL-2 | the index exists now",
        )],
    );
    TEXT.rule(
        "fenced snippets in a fenced answer",
        &[(
            "```
VERBATIM_CONTEXT:
  ADD:
    - because the build runs it: Dockerfile =>
      ```dockerfile
      FROM scratch
      # a comment, no heading
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
            "VC the build runs it | Dockerfile | ```dockerfile\nFROM scratch\n# a comment, no heading\n``` + \
             VC it fails | error text | ```\nerror[E0277]: the trait bound is not satisfied\n  --> src/main.rs:3:5\n``` + \
             archive VC-1 | replaced by the new Dockerfile",
        )],
    );
}

#[test]
fn markdown_and_flat_answers_are_read() {
    TEXT.rule(
        "bold headers, stars and a closing remark",
        &[(
            "**KEY_LEARNINGS:**

**ADD:**
* because CI has no database: commit the prepared query data
* because `cargo test` runs in parallel: give each test its own schema

**ARCHIVE:**
* **KL-4** because it was fixed in the last release

*Note: I only archived what is no longer true.*
",
            "KL CI has no database | commit the prepared query data + \
             KL `cargo test` runs in parallel | give each test its own schema + \
             archive KL-4 | it was fixed in the last release",
        )],
    );
    TEXT.rule(
        "headings and numbered lists",
        &[(
            "# Current Progress

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

## ARCHIVE
(none)

# Verbatim Context
No changes.
",
            "progress Set up the repository, Wrote the schema | Write the migrations | Deploy + \
             KL the pooler resets sessions | avoid session locks",
        )],
    );
    TEXT.rule(
        "a flat answer with flat code",
        &[(
            "VERBATIM_CONTEXT
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
            "VC the handler is edited next | handler signature | async fn update(\n    State(state): State<App>,\n\
             ) -> Result<Json<Answer>, Problem> {\n    todo!()\n} + VC the port is needed | env line | PORT=8080 + \
             archive VC-2 | the old handler is gone",
        )],
    );
    TEXT.rule(
        "a snippet of the service's own document",
        &[(
            "VERBATIM_CONTEXT:
  ADD:
    - because the format is discussed: record example =>
      # Key Learnings
      - KL-1 [2026-11-21T02:00:00Z] because CI has no database: commit it

      # Decisions
KEY_LEARNINGS:
  ADD:
    - because records are lines: parse them as lines
",
            "VC the format is discussed | record example | # Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because \
             CI has no database: commit it\n\n# Decisions + KL records are lines | parse them as lines",
        )],
    );
}
