//! Tables of cases: a text, and what is read from it.
//!
//! What is read is written as one line: the operations in their order, joined by ` + `, then the kinds of the faults.
//!
//! - `KL reason | content`, `VC reason | label | snippet`, `archive KL-1 | reason`
//! - `progress a, b | c | d`: completed, in progress, remaining
//! - `! MissingReason EmptyContent`: the faults

use working_memory::domain::dsl::{Parsed, parse, parse_answer};
use working_memory::domain::operation::{AddedRecord, FaultKind, Operation};

/// Cases whose texts have one start, such as the headers above an item.
pub(crate) struct Table(pub(crate) &'static str);

pub(crate) const LEARNINGS: Table = Table("KEY_LEARNINGS:\n  ADD:\n    ");
pub(crate) const ARCHIVE: Table = Table("KEY_LEARNINGS:\n  ARCHIVE:\n    ");
pub(crate) const SNIPPETS: Table = Table("VERBATIM_CONTEXT:\n  ADD:\n    ");
pub(crate) const PROGRESS: Table = Table("CURRENT_PROGRESS:\n");
pub(crate) const TEXT: Table = Table("");

impl Table {
    /// Each text is read as exactly these operations and faults.
    #[track_caller]
    pub(crate) fn rule(&self, rule: &str, rows: &[(&str, &str)]) {
        for (text, expected) in rows {
            let text = format!("{}{text}", self.0);
            assert_eq!(said(&read(&text)), *expected, "{rule}: {text:?}");
        }
    }

    /// The same for a table of lines, each `text ⇒ what is read` with Rust's escapes; a line `§ rule` says what those below it show.
    #[track_caller]
    pub(crate) fn table(&self, table: &str) {
        for (rule, text, expected) in rows(table) {
            self.rule(rule, &[(&text, &expected)]);
        }
    }
}

/// The rule of each line of a table, and its two columns.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = (&str, String, String)> {
    let mut rule = "";
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.filter_map(move |line| {
        if let Some(title) = line.strip_prefix("§ ") {
            rule = title;
            return None;
        }
        let columns = line.split_once(" ⇒ ");
        let (text, read) = columns.unwrap_or((line.trim_end_matches(" ⇒"), ""));
        Some((rule, unescaped(text), unescaped(read)))
    })
}

#[expect(
    clippy::unwrap_used,
    reason = "a row that cannot be read is a fault of its table"
)]
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        rest = &escape[1..];
        plain.push(match escape.as_bytes()[0] {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'u' => {
                let (digits, after) = rest[1..].split_once('}').unwrap();
                rest = after;
                char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap()
            }
            other => char::from(other),
        });
    }
    plain + rest
}

/// What was read, as the rows of the tables say it.
pub(crate) fn said(parsed: &Parsed) -> String {
    let operations: Vec<String> = operations(parsed).iter().map(operation).collect();
    let mut said = operations.join(" + ");
    for (at, kind) in kinds(parsed).iter().enumerate() {
        let start = match (at, said.is_empty()) {
            (0, true) => "!",
            (0, false) => " !",
            _ => "",
        };
        said.push_str(&format!("{start} {kind:?}"));
    }
    said
}

fn operation(operation: &Operation) -> String {
    match operation {
        Operation::Add(AddedRecord {
            reason,
            label,
            content,
            replaces: None,
            merges,
            marks,
        }) if merges.is_empty() && marks.is_empty() => match label {
            None => format!("KL {reason} | {content}"),
            Some(label) => format!("VC {reason} | {label} | {content}"),
        },
        Operation::Archive {
            id,
            reason,
            ground: None,
        } => format!("archive {id} | {reason}"),
        Operation::RewriteProgress(progress) => {
            let lists = [&progress.completed, &progress.in_progress, &progress.remaining];
            format!("progress {}", lists.map(|list| list.join(", ")).join(" | "))
        }
        other => format!("{other:?}"),
    }
}

pub(crate) fn operations(parsed: &Parsed) -> Vec<Operation> {
    parsed.items.iter().map(|item| item.operation.clone()).collect()
}

pub(crate) fn kinds(parsed: &Parsed) -> Vec<FaultKind> {
    parsed.faults.iter().map(|fault| fault.kind).collect()
}

/// Parses a text and checks what is true of every result.
pub(crate) fn read(text: &str) -> Parsed {
    sound(text, parse(text))
}

/// The same of a text that its model did not finish.
pub(crate) fn read_cut_off(text: &str) -> Parsed {
    sound(text, parse_answer(None, text, true))
}

fn sound(text: &str, parsed: Parsed) -> Parsed {
    let items = parsed.items.iter().map(|item| &item.range);
    for range in items.chain(parsed.faults.iter().map(|fault| &fault.range)) {
        assert!(
            text.get(range.clone()).is_some(),
            "range {range:?} is not a slice of {text:?}"
        );
    }
    let faults = &parsed.faults;
    let starts: Vec<_> = faults.iter().map(|fault| fault.range.start).collect();
    assert!(starts.is_sorted(), "faults out of order in {text:?}: {faults:?}");
    let says = |detail: &str| !detail.trim().is_empty();
    assert!(faults.iter().all(|fault| says(&fault.detail)), "{faults:?}");
    parsed
}
