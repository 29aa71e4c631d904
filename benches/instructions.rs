//! One of the pure parts once, for `valgrind --tool=callgrind`, which counts the instructions of `counted` alone:
//!
//! ```sh
//! instructions list             # the names
//! instructions NAME SCALE       # once, on SCALE times as much input; says how many bytes that is
//! ```
#![expect(clippy::print_stdout, reason = "a program")]

mod work;

use std::process::ExitCode;
use work::Work;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => {
            for work in work::all(1) {
                println!("{}", work.name);
            }
            ExitCode::SUCCESS
        }
        [name, scale] => {
            let works = work::all(scale.parse().unwrap_or(1));
            let Some(work) = works.iter().find(|work| work.name == name) else {
                return ExitCode::FAILURE;
            };
            // The first run includes one-time initialisation.
            work.run();
            counted(work);
            println!("{}", work.bytes);
            ExitCode::SUCCESS
        }
        // A test runner that runs all targets does not count.
        _ => ExitCode::SUCCESS,
    }
}

#[inline(never)]
fn counted(work: &Work) {
    work.run();
}
