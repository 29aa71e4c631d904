//! Properties: whatever is written on both sides between any two steps, and wherever the program is killed, once
//! writing stops both sides are equal, and every text exists that was not read and then changed or deleted.

use super::*;
use crate::cli::folder::swap::conflict_paths;
use proptest::prelude::*;

const PATHS: [&str; 3] = ["a.md", "b.md", "n/a.md"];

/// An action between two steps.
#[derive(Debug, Clone)]
enum Act {
    /// Writes a new unique text, or deletes; in the folder, or else on the service.
    Edit { folder: bool, path: usize, delete: bool },
    /// Nothing.
    Rest,
    /// The program is killed before or after its next operation.
    Kill { before: bool },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (any::<bool>(), 0..8_usize, prop::bool::weighted(0.25))
            .prop_map(|(folder, path, delete)| Act::Edit { folder, path, delete }),
        8 => Just(Act::Rest),
        1 => any::<bool>().prop_map(|before| Act::Kill { before }),
    ]
}

/// A folder and a service.
#[derive(Debug, Default)]
struct World {
    folder: BTreeMap<String, String>,
    service: BTreeMap<String, (String, String)>,
    /// The saved base, which the program reads when it is started again.
    saved: Bases,
    saves: usize,
    acts: Vec<Act>,
    written: u32,
    versions: u32,
    /// Texts that were written and not yet read and then changed or deleted.
    alive: BTreeSet<String>,
    /// The program is to be killed after its next operation.
    dies: bool,
}

fn killed() -> Failure {
    Failure::failed("killed")
}

impl World {
    fn version(&mut self) -> String {
        self.versions += 1;
        format!("v{}", self.versions)
    }

    fn edit(&mut self, folder: bool, path: usize, delete: bool) {
        // Copies of conflicts are edited, too.
        let mut paths: BTreeSet<String> = PATHS.iter().map(|path| (*path).to_owned()).collect();
        paths.extend(self.folder.keys().cloned());
        let Some(path) = paths.iter().nth(path % paths.len()).cloned() else {
            return;
        };
        let seen = match folder {
            true => self.folder.remove(&path),
            false => self.service.remove(&path).map(|(_, text)| text),
        };
        if let Some(seen) = &seen {
            self.alive.remove(seen);
        }
        if delete {
            return;
        }
        self.written += 1;
        let text = format!("text {}", self.written);
        self.alive.insert(text.clone());
        match folder {
            true => drop(self.folder.insert(path, text)),
            false => {
                let version = self.version();
                self.service.insert(path, (version, text));
            }
        }
    }

    /// Called before each operation of the program.
    fn pass(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.dies) {
            return Err(killed());
        }
        match self.acts.pop() {
            None | Some(Act::Rest) => Ok(()),
            Some(Act::Edit { folder, path, delete }) => {
                self.edit(folder, path, delete);
                Ok(())
            }
            Some(Act::Kill { before: true }) => Err(killed()),
            Some(Act::Kill { before: false }) => {
                self.dies = true;
                Ok(())
            }
        }
    }
}

impl Sides for World {
    async fn local(&mut self, _: &Bases) -> Result<BTreeMap<String, Local>, Failure> {
        self.pass()?;
        let files = self.folder.iter();
        Ok(files
            .map(|(path, text)| (path.clone(), Local::Text(hash(text.as_bytes()))))
            .collect())
    }

    async fn remote(&mut self) -> Result<BTreeMap<String, String>, Failure> {
        self.pass()?;
        let files = self.service.iter();
        Ok(files
            .map(|(path, (version, _))| (path.clone(), version.clone()))
            .collect())
    }

