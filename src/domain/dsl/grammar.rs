//! Renders the DSL as a GBNF grammar (the format of llama.cpp) that constrains a model's output.
//!
//! It is narrower than what [`super::parse`] accepts: the canonical form of one role, with the ids that can
//! be archived and the number of additions that are accepted. Every string of the grammar parses without a
//! fault that causes a repair request; a test derives random strings to check this. The grammar cannot make a
//! small model say something useful, but it makes every answer parseable.
//!
//! Purpose of the character classes:
//! - a bullet, reason, label or insight begins with neither a blank nor `<`, so it is not empty and not a
//!   placeholder;
//! - a bullet does not begin like `none`, `no change` or `n/a`, which would be read as "no change";
//! - escapes are placed where no hexadecimal digit follows, since some servers read as many digits as there
//!   are;
//! - a reason has no colon and a label no `=`: the first of each ends it;
//! - lines and lists have a maximum length, because the smallest models repeat themselves until they are
//!   stopped;
//! - a snippet's first line opens no code fence, which could extend over later items, and is no template
//!   placeholder.

use crate::domain::ids::RecordId;
use crate::domain::operation::Role;
use std::fmt::Write as _;

/// Maximum number of ids in a grammar; the largest numbers are kept. This bounds the grammar's size and the
/// server's work per token.
pub const MAX_IDS: usize = 1_000;

/// Maximum number of items of a list without a limit of its own, so that a repeating model stops.
const MAX_ITEMS: usize = 20;

