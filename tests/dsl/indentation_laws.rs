//! Property test: however a text is indented under its bullet, its lines keep their relative indentation.

use crate::table::read;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 5_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A line of a text: its indentation and its content, which is empty for a blank line.
type Written = (String, &'static str);

/// Words that are no header, no bullet, no fence, and not only brackets.
const WORDS: [&str; 8] = [
    "x = 1",
    "else:",
    "cargo test",
    "é🦀",
    "",
    "} else {",
    "f();",
    "end  ",
];

fn indentation() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0..9_usize).prop_map(|blanks| " ".repeat(blanks)),
        2 => (0..4_usize).prop_map(|tabs| "\t".repeat(tabs)),
        1 => "[ \t]{0,4}",
    ]
}

fn line() -> impl Strategy<Value = Written> {
    (indentation(), select(&WORDS[..]))
}

/// Lines of which the first and the last are not blank.
fn lines() -> impl Strategy<Value = Vec<Written>> {
    vec(line(), 1..7).prop_map(|mut lines| {
        let last = lines.len() - 1;
        for end in [0, last] {
            if lines[end].1.is_empty() {
                lines[end].1 = "x";
            }
        }
        lines
    })
}

/// The position of the text: the indentation of its bullet, the indentation added to its lines, and the line end.
fn place() -> impl Strategy<Value = (String, String, &'static str)> {
    let bullet = select(vec!["", "  ", "    ", "      ", "\t", "\t\t", "  \t"]).prop_map(str::to_owned);
    (bullet, indentation(), select(vec!["\n", "\r\n"]))
}

/// The lines as they are in the input.
fn shifted(lines: &[Written], shift: &str) -> Vec<String> {
    let all = lines
        .iter()
        .map(|(indent, words)| format!("{shift}{indent}{words}"));
    all.collect()
}

/// The lines of the snippet of an item with this start; the parser removes one blank after the arrow.
fn snippet_lines(bullet: &str, behind: &str, below: &[String], end: &str) -> Vec<String> {
    let mut text = format!("VERBATIM_CONTEXT:{end}ADD:{end}{bullet}- because a: l =>{behind}{end}");
    text.push_str(&below.join(end));
    let parsed = read(&text);
    let [item] = parsed.items.as_slice() else {
        panic!("one item in {text:?}: {:?}", parsed.faults);
    };
    let Some(added) = item.operation.addition() else {
        panic!("a snippet in {text:?}");
    };
    added.content.split(end).map(str::to_owned).collect()
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn columns(indent: &str) -> usize {
    let wider = |column, c| {
        if c == '\t' {
            column - column % 4 + 4
        } else {
            column + 1
        }
    };
    indent.chars().fold(0, wider)
}

/// The removed prefix: the same of all lines, except that nothing is removed from lines indented by another character than the
/// first. Blank lines do not count.
fn one_prefix<'i>(input: &'i [String], output: &[String]) -> &'i str {
    let written = |line: &&String| !line.trim().is_empty();
    let Some(first) = input.iter().position(|line| written(&line)) else {
        return "";
    };
    let prefix = input[first]
        .strip_suffix(output[first].as_str())
        .unwrap_or_else(|| panic!("{:?} ends in {:?}", input[first], output[first]));
    assert!(
        prefix.chars().all(|c| c == ' ' || c == '\t'),
        "{prefix:?} was removed"
    );
    for (line, expected) in input.iter().zip(output).filter(|(line, _)| written(line)) {
        let is_otherwise = match (indent_of(line).chars().next(), prefix.chars().next()) {
            (Some(own), Some(first)) => own != first,
            _ => false,
        };
        let removed = if is_otherwise { "" } else { prefix };
        assert_eq!(
            *line,
            format!("{removed}{expected}"),
            "of {input:?} was left {output:?}"
        );
    }
    prefix
}

/// The common indentation of the lines that are indented by the same character as the first, or not at all.
fn common(input: &[String]) -> String {
    let mut indents = input
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| indent_of(line));
    let first = indents.next().unwrap_or_default();
    let alike = indents.filter(|own| own.is_empty() || own.chars().next() == first.chars().next());
    alike.fold(first.to_owned(), |common, own| {
        let shared = common
            .chars()
            .zip(own.chars())
            .take_while(|(a, b)| a == b)
            .count();
        common[..shared].to_owned()
    })
}

