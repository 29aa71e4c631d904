//! The lines of a unified diff, with their numbers in both versions.

use super::excerpt::{fitting, weight};

/// Bytes of one line that are shown; `macros.html` cuts it there.
const LINE_BYTES: usize = 4_000;

/// A line of a diff. Unchanged lines have both numbers, hunk headers none.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The number in the older version.
    pub(super) old: Option<u64>,
    /// The number in the newer version.
    pub(super) new: Option<u64>,
    pub(super) text: String,
}

/// A row of a diff in two columns.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) before: Option<Line>,
    pub(super) after: Option<Line>,
}

/// The lines of a diff that fit on a page.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) lines: Vec<Line>,
    pub(super) is_cut: bool,
}

impl Difference {
    /// Reads a unified diff.
    pub(super) fn of(diff: &str) -> Self {
        let (mut old, mut new) = (0, 0);
        let lines = diff.lines().skip_while(|line| !line.starts_with("@@"));
        let lines = lines.filter_map(|line| {
            let (sign, text) = line.split_at_checked(1)?;
            let (is_old, is_new) = match sign {
                "-" => (true, false),
                "+" => (false, true),
                " " => (true, true),
                "@" => {
                    (old, new) = first_lines(line);
                    (false, false)
                }
                _ => return None,
            };
            let number = |next: &mut u64, counts: bool| {
                let number = counts.then_some(*next);
                *next += u64::from(counts);
                number
            };
            let text = if is_old || is_new { text } else { line };
            Some(Line {
                old: number(&mut old, is_old),
                new: number(&mut new, is_new),
                text: text.trim_end_matches('\r').to_owned(),
            })
        });
        let (lines, next) = fitting(lines, |line| {
            weight(&line.text[..line.text.floor_char_boundary(LINE_BYTES)])
        });
        Self {
            lines,
            is_cut: next.is_some(),
        }
    }

    /// The lines in two columns, with removed lines beside added ones.
    pub(super) fn beside(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for block in self
            .lines
            .chunk_by(|line, next| is_changed(line) && is_changed(next))
        {
            if !is_changed(&block[0]) {
                rows.push(Row {
                    before: Some(block[0].clone()),
                    after: Some(block[0].clone()),
                });
                continue;
            }
            let (removed, added): (Vec<_>, Vec<_>) =
                block.iter().cloned().partition(|line| line.old.is_some());
            for row in 0..removed.len().max(added.len()) {
                rows.push(Row {
                    before: removed.get(row).cloned(),
                    after: added.get(row).cloned(),
                });
            }
        }
        rows
    }
}

fn is_changed(line: &Line) -> bool {
    line.old.is_some() != line.new.is_some()
}

/// The first line numbers of a hunk: `@@ -3,4 +5,6 @@`.
fn first_lines(header: &str) -> (u64, u64) {
    let first = |sign| {
        let numbers = header.split(sign).nth(1)?;
        numbers.split([',', ' ']).next()?.parse().ok()
    };
    (first('-').unwrap_or(0), first('+').unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::filters;
    use askama::Template;

    const DIFF: &str = "--- a\n+++ b\n@@ -3,4 +3,4 @@\n same\n-<old>\n+<new>\n+more\n end\n";

    #[derive(Template)]
    #[template(
        source = "{% import \"macros.html\" as m %}{{ m::unified(difference) }}",
        ext = "html"
    )]
    struct Unified {
        difference: Difference,
    }

    #[derive(Template)]
    #[template(
        source = "{% import \"macros.html\" as m %}{{ m::sides(rows) }}",
        ext = "html"
    )]
    struct Sides {
        rows: Vec<Row>,
    }

    fn unified(diff: &str) -> (String, bool) {
        let difference = Difference::of(diff);
        let is_cut = difference.is_cut;
        (Unified { difference }.render().unwrap(), is_cut)
    }

    fn side_by_side(diff: &str) -> (String, bool) {
        let difference = Difference::of(diff);
        let rows = difference.beside();
        (Sides { rows }.render().unwrap(), difference.is_cut)
    }

    #[test]
    fn both_forms_show_every_line_with_sign_and_number() {
        let (html, is_cut) = unified(DIFF);
        assert!(!is_cut);
        for part in [
            r#"<td class="n">4</td><td class="n"></td><td class="s">−</td><td>&#60;old&#62;</td>"#,
            r#"<td class="n"></td><td class="n">5</td><td class="s">+</td><td>more</td>"#,
            r#"<td class="n">5</td><td class="n">6</td><td class="s"> </td><td>end</td>"#,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let (html, _) = side_by_side(DIFF);
        for part in [
            r#"<td class="n del">4</td><td class="s del">−</td><td class="del">&#60;old&#62;</td><td class="n add">4</td>"#,
            r#"<td></td><td class="n add">5</td><td class="s add">+</td><td class="add">more</td>"#,
            r#"<td class="n">5</td><td class="s"> </td><td>end</td><td class="n">6</td>"#,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_long_difference_is_cut_and_says_so() {
        let diff = format!("@@ -1,1 +1,9 @@\n{}", "+<<<<<<<<\n".repeat(30_000));
        for (html, is_cut) in [unified(&diff), side_by_side(&diff)] {
            assert!(is_cut && html.len() < 100_000, "{}", html.len());
        }
        let (html, _) = unified(&format!("@@ -1,1 +1,1 @@\n+{}\n", "ä".repeat(90_000)));
        assert!(html.len() < 10_000 && html.contains("bytes more"));
    }
}
