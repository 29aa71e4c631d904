//! Labels of snippets: the file name, the name of the definition, or the introducing sentence.

use super::code::Code;
use super::text::{is_grammar, one_line, shortened};

/// Maximum length of a label in characters.
const MAX_LABEL_CHARS: usize = 80;
/// Number of lines searched for a definition.
const LINES_LOOKED_AT: usize = 30;

/// Keywords before the name of a definition.
const DEFINING: [&str; 14] = [
    "fn",
    "def",
    "class",
    "func",
    "function",
    "struct",
    "enum",
    "trait",
    "interface",
    "impl",
    "type",
    "module",
    "table",
    "service",
];
/// Modifiers that may precede those keywords.
const MODIFIERS: &str = " pub pub(crate) async export default public private protected static const unsafe abstract final \
    create declare if not exists or replace ";
/// File names without a dot or slash.
const PLAIN_FILES: [&str; 6] = [
    "Makefile",
    "Dockerfile",
    "Justfile",
    "Procfile",
    "Jenkinsfile",
    "Vagrantfile",
];
/// Extensions that distinguish a file name from the end of a sentence or a version.
const EXTENSIONS: &str = " rs py js ts tsx jsx go java kt c h cc cpp hpp cs rb php swift scala sh bash zsh fish ps1 sql toml \
    yaml yml json xml html css scss md txt ini cfg conf env lock proto graphql tf gradle properties vue svelte ex exs erl hs \
    ml lua pl r jl dart zig nix cmake mk dockerfile service ";

/// The label of a snippet.
pub(super) struct Label {
    /// One line, without `=>`.
    pub(super) text: String,
    /// Whether it names a file, so that a later snippet with the same label replaces it.
    pub(super) is_place: bool,
    /// The more specific, the higher.
    pub(super) weight: u8,
}

impl Label {
    pub(super) fn of(code: &Code, task: Option<&str>) -> Self {
        let mut info = code.info.split_whitespace();
        let language = info
            .next()
            .filter(|word| word.chars().all(|c| c.is_alphanumeric() || "+#-_.".contains(c)));
        let definition = code.body.lines().take(LINES_LOOKED_AT).find_map(definition);
        let path = path_of_info(&code.info)
            .or_else(|| path_of_comment(&code.body))
            .or_else(|| path_in(&code.lead));
        let lead = introduction(&code.lead);
        let (text, weight) = match (path, definition, lead) {
            (Some(path), Some(definition), _) => (format!("{path} {definition}"), 5),
            (Some(path), None, _) => (path.to_owned(), 3),
            (None, Some(definition), _) => (definition, 2),
            (None, None, Some(lead)) => (lead, 2),
            (None, None, None) => {
                let what =
                    language.map_or_else(|| "snippet".to_owned(), |language| format!("{language} snippet"));
                (task.map_or(what.clone(), |task| format!("{what} for {task}")), 1)
            }
        };
        let text = shortened(&one_line(&text.replace("=>", "->")), MAX_LABEL_CHARS);
        let text = if is_grammar(&text) {
            "snippet".to_owned()
        } else {
            text
        };
        Self {
            text,
            is_place: path.is_some(),
            weight: weight + u8::from(language.is_some()),
        }
    }
}

/// The path after the language in an info string: `rust src/lib.rs`, `title="src/lib.rs"`, `rust:src/lib.rs`.
fn path_of_info(info: &str) -> Option<&str> {
    info.split_whitespace().find_map(|word| {
        let value = word
            .rsplit(['=', ':'])
            .find(|part| !part.chars().all(|c| c.is_ascii_digit()))
            .unwrap_or(word);
        as_path(value)
    })
}

/// The path in a first line that is a comment with only a path.
fn path_of_comment(body: &str) -> Option<&str> {
    let line = body.lines().next()?.trim();
    let inside = ["//", "#", "--", ";", "/*", "<!--"]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))?;
    let inside = inside
        .trim()
        .trim_end_matches("*/")
        .trim_end_matches("-->")
        .trim();
    as_path(inside.strip_prefix("file: ").unwrap_or(inside))
}

/// The last path in a line of prose.
fn path_in(lead: &str) -> Option<&str> {
    lead.split_whitespace().rev().find_map(as_path)
}

/// The word as a path, if it looks like one: `src/lib.rs`, `Cargo.toml:12`, `Makefile`.
fn as_path(word: &str) -> Option<&str> {
    let word = word
        .trim_matches(|c: char| !c.is_alphanumeric() && !"/._~".contains(c))
        .trim_end_matches('.');
    let word = word.split_once(':').map_or(word, |(path, _)| path);
    let characters = word.chars().all(|c| c.is_alphanumeric() || "/._-~@+".contains(c));
    let name = word.rsplit('/').next().unwrap_or(word);
    let known = name
        .rsplit_once('.')
        .is_some_and(|(_, ending)| EXTENSIONS.contains(&format!(" {} ", ending.to_lowercase())));
    (characters && !name.is_empty() && !word.contains("//") && (known || PLAIN_FILES.contains(&name)))
        .then_some(word)
}

/// The definition on a line: `fn parse`, `class Store`, `table users`.
fn definition(line: &str) -> Option<String> {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| MODIFIERS.contains(&format!(" {} ", word.to_lowercase())));
    let keyword = words.next()?.to_lowercase();
    let keyword = DEFINING.iter().find(|defining| **defining == keyword)?;
    let mut names = words.skip_while(|word| MODIFIERS.contains(&format!(" {} ", word.to_lowercase())));
    let name: String = names
        .next()?
        .chars()
        .take_while(|c| c.is_alphanumeric() || "_.:".contains(*c))
        .take(60)
        .collect();
    let name = name.trim_end_matches(':');
    (!name.is_empty()).then(|| format!("{keyword} {name}"))
}

/// The sentence that introduces a snippet, as a label.
fn introduction(lead: &str) -> Option<String> {
    let sentence = lead.rsplit(". ").next().unwrap_or(lead);
    let text = sentence.trim_matches(|c: char| " :.,*#->•".contains(c));
    let lower = text.to_ascii_lowercase();
    let opening = [
        "here is the ",
        "here's the ",
        "here is ",
        "here's ",
        "this is the ",
        "this is ",
        "the ",
        "a ",
        "and ",
        "then ",
    ]
    .into_iter()
    .find(|opening| lower.starts_with(opening));
    let text = opening
        .filter(|_| lower.len() == text.len())
        .map_or(text, |opening| &text[opening.len()..]);
    let words = text.split_whitespace().count();
    (2..=14).contains(&words).then(|| text.to_owned())
}
