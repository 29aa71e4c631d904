//! Prints operations as canonical text.

use working_memory::domain::consolidation::Ground;
use working_memory::domain::document::Marks;
use working_memory::domain::operation::{Operation, Progress, Role};

/// An operation as an item of a list, if it is one.
type Written = fn(&Operation) -> Option<String>;

/// Prints operations in the canonical form: sections in their order, additions before archivings.
///
/// Parsing reads the same operations back, in that order. Operations that a parse can never yield (an empty reason, a
/// label with `=>`, a snippet that is blank or ends in blank lines) have no canonical text; they are printed anyway and read
/// back as faults.
pub(crate) fn print(operations: &[Operation]) -> String {
    let mut text = String::new();
    for role in Role::ALL {
        let own: Vec<&Operation> = operations
            .iter()
            .filter(|operation| operation.role() == Some(role))
            .collect();
        if own.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(role.header());
        text.push_str(":\n");
        for operation in &own {
            if let Operation::RewriteProgress(progress) = operation {
                print_progress(&mut text, progress);
            }
        }
        let lists: [(&str, Written); 4] = [
            ("ADD", addition),
            ("ARCHIVE", archiving),
            ("MERGE", merge),
            ("MARK", mark),
        ];
        for (name, written) in lists {
            print_list(
                &mut text,
                name,
                own.iter().filter_map(|operation| written(operation)),
            );
        }
    }
    text
}

fn print_progress(text: &mut String, progress: &Progress) {
    let lists = [
        ("Completed", &progress.completed),
        ("In Progress", &progress.in_progress),
        ("Remaining", &progress.remaining),
    ];
    for (name, bullets) in lists {
        print_list(text, name, bullets.iter().cloned());
    }
}

fn print_list(text: &mut String, name: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        text.push_str(&format!("  {name}:\n"));
    }
    for item in items {
        text.push_str(&format!("    - {item}\n"));
    }
}

fn merge(operation: &Operation) -> Option<String> {
    let added = operation.addition()?;
    let ids: Vec<String> = added.merges.iter().map(ToString::to_string).collect();
    (!ids.is_empty()).then(|| format!("{} because {}: {}", ids.join(", "), added.reason, added.content))
}

fn addition(operation: &Operation) -> Option<String> {
    let added = operation.addition().filter(|added| added.merges.is_empty())?;
    let content = match &added.label {
        Some(label) => format!("{label} =>{}", written(&added.content)),
        None => added.content.clone(),
    };
    Some(format!(
        "{}because {}: {content}",
        brackets(&added.marks),
        added.reason
    ))
}

fn brackets(marks: &Marks) -> String {
    match marks.is_empty() {
        true => String::new(),
        false => format!("[{marks}] "),
    }
}

fn mark(operation: &Operation) -> Option<String> {
    let Operation::Mark {
        id,
        reason,
        pinned,
        until,
    } = operation
    else {
        return None;
    };
    let pinned = pinned.map(|pinned| if pinned { "pinned" } else { "unpinned" }.to_owned());
    let until = until.map(|until| format!("until {until}"));
    let marks: Vec<String> = pinned.into_iter().chain(until).collect();
    Some(format!("{id} {} because {reason}", marks.join(", ")))
}

fn archiving(operation: &Operation) -> Option<String> {
    match operation {
        Operation::Archive { id, reason, ground } => {
            let ground = match ground {
                None => String::new(),
                Some(Ground::DuplicateOf(kept)) => format!(" duplicate of {kept}"),
                Some(Ground::SupersededBy(kept)) => format!(" superseded by {kept}"),
                Some(Ground::Expired) => " expired".to_owned(),
            };
            Some(format!("{id}{ground} because {reason}"))
        }
        _ => None,
    }
}

/// Prints a snippet after its arrow. It starts on the next line, indented by eight blanks. A snippet whose
/// first line has leading blanks, which would be taken for indentation, starts directly after the arrow.
fn written(snippet: &str) -> String {
    if snippet.starts_with([' ', '\t']) {
        let all = indented(snippet, "      ");
        return format!(" {}", &all["      ".len()..]);
    }
    format!("\n{}", indented(snippet, "        "))
}

/// Indents every line. An empty line stays empty; parsing removes the shared indentation.
fn indented(snippet: &str, indentation: &str) -> String {
    let line = |line: &str| match line {
        "" => String::new(),
        line => format!("{indentation}{line}"),
    };
    snippet.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
