//! `GET …/diff?base=&to=`: the difference of two versions, unified or side by side.

use super::super::failure::Failure;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::{Escaped, Markup};
use super::super::visit::Visit;
use super::data::{Diff, MemoryEntry};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use std::fmt::Write as _;

/// Bytes of HTML after which a diff is cut; the whole diff can be downloaded as text.
const PAGE_BYTES: usize = 70_000;

#[derive(Template)]
#[template(path = "pages/diff.html")]
struct View {
    page: Page,
    base: String,
    from: String,
    to: String,
    sides: bool,
    other: String,
    is_same: bool,
    diff: Diff,
    lines: Markup,
    is_cut: bool,
    download: String,
}

/// Shows the diff; without parameters that of the newest version. With `?download=1` as text.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    let head = visit
        .api
        .get(&place)
        .read::<MemoryEntry>()
        .await?
        .with_document()?;
    let to = visit
        .param("to")
        .map_or_else(|| head.version.to_string(), str::to_owned);
    let from = match visit.param("base") {
        Some(base) => base.to_owned(),
        None => (head.version - 1).max(1).to_string(),
    };
    let route = [&place[..], &["contexts", &to, "diff"]].concat();
    let diff: Diff = visit.api.get(&route).query("base", &from).read().await?;
    if visit.param("download").is_some() {
        let headers = [(axum::http::header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        return Ok(axum::response::IntoResponse::into_response((headers, diff.diff)));
    }
    let sides = visit.param("view") == Some("sides");
    let path = link::memory(&vault, &memory, &["diff"]);
    let with = |name, value| {
        link::with_query(
            &path,
            &[("base", Some(&from)), ("to", Some(&to)), (name, Some(value))],
        )
    };
    let (lines, is_cut) = if sides {
        side_by_side(&diff.diff)
    } else {
        unified(&diff.diff)
    };
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, diff"))
            .in_memory(&vault, &memory, "Diff")
            .crumb(Crumb::here(format!("version {from} to {to}"))),
        base: link::memory(&vault, &memory, &[]),
        other: with("view", if sides { "unified" } else { "sides" }),
        download: with("download", "1"),
        is_same: diff.diff.is_empty(),
        sides,
        from,
        to,
        diff,
        lines: Markup(lines),
        is_cut,
    })
}

