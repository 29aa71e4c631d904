//! Makes `sqlx::migrate!` notice a new migration file, which the compiler does not by itself.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
