//! Measures searches: fills a vault with documents, indexes them as the service does, and times queries of several
//! kinds. `docs/performance.md` has results.
//!
//! ```text
//! cargo build --release --example search_speed
//! working-memory with-postgres -- target/release/examples/search_speed [DOCUMENTS] [BYTES]
//! ```
//!
//! Words are drawn from 30,000 by Zipf's law, as in real text: a few occur in every document, most in few.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use working_memory::clock::{Clock, SystemClock};
use working_memory::domain::ids::VaultId;
use working_memory::domain::search::Query;
use working_memory::storage::{PoolOptions, Storage};

const VOCABULARY: usize = 30_000;
const ROUNDS: usize = 300;
const CLIENTS: usize = 2;

/// The rows that a page of the default size reads, and those it shows.
const PAGE: i64 = 51;
const SHOWN: usize = 50;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (documents, bytes) = (number(50_000)?, number(4_096)?);
    let storage = connect()?;
    storage.migrate().await?;
    let vault: VaultId = "search-speed".parse()?;
    let mut random = fastrand::Rng::with_seed(7);
    let words: Vec<String> = (0..VOCABULARY).map(|_| word(&mut random)).collect();

    let there: i64 = sqlx::query_scalar("SELECT count(*) FROM search_entries WHERE vault_id = $1")
        .bind(vault.as_str())
        .fetch_one(storage.pool())
        .await?;
    // Documents of an earlier run of the same size are reused.
    if there != i64::try_from(documents)? {
        prepare(&storage, &vault, &words, documents, bytes, &mut random).await?;
    }
    let samples = sqlx::query_scalar("SELECT context FROM memory_contexts WHERE vault_id = $1 LIMIT 400")
        .bind(vault.as_str())
        .fetch_all(storage.pool())
        .await?;

    println!(
        "{:<28} {:>7} {:>7} {:>7} {:>7}",
        "milliseconds", "p50", "p95", "p99", "results"
    );
    let mut all = Vec::new();
    for (kind, make) in kinds() {
        let queries: Vec<_> = (0..ROUNDS).map(|_| make(&words, &samples, &mut random)).collect();
        let (times, results) = measure(&storage, &vault, queries).await?;
        report(kind, times.clone(), Some(results));
        all.extend(times);
    }
    report("all", all, None);
    Ok(())
}