/// A line of a unified diff.
enum Line<'t> {
    /// A hunk header with the first line numbers.
    Hunk(&'t str, u64, u64),
    Same(&'t str),
    Gone(&'t str),
    Come(&'t str),
}

fn lines(diff: &str) -> impl Iterator<Item = Line<'_>> {
    let body = diff.lines().skip_while(|line| !line.starts_with("@@"));
    body.filter_map(|line| {
        let (sign, text) = line.split_at_checked(1)?;
        Some(match sign {
            "+" => Line::Come(text),
            "-" => Line::Gone(text),
            " " => Line::Same(text),
            "@" => {
                let mut numbers = line
                    .split(['-', '+', ',', ' '])
                    .filter_map(|part| part.parse().ok());
                let old: u64 = numbers.next().unwrap_or(0);
                let new = line
                    .split('+')
                    .nth(1)
                    .and_then(|rest| rest.split([',', ' ']).next());
                Line::Hunk(line, old, new.and_then(|part| part.parse().ok()).unwrap_or(0))
            }
            _ => return None,
        })
    })
}

/// One column, with the line numbers of both versions. Writing to a string cannot fail, so the result is ignored.
pub(super) fn unified(diff: &str) -> (String, bool) {
    let mut html = String::from(
        r#"<table class="diff"><thead><tr><th scope="col">Old</th><th scope="col">New</th><th scope="col">Sign</th><th scope="col">Line</th></tr></thead><tbody>"#,
    );
    let (mut old, mut new, mut is_cut) = (0, 0, false);
    for line in lines(diff) {
        if html.len() > PAGE_BYTES {
            is_cut = true;
            break;
        }
        let _ = match line {
            Line::Hunk(text, first, second) => {
                (old, new) = (first, second);
                write!(
                    html,
                    r#"<tr class="hunk"><td colspan="4">{}</td></tr>"#,
                    Escaped(text)
                )
            }
            Line::Same(text) => {
                (old, new) = (old + 1, new + 1);
                let (old, new, text) = (old - 1, new - 1, shown(text));
                write!(
                    html,
                    r#"<tr><td class="n">{old}</td><td class="n">{new}</td><td class="s"> </td><td>{text}</td></tr>"#
                )
            }
            Line::Gone(text) => {
                old += 1;
                let (old, text) = (old - 1, shown(text));
                write!(
                    html,
                    r#"<tr class="del"><td class="n">{old}</td><td class="n"></td><td class="s">−</td><td>{text}</td></tr>"#
                )
            }
            Line::Come(text) => {
                new += 1;
                let (new, text) = (new - 1, shown(text));
                write!(
                    html,
                    r#"<tr class="add"><td class="n"></td><td class="n">{new}</td><td class="s">+</td><td>{text}</td></tr>"#
                )
            }
        };
    }
    html.push_str("</tbody></table>");
    (html, is_cut)
}

/// Two columns, with removed lines beside added ones.
fn side_by_side(diff: &str) -> (String, bool) {
    let mut html = String::from(
        r#"<table class="diff sides"><colgroup><col class="n"><col class="s"><col><col class="n"><col class="s"><col></colgroup><thead><tr><th scope="colgroup" colspan="3">Before</th><th scope="colgroup" colspan="3">After</th></tr></thead><tbody>"#,
    );
    let (mut old, mut new, mut is_cut) = (0, 0, false);
    let (mut removed_lines, mut added_lines) = (Vec::new(), Vec::new());
    for line in lines(diff) {
        if html.len() > PAGE_BYTES {
            is_cut = true;
            break;
        }
        match line {
            Line::Gone(text) => removed_lines.push(text),
            Line::Come(text) => added_lines.push(text),
            Line::Same(text) => {
                beside(
                    &mut html,
                    &mut removed_lines,
                    &mut added_lines,
                    &mut old,
                    &mut new,
                );
                let text = shown(text);
                let _ = write!(
                    html,
                    r#"<tr><td class="n">{old}</td><td class="s"> </td><td>{text}</td><td class="n">{new}</td><td class="s"> </td><td>{text}</td></tr>"#
                );
                (old, new) = (old + 1, new + 1);
            }
            Line::Hunk(text, first, second) => {
                beside(
                    &mut html,
                    &mut removed_lines,
                    &mut added_lines,
                    &mut old,
                    &mut new,
                );
                (old, new) = (first, second);
                let _ = write!(
                    html,
                    r#"<tr class="hunk"><td colspan="6">{}</td></tr>"#,
                    Escaped(text)
                );
            }
        }
    }
    beside(
        &mut html,
        &mut removed_lines,
        &mut added_lines,
        &mut old,
        &mut new,
    );
    html.push_str("</tbody></table>");
    (html, is_cut)
}

fn beside(
    html: &mut String,
    removed_lines: &mut Vec<&str>,
    added_lines: &mut Vec<&str>,
    old: &mut u64,
    new: &mut u64,
) {
    for row in 0..removed_lines.len().max(added_lines.len()) {
        html.push_str("<tr>");
        for (texts, number, class, sign) in [
            (&*removed_lines, &mut *old, "del", "−"),
            (&*added_lines, &mut *new, "add", "+"),
        ] {
            let _ = match texts.get(row) {
                Some(text) => {
                    *number += 1;
                    let (number, text) = (*number - 1, shown(text));
                    write!(
                        html,
                        r#"<td class="n {class}">{number}</td><td class="s {class}">{sign}</td><td class="{class}">{text}</td>"#
                    )
                }
                None => write!(html, r#"<td class="n"></td><td class="s"></td><td></td>"#),
            };
        }
        html.push_str("</tr>");
    }
    removed_lines.clear();
    added_lines.clear();
}

/// Bytes of one line that are shown.
const LINE_BYTES: usize = 4_000;

/// A line, cut if it is too long.
fn shown(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    if text.len() <= LINE_BYTES {
        return Escaped(text).to_string();
    }
    let end = text.floor_char_boundary(LINE_BYTES);
    format!(
        "{}… <span class=\"muted\">({} bytes more)</span>",
        Escaped(&text[..end]),
        text.len() - end
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a\n+++ b\n@@ -3,4 +3,4 @@\n same\n-<old>\n+<new>\n+more\n end\n";

    #[test]
    fn both_forms_show_every_line_with_sign_and_number() {
        let (html, is_cut) = unified(DIFF);
        assert!(!is_cut);
        for part in [
            r#"<td class="n">4</td><td class="n"></td><td class="s">−</td><td>&lt;old&gt;</td>"#,
            r#"<td class="n"></td><td class="n">5</td><td class="s">+</td><td>more</td>"#,
            r#"<td class="n">5</td><td class="n">6</td><td class="s"> </td><td>end</td>"#,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let (html, _) = side_by_side(DIFF);
        for part in [
            r#"<td class="n del">4</td><td class="s del">−</td><td class="del">&lt;old&gt;</td><td class="n add">4</td>"#,
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
            assert!(is_cut || html.len() > PAGE_BYTES);
        }
        let (html, _) = unified(&format!("@@ -1,1 +1,1 @@\n+{}\n", "ä".repeat(90_000)));
        assert!(html.len() < 10_000 && html.contains("bytes more"));
    }
}
