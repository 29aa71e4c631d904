//! The imports between files: the modules of a crate, their declarations and imports, and the paths in their code, resolved to
//! the file that declares the name. A re-export is resolved and is no import by itself; nor is a module, only the names used
//! from it. Methods are not resolved: they belong to no file that is named.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::tokens::{is_word, tokens};

/// For each pair of files, from the one that uses to the one that declares: the names.
pub(super) type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// The imports between the files of a crate: their code by path, below the folder of `lib.rs`.
pub(super) fn arrows(files: &BTreeMap<String, String>) -> Arrows {
    let mut modules = Modules {
        files,
        all: Vec::new(),
    };
    modules.read_file("lib.rs", None);
    modules.arrows()
}

const ROOT: usize = 0;
/// The longest chain of re-exports; a longer one is a cycle.
const MOST_STEPS: usize = 16;

struct Modules<'a> {
    files: &'a BTreeMap<String, String>,
    all: Vec<Module>,
}

/// A module: of a file, or inline.
#[derive(Default)]
struct Module {
    file: String,
    /// The folder of its submodules.
    folder: String,
    parent: Option<usize>,
    children: HashMap<String, usize>,
    declared: HashSet<String>,
    imports: Vec<Import>,
    /// The paths of two segments and more, outside of imports.
    paths: Vec<Vec<String>>,
    words: HashSet<String>,
}

/// One name of a `use`. `*` means all names.
struct Import {
    name: String,
    path: Vec<String>,
    is_exported: bool,
}

#[derive(Clone, PartialEq)]
enum Target {
    Module(usize),
    Item { file: String, name: String },
}

