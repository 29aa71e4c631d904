//! A running service and a client of it.

use super::{Answer, Database, Memory, Scripted, Step, TestClock, eventually};
use reqwest::Method;
use secrecy::ExposeSecret;
use serde::Serialize;
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgPool, Postgres};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use working_memory::background::{Background, Workers};
use working_memory::clock::Clock;
use working_memory::config::Config;
use working_memory::config::consolidation::ConsolidationConfig;
use working_memory::config::pipeline::PipelineConfig;
use working_memory::config::retention::RetentionConfig;
use working_memory::domain::operation::Role;
use working_memory::http::{self, AppState, Settings};
use working_memory::llm::embeddings::Embedder;
use working_memory::llm::{Models, Request, Retry, RoleModel};
use working_memory::pipeline::Pipeline;
use working_memory::pipeline::meaning::Meaning;
use working_memory::pipeline::prompts::Prompts;
use working_memory::storage::{PoolOptions, Quotas, Storage};

/// Listens on a free port of loopback; stopped when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Service {
    /// The service's clock.
    pub(crate) clock: Arc<TestClock>,
    storage: Storage,
    pipeline: Pipeline,
    settings: PipelineConfig,
    consolidation: ConsolidationConfig,
    /// Stops streams and workers.
    stopping: CancellationToken,
    address: String,
    client: reqwest::Client,
    _stop: Arc<oneshot::Sender<()>>,
    database: Arc<Database>,
}

/// Models that return one text for each role, every time.
pub(crate) fn scripted(answer: impl Fn(Role) -> Step + Send + Sync + Clone + 'static) -> Models {
    Models::new(|role| {
        let answer = answer.clone();
        let model = Scripted::by_rule(&format!("scripted-{}", role.name()), move |_| answer(role));
        RoleModel::new(Arc::new(model), Retry::new(Duration::from_millis(200), 0))
    })
}

