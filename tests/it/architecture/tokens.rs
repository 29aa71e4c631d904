//! The words and signs of Rust code, without comments and string literals.

/// A string literal after `=` counts as code where it is a path, as in `#[serde(default = "super::size")]`.
pub(super) fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(text) = text_at(rest) {
            let content = text.trim_matches('"');
            if tokens.last().is_some_and(|token| token == "=") && is_path(content) {
                tokens.extend(self::tokens(content));
            }
            text.len()
        } else if let Some(length) = length_of_character(rest) {
            length
        } else if is_word(rest) {
            let length = rest.find(|c| !is_part_of_word(c)).unwrap_or(rest.len());
            // `r#type` is the word `type`.
            if !rest[length..].starts_with('#') || &rest[..length] != "r" {
                tokens.push(rest[..length].to_owned());
            }
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Whether a token is a word, or the remaining code starts with one.
pub(super) fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_path(text: &str) -> bool {
    text.contains("::") && text.chars().all(|c| is_part_of_word(c) || c == ':')
}

/// The string literal, with its quotes, at the start of the code: `"a"`, `b"a"`, `r#"a"#`.
fn text_at(code: &str) -> Option<&str> {
    let prefix = code.len() - code.trim_start_matches(['b', 'c', 'r']).len();
    let is_raw = code[..prefix].contains('r');
    let opened = code[prefix..].trim_start_matches('#');
    let signs = code.len() - prefix - opened.len();
    let inside = opened
        .strip_prefix('"')
        .filter(|_| prefix < 3 && (is_raw || signs == 0))?;
    let length = if is_raw {
        let end = format!("\"{}", "#".repeat(signs));
        inside.find(&end)? + end.len()
    } else {
        let mut is_escaped = false;
        inside.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })? + 1
    };
    Some(&code[..code.len() - inside.len() + length])
}

/// The length of the character literal at the start of the code: of `'a'`, but not of a lifetime, `'a`.
fn length_of_character(code: &str) -> Option<usize> {
    let inside = code.strip_prefix('\'')?;
    let mut characters = inside.char_indices();
    let (_, first) = characters.next()?;
    let (second, quote) = characters.next()?;
    if first == '\\' {
        return Some(inside[second + quote.len_utf8()..].find('\'')? + second + quote.len_utf8() + 2);
    }
    (quote == '\'').then_some(second + 2)
}

#[test]
fn comments_and_string_literals_are_no_tokens() {
    let code = r##"fn f<'a>() { g('\'', '"', "a::b", r#"h"i"#, b"\\"); } // j
        #[k(default = "super::l", m = "n")] r#type::<'_>::o"##;
    let tokens = tokens(code).join(" ");
    let expected = "fn f < ' a > ( ) { g ( , , , , ) ; } \
                    # [ k ( default = super :: l , m = ) ] # type :: < ' _ > :: o";
    assert_eq!(tokens, expected);
}
