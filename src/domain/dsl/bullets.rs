//! Bullets, "no change", and placeholders.

/// Returns the text after a bullet's mark, without surrounding blanks.
pub(super) fn text(content: &str) -> Option<&str> {
    let after = match content.as_bytes().first()? {
        b'-' => &content[1..],
        b'*' => &content[1..],
        0xE2 => content.strip_prefix('•')?,
        b'0'..=b'9' => {
            let digits = content.bytes().take(6).take_while(u8::is_ascii_digit).count();
            content[digits..]
                .strip_prefix(['.', ')'])
                .filter(|_| digits <= 5)?
        }
        _ => return None,
    };
    // A mark needs a blank after it: `--flag`, `**bold**` and `1.5` are text.
    if after.is_empty() || after.starts_with(char::is_whitespace) {
        Some(after.trim())
    } else {
        None
    }
}

/// Whether a text means that there is nothing to change: `(none)`, `none`, `no change`, `no changes`, `n/a`,
/// in any case, optionally in round or square brackets, with or without full stop or emphasis.
pub(super) fn is_no_change(text: &str) -> bool {
    const WORDS: [&str; 4] = ["none", "no change", "no changes", "n/a"];
    // Longer than any of the words with their decoration.
    if text.is_empty() || text.len() > 24 {
        return false;
    }
    let bare = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '*' | '_' | '`'));
    let unbracketed = match (bare.chars().next(), bare.chars().last()) {
        (Some('('), Some(')')) | (Some('['), Some(']')) => &bare[1..bare.len() - 1],
        _ => bare,
    };
    let bare = unbracketed.trim_matches(|c: char| c.is_whitespace() || c == '.');
    WORDS.iter().any(|word| {
        bare.len() == word.len()
            && bare.bytes().zip(word.bytes()).all(|(written, wanted)| {
                written.eq_ignore_ascii_case(&wanted) || (wanted == b' ' && matches!(written, b'_' | b'-'))
            })
    })
}

/// Whether a text is a single `<…>` of letters, digits, blanks and `-_|(),.`: a template placeholder, not
/// content.
pub(super) fn is_placeholder(text: &str) -> bool {
    let inner = text
        .trim()
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| {
        !inner.is_empty()
            && inner
                .chars()
                .all(|c| c.is_alphanumeric() || c.is_whitespace() || "-_|(),.".contains(c))
    })
}

/// Whether a snippet is a template placeholder. `<div>` is a valid snippet, `<snippet>` is not.
pub(super) fn is_template_snippet(snippet: &str) -> bool {
    is_placeholder(snippet)
        && ["<snippet", "<verbatim", "<code", "<exact"].iter().any(|start| {
            snippet
                .trim()
                .get(..start.len())
                .is_some_and(|written| written.eq_ignore_ascii_case(start))
        })
        && !snippet.trim().eq_ignore_ascii_case("<code>")
}