/// How many lines come before prose in column 0, which ends a snippet that is indented deeper than its bullet.
fn until_prose(input: &[String]) -> usize {
    let ends = |line: &String| !line.trim().is_empty() && indent_of(line).is_empty();
    let end = input.iter().position(ends).unwrap_or(input.len());
    let last = input[..end].iter().rposition(|line| !line.trim().is_empty());
    last.map_or(0, |last| last + 1)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lines_below_the_bullet_keep_their_relative_indentation((bullet, shift, end) in place(), lines in lines()) {
        let mut input = shifted(&lines, &shift);
        if columns(indent_of(&input[0])) > columns(&bullet) {
            input.truncate(until_prose(&input));
        }
        let output = snippet_lines(&bullet, "", &input, end);
        prop_assert_eq!(output.len(), input.len(), "{:?} of {:?}", output, input);
        let prefix = one_prefix(&input, &output);
        prop_assert_eq!(prefix, common(&input), "all that is in common");
        prop_assert!(prefix.starts_with(&shift), "what it was shifted by");
    }

    #[test]
    fn lines_below_the_line_of_the_arrow_keep_their_relative_indentation((bullet, shift, end) in place(), lines in lines()) {
        let mut input = shifted(&lines, &shift);
        input.truncate(until_prose(&input));
        let output = snippet_lines(&bullet, " f(x)", &input, end);
        prop_assert_eq!(&output[0], "f(x)");
        prop_assert_eq!(output.len(), input.len() + 1, "{:?} of {:?}", output, input);
        let prefix = one_prefix(&input, &output[1..]);
        let most = if bullet.contains('\t') { columns(&bullet) + 4 } else { columns(&bullet) + 2 };
        prop_assert!(columns(prefix) <= most && common(&input).starts_with(prefix));
        prop_assert!(prefix.is_empty() || columns(&common(&input)) >= most, "not of lines that have less in common");
    }

    #[test]
    fn lines_between_fences_keep_their_relative_indentation((bullet, shift, end) in place(), lines in lines(), fences in vec(indentation(), 2), is_tilde in any::<bool>()) {
        let fence = if is_tilde { "~~~" } else { "```" };
        let input = shifted(&lines, &shift);
        let mut fenced = vec![format!("{shift}{}{fence}x", fences[0])];
        fenced.extend(input.iter().cloned());
        fenced.push(format!("{shift}{}{fence}", fences[1]));
        let output = snippet_lines(&bullet, "", &fenced, end);
        prop_assert_eq!(output.len(), fenced.len(), "{:?} of {:?}", output, fenced);
        prop_assert_eq!(&output[0], &format!("{fence}x"));
        prop_assert_eq!(output.last().map(String::as_str), Some(fence));
        // Together with the opening fence, whose indentation is the most that is removed.
        fenced.pop();
        let opening = indent_of(&fenced[0]).to_owned();
        let shared = common(&fenced);
        let mut expected = output[..fenced.len()].to_vec();
        expected[0] = format!("{}{fence}x", &opening[shared.len()..]);
        prop_assert_eq!(one_prefix(&fenced, &expected), shared);
    }

    #[test]
    fn lines_in_a_fence_after_the_arrow_keep_their_relative_indentation((bullet, shift, end) in place(), lines in lines(), closing in indentation()) {
        let input = shifted(&lines, &shift);
        let mut fenced = input.clone();
        fenced.push(format!("{closing}```"));
        let output = snippet_lines(&bullet, " ```x", &fenced, end);
        prop_assert_eq!(output.len(), input.len() + 2, "{:?} of {:?}", output, input);
        prop_assert_eq!(&output[0], "```x");
        prop_assert_eq!(output.last().map(String::as_str), Some("```"));
        let prefix = one_prefix(&input, &output[1..=input.len()]);
        prop_assert!(common(&input).starts_with(prefix));
    }
}