/// Fills the vault and indexes it.
async fn prepare(
    storage: &Storage,
    vault: &VaultId,
    words: &[String],
    documents: usize,
    bytes: usize,
    random: &mut fastrand::Rng,
) -> Outcome<()> {
    sqlx::query("DELETE FROM memories WHERE vault_id = $1")
        .bind(vault.as_str())
        .execute(storage.pool())
        .await?;
    fill(storage, vault, words, documents, bytes, random).await?;
    let started = Instant::now();
    storage.index_vault(vault).await?;
    let indexing = started.elapsed().as_secs_f64();
    println!(
        "{documents} documents of {bytes} bytes, indexed in {indexing:.1} s, {:.2} ms each",
        indexing * 1e3 / documents as f64
    );
    let size: String = sqlx::query_scalar("SELECT pg_size_pretty(pg_total_relation_size('search_entries'))")
        .fetch_one(storage.pool())
        .await?;
    println!("entries and their index: {size}");
    sqlx::query("VACUUM ANALYZE").execute(storage.pool()).await?;
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

fn word(random: &mut fastrand::Rng) -> String {
    let syllable = |random: &mut fastrand::Rng| {
        let consonant = random.choice(*b"bcdfghklmnprstvw").unwrap_or(b'b');
        let vowel = random.choice(*b"aeiou").unwrap_or(b'a');
        [consonant, vowel].map(char::from).iter().collect::<String>()
    };
    (0..random.usize(1..5)).map(|_| syllable(random)).collect()
}

/// The rank of a word: the n-th most frequent occurs 1/n times as often as the first.
fn rank(random: &mut fastrand::Rng) -> usize {
    ((VOCABULARY as f64).powf(random.f64()) as usize).min(VOCABULARY) - 1
}

/// Stores documents with the rows of a put.
async fn fill(
    storage: &Storage,
    vault: &VaultId,
    words: &[String],
    documents: usize,
    bytes: usize,
    random: &mut fastrand::Rng,
) -> Outcome<()> {
    let all: Vec<usize> = (0..documents).collect();
    for chunk in all.chunks(500) {
        let mut ids = Vec::new();
        let mut texts = Vec::new();
        for number in chunk {
            let mut text = String::from("# Current Progress\n## In Progress\n-");
            while text.len() < bytes {
                text.push_str(if random.u8(..) < 16 { ".\n- " } else { " " });
                text.push_str(&words[rank(random)]);
            }
            ids.push(format!("m{number}"));
            texts.push(text);
        }
        sqlx::query(
            "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
             SELECT $1, id, 1, id, $3, $3 FROM unnest($2::text[]) AS id",
        )
        .bind(vault.as_str())
        .bind(&ids)
        .bind(SystemClock.now())
        .execute(storage.pool())
        .await?;
        sqlx::query(
            "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                          source, bytes, log)
             SELECT $1, id, id, 'speed', text, $4, 1, 'put', octet_length(text), ''
             FROM unnest($2::text[], $3::text[]) AS put (id, text)",
        )
        .bind(vault.as_str())
        .bind(&ids)
        .bind(&texts)
        .bind(SystemClock.now())
        .execute(storage.pool())
        .await?;
    }
    Ok(())
}

type Make = fn(&[String], &[String], &mut fastrand::Rng) -> String;

/// Each query consists of words that occur in some document.
fn kinds() -> [(&'static str, Make); 9] {
    [
        ("one frequent word", |words, _, random| {
            format!("\"{}\"", words[random.usize(..20)])
        }),
        ("one common word", |words, _, random| {
            format!("\"{}\"", words[random.usize(20..1_000)])
        }),
        ("one rare word", |words, _, random| {
            format!("\"{}\"", words[random.usize(1_000..VOCABULARY)])
        }),
        ("beginning of a word", |words, _, random| {
            let word = &words[random.usize(..VOCABULARY)];
            word[..word.len().min(4)].to_owned()
        }),
        ("two words", |_, samples, random| {
            pick(samples, random, 2).join(" ")
        }),
        ("four words", |_, samples, random| {
            pick(samples, random, 4).join(" ")
        }),
        ("quoted, two words", |_, samples, random| {
            let all: Vec<_> = samples[random.usize(..samples.len())]
                .split_whitespace()
                .collect();
            let at = random.usize(6..all.len() - 2);
            format!("\"{} {}\"", all[at], all[at + 1])
        }),
        ("either of two words", |_, samples, random| {
            pick(samples, random, 2).join(" or ")
        }),
        ("one word, not another", |_, samples, random| {
            pick(samples, random, 2).join(" -")
        }),
    ]
}

/// Different words of one document.
fn pick(samples: &[String], random: &mut fastrand::Rng, count: usize) -> Vec<String> {
    let text = &samples[random.usize(..samples.len())];
    let all: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    random
        .choose_multiple(all, count)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// Runs the queries on a few connections concurrently.
async fn measure(
    storage: &Storage,
    vault: &VaultId,
    queries: Vec<String>,
) -> Outcome<(Vec<Duration>, usize)> {
    let mut clients = Vec::new();
    for part in queries.chunks(queries.len().div_ceil(CLIENTS)) {
        let (storage, vault, part) = (storage.clone(), vault.clone(), part.to_vec());
        clients.push(tokio::spawn(async move {
            let (mut times, mut results) = (Vec::new(), 0);
            for text in part {
                let started = Instant::now();
                let query = Query::parse(&text);
                let found = storage.search(&vault, &query, None, PAGE).await?;
                let shown = &found[..found.len().min(SHOWN)];
                results += storage.search_results(&vault, &query, shown).await?.len();
                times.push(started.elapsed());
            }
            Outcome::Ok((times, results))
        }));
    }
    let (mut times, mut results) = (Vec::new(), 0);
    for client in clients {
        let (part, found) = client.await??;
        times.extend(part);
        results += found;
    }
    Ok((times, results))
}

fn report(kind: &str, mut times: Vec<Duration>, results: Option<usize>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let results = results.map_or(String::new(), |results| {
        format!("{:.1}", results as f64 / times.len() as f64)
    });
    println!(
        "{kind:<28} {:>7.1} {:>7.1} {:>7.1} {results:>7}",
        at(0.5),
        at(0.95),
        at(0.99)
    );
}