/// Rules for the characters of a line; each role's grammar includes those it needs.
const LINE: &str = r"# One line without control characters.
char ::= [^\x00-\x1F\x7F]
";
const REASON: &str = r"reason ::= first [^:\x00-\x1F\x7F]{0,160}
# Neither blank nor a mark that means something at the beginning.
first ::= [A-Za-z0-9/$@#&+'\x22] | wide
";
const WIDE: &str = r"wide ::= [\u00C0-\u167F\u1681-\u1FFF\u2C00-\u2FFF\u3001-\uD7FF\uF900-\uFDFF\U00010000-\U0010FFFF]
";
const BULLET: &str = r#"# Not "none", "no change" or "n/a".
bullet-text ::= "`"? ( [A-MO-Za-mo-z0-9/$@#&+'\x22] rest | wide rest | [Nn] after-n )
after-n ::= [^oO/\x00-\x1F\x7F] rest | [oO] after-no
after-no ::= [^nN_ \x00-\x1F\x7F-] rest | [nN] [^eE\x00-\x1F\x7F] rest | [_ -] [^cC\x00-\x1F\x7F] rest
rest ::= char{0,160}
"#;
const SNIPPET: &str = r##"label ::= first [^=\x00-\x1F\x7F]{0,80}
snippet ::= "\n        " snippet-first snippet-line{0,60}
snippet-line ::= "\n"? "\n        " snippet-char snippet-rest
snippet-first ::= [A-Za-z0-9/$@#&+'\x22!%()*,.:;=>?^_{|}[-] snippet-rest | "]" snippet-rest | "\\" snippet-rest | wide snippet-rest | "<" snippet-tag
snippet-rest ::= snippet-char{0,400}
# Not <snippet…>, <verbatim…>, <code…> or <exact…>.
snippet-tag ::= [^sSvVcCeE\x00-\x08\x0A-\x1F\x7F] snippet-rest | [sS] [^nN\x00-\x08\x0A-\x1F\x7F] snippet-rest | [vV] [^eE\x00-\x08\x0A-\x1F\x7F] snippet-rest | [cC] [^oO\x00-\x08\x0A-\x1F\x7F] snippet-rest | [eE] [^xX\x00-\x08\x0A-\x1F\x7F] snippet-rest
snippet-char ::= [^\x00-\x08\x0A-\x1F\x7F]
"##;

/// Returns the grammar of a role's answer. `ids` are the records that may be archived; ids of other kinds are
/// ignored, and `ARCHIVE` is omitted if none is left. At most `max_additions` additions are allowed.
#[must_use]
pub fn gbnf(role: Role, ids: &[RecordId], max_additions: usize) -> String {
    let mut grammar = format!(
        "root ::= \"{}:\" ( \" NO CHANGE\" | change ) \"\\n\"?\n",
        role.header()
    );
    match role {
        Role::Progress => progress(&mut grammar),
        Role::Learnings => records(&mut grammar, role, ids, max_additions, "text"),
        Role::Verbatim => records(&mut grammar, role, ids, max_additions, "label \" =>\" snippet"),
    }
    grammar.push_str(LINE);
    match role {
        Role::Progress => grammar.push_str(BULLET),
        Role::Learnings => {
            grammar.push_str("text ::= first char{0,400}\n");
            grammar.push_str(REASON);
        }
        Role::Verbatim => {
            grammar.push_str(REASON);
            grammar.push_str(SNIPPET);
        }
    }
    grammar.push_str(WIDE);
    grammar
}

fn progress(grammar: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(
        grammar,
        "change ::= ( \"\\n  Completed:\" bullets )? \"\\n  In Progress:\" bullets ( \"\\n  Remaining:\" bullets )?\n\
         bullets ::= bullet{{1,{MAX_ITEMS}}}\n\
         bullet ::= \"\\n    - \" bullet-text\n"
    );
}

fn records(grammar: &mut String, role: Role, ids: &[RecordId], max_additions: usize, content: &str) {
    let mut numbers: Vec<i64> = ids
        .iter()
        .filter(|id| Some(id.kind) == role.record_kind())
        .map(|id| id.number)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let numbers = &numbers[numbers.len().saturating_sub(MAX_IDS)..];
    let lists = match (max_additions > 0, !numbers.is_empty()) {
        (true, true) => "adds archives? | archives",
        (true, false) => "adds",
        (false, true) => "archives",
        // Only "no change" is possible.
        (false, false) => "\" NO CHANGE\"",
    };
    let _ = writeln!(grammar, "change ::= {lists}");
    if max_additions > 0 {
        let _ = write!(
            grammar,
            "adds ::= \"\\n  ADD:\" add{{1,{max_additions}}}\n\
             add ::= \"\\n    - because \" reason \": \" {content}\n"
        );
    }
    if let (Some(kind), false) = (role.record_kind(), numbers.is_empty()) {
        let mut digits: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        // Sorted as text, so that numbers with a common prefix are adjacent.
        digits.sort_unstable();
        let digits: Vec<&str> = digits.iter().map(String::as_str).collect();
        let _ = write!(
            grammar,
            "archives ::= \"\\n  ARCHIVE:\" archive{{1,{}}}\n\
             archive ::= \"\\n    - {}-\" id \" because \" first char{{0,160}}\n\
             id ::= {}\n",
            numbers.len().min(MAX_ITEMS),
            kind.prefix(),
            trie(&digits),
        );
    }
}

/// Alternatives for sorted, distinct digit strings, factored by prefix: a server that follows all
/// alternatives in parallel then follows at most ten.
fn trie(texts: &[&str]) -> String {
    let mut ends = String::new();
    let mut branches = Vec::new();
    let mut rest = texts;
    while let Some(first) = rest.first().and_then(|text| text.get(..1)) {
        let alike = rest.iter().take_while(|text| text.starts_with(first)).count();
        let (group, after) = rest.split_at(alike);
        rest = after;
        let tails: Vec<&str> = group.iter().map(|text| &text[1..]).collect();
        match tails.split_first() {
            Some((&"", [])) => ends.push_str(first),
            Some((&"", longer)) => branches.push(format!("\"{first}\" ( {} )?", trie(longer))),
            _ => branches.push(format!("\"{first}\" ( {} )", trie(&tails))),
        }
    }
    if !ends.is_empty() {
        branches.push(format!("[{ends}]"));
    }
    branches.join(" | ")
}
