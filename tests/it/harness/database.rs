//! A database for one test, copied from a template that the first test of a schema creates.

use super::TestClock;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use working_memory::storage::{PoolOptions, Storage};

/// The advisory lock that guards the creation of templates across all test processes; any number that nobody else uses.
const TEMPLATE_LOCK: i64 = 0x776d_7465_6d70;

/// Dropped with the value.
pub(crate) struct Database {
    server: PgConnectOptions,
    name: String,
}

impl Database {
    /// A database with the current schema and no rows.
    pub(crate) async fn create() -> Self {
        let server = server();
        let template = template(&server).await;
        Self::of_template(server, &template).await
    }

    /// A database without any schema.
    pub(crate) async fn create_empty() -> Self {
        Self::of_template(server(), "template1").await
    }

    /// The same with another encoding of text.
    pub(crate) async fn create_encoded(encoding: &str) -> Self {
        Self::of_template(server(), &format!("template0 ENCODING '{encoding}' LOCALE 'C'")).await
    }

    async fn of_template(server: PgConnectOptions, template: &str) -> Self {
        let name = format!("wm_test_{}", unique());
        let mut connection = server.connect().await.unwrap();
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        execute(&mut connection, &create).await;
        Self { server, name }
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        self.server
            .clone()
            .database(&self.name)
            .to_url_lossy()
            .to_string()
    }
}

impl Drop for Database {
    /// On a thread with a runtime of its own: `drop` cannot await.
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let mut connection = server.connect().await.unwrap();
                let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                execute(&mut connection, &drop).await;
            });
        });
        // If the server is gone, so is the database; a failed test must show its own failure.
        let _ = dropped.join();
    }
}

/// Names a server that has the Citus extension. Where it is set, every test has its database there, with tables that are
/// distributed over shards on this one server: a statement that cannot be planned over many nodes fails on it too.
const DISTRIBUTED: &str = "TEST_CITUS_URL";

/// Whether the tables of tests are distributed by vault.
pub(super) fn is_distributed() -> bool {
    std::env::var_os(DISTRIBUTED).is_some()
}

fn server() -> PgConnectOptions {
    let url = std::env::var(DISTRIBUTED).or_else(|_| std::env::var("DATABASE_URL"));
    let url = url.expect(
        "DATABASE_URL names a PostgreSQL server for tests: run them under `working-memory with-postgres`",
    );
    PgConnectOptions::from_str(&url)
        .unwrap()
        .disable_statement_logging()
}

/// The name of the template of the current schema, which is created if it does not exist.
async fn template(server: &PgConnectOptions) -> String {
    let name = format!("wm_template_{:016x}", fingerprint());
    let mut connection = server.connect().await.unwrap();
    let lock = format!("SELECT pg_advisory_lock({TEMPLATE_LOCK})");
    execute(&mut connection, &lock).await;
    let complete = "SELECT datistemplate FROM pg_database WHERE datname = $1";
    let complete = sqlx::query_scalar::<_, bool>(complete).bind(&name);
    let complete = complete.fetch_optional(&mut connection).await.unwrap();
    if complete != Some(true) {
        // A template that exists and is not marked as complete was left by a process that died while creating it.
        let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        execute(&mut connection, &drop).await;
        execute(&mut connection, &format!("CREATE DATABASE {name}")).await;
        make_schema(&server.clone().database(&name)).await;
        let finish = format!("ALTER DATABASE {name} IS_TEMPLATE true ALLOW_CONNECTIONS false");
        execute(&mut connection, &finish).await;
        // A background worker of the extension is connected to each database, and a database in use cannot be copied.
        let others = format!("FROM pg_stat_activity WHERE datname = '{name}'");
        execute(
            &mut connection,
            &format!("SELECT pg_terminate_backend(pid) {others}"),
        )
        .await;
    }
    connection.close().await.unwrap();
    name
}

async fn make_schema(database: &PgConnectOptions) {
    let options = PoolOptions {
        url: database.to_url_lossy().to_string(),
        max_connections: 1,
        prepared_statements: false,
        acquire_timeout: Duration::from_secs(30),
        head_cache_bytes: 0,
        gather_puts: false,
    };
    let storage = Storage::connect_lazy(&options, Arc::new(TestClock::new())).unwrap();
    storage.migrate().await.unwrap();
    if is_distributed() {
        let mut connection = database.connect().await.unwrap();
        let port = database.get_port();
        for statement in [
            "CREATE EXTENSION citus".to_owned(),
            format!("SELECT citus_set_coordinator_host('localhost', {port})"),
            format!("SELECT citus_set_node_property('localhost', {port}, 'shouldhaveshards', true)"),
        ] {
            execute(&mut connection, &statement).await;
        }
        connection.close().await.unwrap();
        storage.distribute().await.unwrap();
    }
    storage.close().await;
}

async fn execute(connection: &mut PgConnection, statement: &str) {
    // The names are generated above from letters, digits and underscores.
    sqlx::query(AssertSqlSafe(statement))
        .execute(connection)
        .await
        .unwrap();
}

/// Changes with every migration, so that a new schema has a new template.
fn fingerprint() -> u64 {
    let folder = Path::new("migrations");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in std::fs::read(file).unwrap() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Each test is its own process, so a counter alone would not be unique.
fn unique() -> String {
    let random = fastrand::u128(..);
    format!("{}_{random:032x}", std::process::id())
}