    async fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.pass()?;
        Ok(self.folder.get(path).map(|text| text.clone().into_bytes()))
    }

    async fn fetch(&mut self, path: &str) -> Result<Option<(String, String)>, Failure> {
        self.pass()?;
        Ok(self.service.get(path).cloned())
    }

    async fn send(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Sent, Failure> {
        self.pass()?;
        if self.service.get(path).map(|(version, _)| version.as_str()) != expected {
            return Ok(Sent::Moved);
        }
        let version = self.version();
        self.service
            .insert(path.to_owned(), (version.clone(), text.to_owned()));
        Ok(Sent::Version(version))
    }

    async fn unlink(&mut self, path: &str, version: &str) -> Result<bool, Failure> {
        self.pass()?;
        let is_it = self.service.get(path).is_some_and(|(there, _)| there == version);
        if is_it {
            self.service.remove(path);
        }
        Ok(is_it)
    }

    async fn write(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Placed, Failure> {
        self.pass()?;
        if self.folder.get(path).map(|text| hash(text.as_bytes())).as_deref() != expected {
            return Ok(Placed::Changed);
        }
        self.folder.insert(path.to_owned(), text.to_owned());
        Ok(Placed::Done)
    }

    async fn remove(&mut self, path: &str, expected: &str) -> Result<Placed, Failure> {
        self.pass()?;
        if self.folder.get(path).map(|text| hash(text.as_bytes())).as_deref() != Some(expected) {
            return Ok(Placed::Changed);
        }
        self.folder.remove(path);
        Ok(Placed::Done)
    }

    async fn keep(&mut self, path: &str, text: &[u8]) -> Result<String, Failure> {
        self.pass()?;
        let text = std::str::from_utf8(text).unwrap();
        let copy = conflict_paths(path, &hash(text.as_bytes()))
            .find(|copy| self.folder.get(copy).is_none_or(|there| there == text))
            .ok_or_else(|| Failure::failed("too many copies"))?;
        self.folder.insert(copy.clone(), text.to_owned());
        Ok(copy)
    }

    async fn save(&mut self, bases: &Bases) -> Result<(), Failure> {
        self.pass()?;
        self.saved = bases.clone();
        self.saves += 1;
        Ok(())
    }
}

/// Runs the program until there are no more actions.
fn run(world: &mut World) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    loop {
        let was_quiet = world.acts.is_empty() && !world.dies;
        let bases = world.saved.clone();
        let mut engine = Engine::new(world, bases);
        let ended = runtime.block_on(engine.run(true));
        if was_quiet {
            ended.unwrap();
            return;
        }
    }
}

fn equal(world: &World) -> bool {
    let service = world.service.iter().map(|(path, (_, text))| (path, text));
    service.eq(world.folder.iter())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_is_lost_and_both_sides_become_equal(acts in prop::collection::vec(act(), 0..120)) {
        let mut world = World { acts, ..World::default() };
        run(&mut world);
        prop_assert!(equal(&world), "{world:#?}");
        let there: BTreeSet<&String> = world.folder.values().collect();
        for text in &world.alive {
            prop_assert!(there.contains(text), "{text} is lost: {world:#?}");
        }
        // Equal sides do not change.
        let (before, versions) = (world.folder.clone(), world.versions);
        run(&mut world);
        prop_assert_eq!((&world.folder, world.versions), (&before, versions));
    }
}

#[test]
fn many_files_are_not_saved_one_by_one() {
    let mut world = World::default();
    for number in 0..2_000 {
        world.folder.insert(format!("{number}.md"), number.to_string());
    }
    run(&mut world);
    assert!(equal(&world) && world.saved.len() == 2_000);
    assert!(world.saves < 400, "{}", world.saves);
    // What was not saved is found by comparing.
    world.saved.retain(|path, _| path.len() < 6);
    let versions = world.versions;
    run(&mut world);
    assert!(equal(&world) && world.versions == versions && world.saved.len() == 2_000);
}

#[test]
fn many_deletions_at_once_look_like_a_mistake() {
    assert!(!deletes_too_much(3, 3));
    assert!(deletes_too_much(4, 7));
    assert!(!deletes_too_much(4, 8));
}
