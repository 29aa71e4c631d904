//! Measures searches by meaning: fills a database with vectors of many vaults and times the search of one, as the service
//! does it. `docs/performance.md` has results.
//!
//! ```text
//! cargo build --release --example meaning_speed
//! working-memory with-postgres -- target/release/examples/meaning_speed [PASSAGES] [OF_THE_VAULT] [DIMENSIONS]
//! ```
//!
//! Vectors are random but lie in clusters, as those of texts do; a memory has 20 passages.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use working_memory::clock::{Clock, SystemClock};
use working_memory::domain::ids::VaultId;
use working_memory::domain::search::passages::{quantised, signs, similarity};
use working_memory::storage::search::vectors::{Nearest, PassageFilter};
use working_memory::storage::{PoolOptions, Storage};

const PER_MEMORY: usize = 20;
const CLUSTERS: usize = 2_000;
const QUERIES: usize = 200;
const LIMIT: usize = 400;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (all, of_vault, dimensions) = (number(1_000_000)?, number(100_000)?, number(256)?);
    let storage = connect()?;
    storage.migrate().await?;
    let mut random = fastrand::Rng::with_seed(7);
    let centres: Vec<Vec<f32>> = (0..CLUSTERS)
        .map(|_| vector(&mut random, dimensions, None))
        .collect();
    let measured: VaultId = "measured".parse()?;
    let mut samples: Vec<Vec<u8>> = Vec::new();
    let started = Instant::now();
    let share = all.div_ceil(of_vault.max(1));
    for memory in 0..all.div_ceil(PER_MEMORY) {
        // The vault's memories are spread among those of others, as in a real table.
        let vault = match memory % share {
            0 => measured.as_str().to_owned(),
            other => format!("other-{}", other % 50),
        };
        let vectors: Vec<Vec<f32>> = (0..PER_MEMORY)
            .map(|_| {
                let centre = &centres[random.usize(..CLUSTERS)];
                vector(&mut random, dimensions, Some(centre))
            })
            .collect();
        if vault == measured.as_str() {
            samples.extend(vectors.iter().map(|vector| quantised(vector)));
        }
        fill(&storage, &vault, memory, &vectors).await?;
    }
    sqlx::query("VACUUM ANALYZE").execute(storage.pool()).await?;
    let size: String = sqlx::query_scalar("SELECT pg_size_pretty(pg_total_relation_size('search_vectors'))")
        .fetch_one(storage.pool())
        .await?;
    let filled = started.elapsed().as_secs();
    println!(
        "{all} passages of {dimensions} dimensions, {} of them of one vault: {size}, filled in {filled} s",
        samples.len()
    );

    let filter = PassageFilter::active();
    let (mut times, mut right) = (Vec::new(), 0);
    for _ in 0..QUERIES {
        let centre = &centres[random.usize(..CLUSTERS)];
        let query = vector(&mut random, dimensions, Some(centre));
        let begun = Instant::now();
        let found = storage
            .nearest_passages(Nearest {
                vault: &measured,
                memory: None,
                space: "speed",
                query: &query,
                filter: &filter,
                limit: LIMIT,
            })
            .await?;
        times.push(begun.elapsed());
        // Compared with every vector of the vault.
        let mut exact: Vec<f32> = samples.iter().map(|vector| similarity(&query, vector)).collect();
        exact.sort_by(|one, other| other.total_cmp(one));
        let least = exact[9];
        right += found.iter().take(10).filter(|near| near.score >= least).count();
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "milliseconds: median {:.1}, 95 of 100 {:.1}, 99 of 100 {:.1}",
        at(0.5),
        at(0.95),
        at(0.99)
    );
    println!("of the 10 nearest {:.1} are found", right as f64 / QUERIES as f64);
    Ok(())
}

fn vector(random: &mut fastrand::Rng, dimensions: usize, near: Option<&Vec<f32>>) -> Vec<f32> {
    (0..dimensions)
        .map(|place| {
            let noise = random.f32() + random.f32() + random.f32() - 1.5;
            near.map_or(noise, |near| near[place] + noise * 0.8)
        })
        .collect()
}

/// Inserts a memory with its vectors as the service stores them.
async fn fill(storage: &Storage, vault: &str, memory: usize, vectors: &[Vec<f32>]) -> Outcome<()> {
    let id = format!("m{memory}");
    let join = |part: fn(&[f32]) -> Vec<u8>| {
        vectors
            .iter()
            .flat_map(|vector| part(vector))
            .collect::<Vec<u8>>()
    };
    let hashes: Vec<u8> = (0..vectors.len() * 16).map(|byte| (byte % 251) as u8).collect();
    sqlx::query(
        "WITH memory AS (
           INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
           VALUES ($1, $2, 1, $2, $3, $3)
         )
         INSERT INTO search_vectors (vault_id, space_id, memory_id, hashes, flags, numbers, signs, vectors)
         VALUES ($1, 'speed', $2, $4, $5, $6, $7, $8)",
    )
    .bind(vault)
    .bind(&id)
    .bind(SystemClock.now())
    .bind(&hashes)
    .bind(vec![0_u8; vectors.len()])
    .bind(vec![0_i64; vectors.len()])
    .bind(join(signs))
    .bind(join(quantised))
    .execute(storage.pool())
    .await?;
    Ok(())
}

fn connect() -> Outcome<Storage> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let options = PoolOptions {
        url: std::env::var("DATABASE_URL")?,
        max_connections: 8,
        prepared_statements: true,
        acquire_timeout: Duration::from_secs(30),
        head_cache_bytes: 0,
        gather_puts: false,
    };
    Ok(Storage::connect_lazy(&options, clock)?)
}