impl Modules<'_> {
    fn read_file(&mut self, file: &str, parent: Option<usize>) -> usize {
        let code = tokens(&self.files[file]);
        let folder = match file
            .strip_suffix("mod.rs")
            .or_else(|| file.strip_suffix("lib.rs"))
        {
            Some(folder) => folder.to_owned(),
            None => format!("{}/", file.trim_end_matches(".rs")),
        };
        self.read(&code, file, folder, parent)
    }

    fn read(&mut self, code: &[String], file: &str, folder: String, parent: Option<usize>) -> usize {
        let id = self.all.len();
        self.all.push(Module {
            file: file.to_owned(),
            folder,
            parent,
            ..Module::default()
        });
        let word = |at: usize| code.get(at).map_or("", String::as_str);
        let mut depth = 0;
        let mut at = 0;
        while at < code.len() {
            let next = word(at + 1);
            match word(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                "use" if is_word(next) || next == "{" || next == "::" => {
                    let end = at + code[at..].iter().position(|token| token == ";").unwrap();
                    let is_exported = at > 0 && (word(at - 1) == "pub" || word(at - 1) == ")");
                    let mut imports = Vec::new();
                    read_tree(&code[at + 1..end], &[], &mut imports);
                    self.all[id]
                        .imports
                        .extend(imports.into_iter().map(|(name, path)| Import {
                            name,
                            path,
                            is_exported,
                        }));
                    at = end;
                }
                "mod" if depth == 0 && is_word(next) => {
                    let child = if word(at + 2) == "{" {
                        let end = at + 2 + length_of_block(&code[at + 2..]);
                        let folder = format!("{}{next}/", self.all[id].folder);
                        let child = self.read(&code[at + 3..end], file, folder, Some(id));
                        at = end - 1;
                        child
                    } else {
                        let base = format!("{}{next}", self.all[id].folder);
                        let places = [format!("{base}.rs"), format!("{base}/mod.rs")];
                        let place = places.iter().find(|place| self.files.contains_key(*place));
                        let place = place.unwrap_or_else(|| panic!("{file}: no file of {next}"));
                        self.read_file(place, Some(id))
                    };
                    self.all[id].children.insert(next.to_owned(), child);
                    at += 1;
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                    if depth == 0 && is_word(next) && next != "fn" =>
                {
                    self.all[id].declared.insert(next.to_owned());
                    at += 1;
                }
                "macro_rules" if depth == 0 => {
                    self.all[id].declared.insert(word(at + 2).to_owned());
                    at += 2;
                }
                first if is_word(first) => {
                    let mut path = vec![first.to_owned()];
                    while word(at + 1) == "::" && is_word(word(at + 2)) {
                        path.push(word(at + 2).to_owned());
                        at += 2;
                    }
                    let module = &mut self.all[id];
                    module.words.insert(path[0].clone());
                    if path.len() > 1 {
                        module.paths.push(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        id
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (id, module) in self.all.iter().enumerate() {
            let imported = module.imports.iter().filter(|import| {
                !import.is_exported || import.name == "*" || module.words.contains(&import.name)
            });
            let paths = imported.map(|import| &import.path).chain(&module.paths);
            for target in paths.flat_map(|path| self.resolve(id, path, 0)) {
                let Target::Item { file, name } = target else {
                    continue;
                };
                if file != module.file {
                    arrows
                        .entry((module.file.clone(), file))
                        .or_default()
                        .insert(name);
                }
            }
        }
        arrows
    }

    /// The declarations that a path names, seen from a module: none where it leaves the crate, and two where a module and a
    /// function have one name.
    fn resolve(&self, from: usize, path: &[String], steps: usize) -> Vec<Target> {
        if steps > MOST_STEPS {
            return Vec::new();
        }
        let mut at = match path[0].as_str() {
            "crate" => vec![Target::Module(ROOT)],
            "self" => vec![Target::Module(from)],
            "super" => self.all[from].parent.map(Target::Module).into_iter().collect(),
            name => self.lookup(from, name, steps).unwrap_or_default(),
        };
        for name in &path[1..] {
            let module = at.iter().find_map(|target| match target {
                Target::Module(module) => Some(*module),
                Target::Item { .. } => None,
            });
            // The remaining segments after an item are its variants and functions.
            let Some(module) = module else { return at };
            at = match name.as_str() {
                "super" => self.all[module].parent.map(Target::Module).into_iter().collect(),
                "self" => vec![Target::Module(module)],
                // A name that is declared nowhere was generated by a macro of the module.
                name => self.lookup(module, name, steps).unwrap_or_else(|| {
                    let file = self.all[module].file.clone();
                    vec![Target::Item {
                        file,
                        name: name.to_owned(),
                    }]
                }),
            };
        }
        at
    }

    /// The declaration of a name within a module, if there is one.
    fn lookup(&self, id: usize, name: &str, steps: usize) -> Option<Vec<Target>> {
        let module = &self.all[id];
        let mut found: Vec<Target> = module
            .children
            .get(name)
            .map(|id| Target::Module(*id))
            .into_iter()
            .collect();
        let mut is_known = !found.is_empty();
        if module.declared.contains(name) {
            is_known = true;
            found.push(Target::Item {
                file: module.file.clone(),
                name: name.to_owned(),
            });
        }
        for import in module.imports.iter().filter(|import| import.name == name) {
            is_known = true;
            found.extend(self.resolve(id, &import.path, steps + 1));
        }
        is_known.then_some(found)
    }
}

/// The names of a `use`, each with its full path.
fn read_tree(tree: &[String], before: &[String], imports: &mut Vec<(String, Vec<String>)>) {
    let mut path = before.to_vec();
    let mut name = None;
    let mut at = 0;
    while at < tree.len() {
        match tree[at].as_str() {
            "{" => {
                let end = at + length_of_block(&tree[at..]);
                let mut start = at + 1;
                while start < end {
                    let length = length_of_branch(&tree[start..end]);
                    read_tree(&tree[start..start + length], &path, imports);
                    start += length + 1;
                }
                return;
            }
            "as" => {
                name = Some(tree[at + 1].clone());
                break;
            }
            "self" if !path.is_empty() => {}
            "::" => {}
            segment => path.push(segment.to_owned()),
        }
        at += 1;
    }
    if let Some(last) = path.last() {
        imports.push((name.unwrap_or_else(|| last.clone()), path));
    }
}

/// The distance from an opening bracket to its closing one.
fn length_of_block(code: &[String]) -> usize {
    let mut depth = 0;
    let closes = |token: &String| {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    code.iter().position(closes).unwrap()
}

/// The distance to the next comma outside of brackets.
fn length_of_branch(tree: &[String]) -> usize {
    let mut depth = 0;
    let ends = |token: &String| {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && token == ","
    };
    tree.iter().position(ends).unwrap_or(tree.len())
}