impl Service {
    /// A service with the default configuration and the built-in updater.
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}, None).await
    }

    /// A service whose models are scripted.
    pub(crate) async fn with_models(models: Models) -> Self {
        Self::start_with(|_| {}, Some(models)).await
    }

    /// A service with another configuration.
    pub(crate) async fn configured(configure: impl FnOnce(&mut Config)) -> Self {
        Self::start_with(configure, None).await
    }

    /// A service with another configuration and other models.
    pub(crate) async fn start_with(configure: impl FnOnce(&mut Config), models: Option<Models>) -> Self {
        let database = Arc::new(Database::create().await);
        Self::start_on(database, Arc::new(TestClock::new()), configure, models).await
    }

    /// A service that reaches a database by another address of it.
    pub(crate) async fn through(database: Arc<Database>, url: String) -> Self {
        let configure = |config: &mut Config| config.database.url = Some(url.into());
        Self::start_on(database, Arc::new(TestClock::new()), configure, None).await
    }

    /// A service on a database of any schema, with another configuration.
    pub(crate) async fn start_at(
        database: Arc<Database>,
        configure: impl FnOnce(&mut Config),
        models: Option<Models>,
    ) -> Self {
        Self::start_on(database, Arc::new(TestClock::new()), configure, models).await
    }

    /// Another service on the database of this one, with the same clock.
    pub(crate) async fn beside(&self, models: Option<Models>) -> Self {
        Self::start_on(self.database.clone(), self.clock.clone(), |_| {}, models).await
    }

    /// Another service on the database of this one, with a clock of its own that the test sets.
    pub(crate) async fn beside_with_clock(
        &self,
        models: Option<Models>,
        set: impl FnOnce(&TestClock),
    ) -> Self {
        let clock = TestClock::new();
        set(&clock);
        Self::start_on(self.database.clone(), Arc::new(clock), |_| {}, models).await
    }

    async fn start_on(
        database: Arc<Database>,
        clock: Arc<TestClock>,
        configure: impl FnOnce(&mut Config),
        models: Option<Models>,
    ) -> Self {
        let mut config = Config::default();
        configure(&mut config);
        let options = PoolOptions {
            url: match &config.database.url {
                Some(url) => url.expose_secret().to_owned(),
                None => database.url(),
            },
            max_connections: config.database.max_connections.min(8),
            prepared_statements: config.database.prepared_statements.unwrap_or(true),
            acquire_timeout: Duration::from_secs(10),
            head_cache_bytes: config.database.head_cache_bytes,
            gather_puts: config.database.gather_puts,
        };
        let storage = Storage::connect_lazy(&options, clock.clone())
            .unwrap()
            .with_quotas(Quotas {
                memories: config.limits.vault_memories,
                bytes: config.limits.vault_bytes,
            });
        let embedder = Embedder::from_config(&config.embeddings).unwrap();
        let storage = storage.embedding(embedder.is_some());
        // As the program does when it starts.
        if super::database::is_distributed() {
            storage.distribution().await.unwrap();
        }
        let models = models.unwrap_or_else(|| Models::from_config(&config.llm).unwrap());
        let settings = Settings::of(&config);
        let prompts = Prompts::load(None).unwrap();
        let models = (models, embedder);
        let pipeline = Pipeline::new(storage.clone(), models, prompts, clock.clone(), &config);
        let state = AppState::new(storage.clone(), pipeline.clone(), clock.clone(), settings.clone());
        let stopping = state.stopping.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let stopped = async move {
                let _ = stopped.await;
            };
            let router = http::router(state);
            http::serve(listener, move || router.clone(), &settings, stopped).await;
        });
        // Needed to build any client, also one without TLS; a second one in the process is rejected.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap();
        Self {
            clock,
            storage,
            pipeline,
            settings: config.pipeline,
            consolidation: config.consolidation,
            stopping,
            address,
            client,
            _stop: Arc::new(stop),
            database,
        }
    }

    /// Starts executing queued updates. Workers stop when the service shuts down, after `grace` at the latest.
    pub(crate) fn work(&self, grace: Duration) -> Workers {
        let clock: Arc<dyn Clock> = self.clock.clone();
        let (storage, stopping) = (&self.storage, self.stopping.clone());
        Workers::start(storage, &self.pipeline, &clock, &self.settings, stopping, grace)
    }

    /// Starts the background tasks of an instance.
    pub(crate) fn background(&self) -> Background {
        let clock: Arc<dyn Clock> = self.clock.clone();
        Background::start(&self.storage, &clock, &RetentionConfig::default())
    }

    /// Starts what consolidates memories by itself.
    pub(crate) fn consolidate_by_itself(&self) -> Background {
        let background = self.background();
        background.consolidate(&self.storage, &self.pipeline, &self.consolidation);
        background
    }

    /// Signals streams and workers to stop.
    pub(crate) fn stop(&self) {
        self.stopping.cancel();
    }

    /// Starts listening to notifications of other services on the database, and waits until one arrived.
    pub(crate) async fn listen(&self) {
        self.listen_at(self.database.url()).await;
    }

    /// The same at another address of the database.
    pub(crate) async fn listen_at(&self, url: String) {
        let storage = self.storage.clone();
        let beating = storage.clone();
        tokio::spawn(async move { beating.heartbeat().await });
        tokio::spawn(async move { storage.listen(&url).await });
        let mut listening = self.storage.listening();
        listening.wait_for(|proved| *proved).await.unwrap();
    }

    /// A memory of the vault `acme`.
    pub(crate) fn memory(&self, id: &str) -> Memory {
        Memory::new(self, "acme", id)
    }

    /// The service and a memory of its vault `acme`.
    pub(crate) fn with_memory(self, id: &str) -> (Self, Memory) {
        let memory = self.memory(id);
        (self, memory)
    }

    /// The service and its memory `agent`.
    pub(crate) fn agent(self) -> (Self, Memory) {
        self.with_memory("agent")
    }

    /// A request to any path.
    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.address))
    }

    /// GET any path.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    /// GET any path that exists, as JSON.
    pub(crate) async fn read(&self, path: &str) -> Value {
        self.get(path).await.is(200).json()
    }

    /// GET any path that is refused: the problem, of this status and type, about `field` where one is given.
    pub(crate) async fn refuses(&self, path: &str, status: u16, name: &str, field: Option<&str>) -> Value {
        let request = self.request(Method::GET, path);
        let answer = Answer::to(request.header("Accept", "application/json")).await;
        answer.problem(status, name, field)
    }

    /// POST JSON to any path.
    pub(crate) async fn post(&self, path: &str, body: impl Serialize) -> Answer {
        Answer::to(self.request(Method::POST, path).json(&body)).await
    }

    /// PUT JSON to any path.
    pub(crate) async fn put_json(&self, path: &str, body: impl Serialize) -> Answer {
        Answer::to(self.request(Method::PUT, path).json(&body)).await
    }

    /// The items of all pages of a list, whose path has a query.
    pub(crate) async fn pages(&self, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.request(Method::GET, &format!("{path}{cursor}"));
            let page = Answer::to(page.header("Accept", "application/json")).await;
            let page = page.is(200).json();
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }

    /// Where the service listens, as `host:port`.
    pub(crate) fn socket_address(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// The service's storage, for what no route offers.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Waits until so many statements wait for a lock.
    pub(crate) async fn waits_for_locks(&self, count: i64) {
        let waiting = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        eventually("statements wait for locks", async || {
            self.value::<i64>(waiting).await >= count
        })
        .await;
    }

    /// Deletes all but the newest versions, and perhaps those that introduced a record; how many were deleted.
    pub(crate) async fn prune(&self, newest: u32, keep_provenance: bool) -> u64 {
        let retention = RetentionConfig {
            max_versions: Some(newest),
            keep_provenance,
            ..RetentionConfig::default()
        };
        let pruned = self.storage.prune_versions(&retention, self.clock.now());
        pruned.await.unwrap()
    }

    /// Indexes the vault `acme` for searches by words and by meaning.
    pub(crate) async fn index(&self) {
        self.index_words().await;
        self.meaning().index().await.unwrap();
    }

    /// Indexes the vault `acme` for searches by words.
    pub(crate) async fn index_words(&self) {
        self.storage.index_vault(&"acme".parse().unwrap()).await.unwrap();
    }

    /// The service's searches by meaning.
    pub(crate) fn meaning(&self) -> &Meaning {
        self.pipeline.meaning()
    }

    /// All tables.
    pub(crate) async fn tables(&self) -> Vec<String> {
        self.values(
            "SELECT table_name::text FROM information_schema.tables
             WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1",
        )
        .await
    }

    /// The tables that contain a text in any of their rows, in the form of the rows' text.
    pub(crate) async fn tables_that_hold(&self, text: &str) -> Vec<String> {
        let mut holding = Vec::new();
        for table in self.tables().await {
            // Bytes, as those of stored answers, are written in hexadecimal.
            let statement = format!(
                r#"SELECT EXISTS (SELECT 1 FROM "{table}" AS t WHERE strpos(t::text, $1) > 0
                       OR strpos(t::text, encode(convert_to($1, 'UTF8'), 'hex')) > 0)"#
            );
            let found: bool = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
                .bind(text)
                .fetch_one(self.rows())
                .await
                .unwrap();
            if found {
                holding.push(table);
            }
        }
        holding
    }

    /// The service's database, for another service.
    pub(crate) fn database(&self) -> Arc<Database> {
        self.database.clone()
    }

    /// The address of the service's database.
    pub(crate) fn database_url(&self) -> String {
        self.database.url()
    }

    /// The rows behind the service.
    pub(crate) fn rows(&self) -> &PgPool {
        self.storage.pool()
    }

    /// Runs statements on them.
    pub(crate) async fn execute(&self, statements: impl Into<String>) {
        let statements = sqlx::AssertSqlSafe(statements.into());
        sqlx::raw_sql(statements).execute(self.rows()).await.unwrap();
    }

    /// The one value of a query on them.
    pub(crate) async fn value<T: Send + Unpin>(&self, query: &'static str) -> T
    where
        (T,): for<'r> FromRow<'r, PgRow>,
    {
        let value = sqlx::query_scalar::<Postgres, T>(query).fetch_one(self.rows());
        value.await.unwrap()
    }

    /// The values of a query on them.
    pub(crate) async fn values<T: Send + Unpin>(&self, query: &'static str) -> Vec<T>
    where
        (T,): for<'r> FromRow<'r, PgRow>,
    {
        let values = sqlx::query_scalar::<Postgres, T>(query).fetch_all(self.rows());
        values.await.unwrap()
    }

    /// How many rows each of these tables has.
    pub(crate) async fn counts<const N: usize>(&self, tables: [&str; N]) -> [i64; N] {
        let mut counts = [0; N];
        for (count, table) in counts.iter_mut().zip(tables) {
            *count = self.count(table).await;
        }
        counts
    }

    /// How many rows a table has, perhaps of those that meet a condition.
    pub(crate) async fn count(&self, table: &str) -> i64 {
        let statement = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        let count = sqlx::query_scalar(statement).fetch_one(self.rows());
        count.await.unwrap()
    }
}

/// The task of a request to a role, out of the message with the data.
pub(crate) fn task_of(request: &Request) -> String {
    let data = &request.messages[0].text;
    let (_, after) = data.split_once("\n<task>\n").unwrap();
    let (task, _) = after.rsplit_once("\n</task>\n").unwrap();
    task.replace("<\\", "<")
}
