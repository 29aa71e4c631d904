//! A server of the embeddings API whose model knows a few synonyms.

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use working_memory::config::Config;

/// Words with the same meaning for the model.
const SYNONYMS: [&[&str]; 3] = [
    &["car", "automobile", "vehicle"],
    &["doctor", "physician", "medic"],
    &["salary", "wage", "pay"],
];

#[derive(Debug, Default)]
struct Shared {
    /// Texts by the name of the model that was called.
    asked: HashMap<String, Vec<String>>,
    is_down: bool,
    /// Whether its answers are of another form.
    is_broken: bool,
    dimensions: usize,
    /// The length of vectors.
    scale: f64,
    /// How long a response takes.
    takes: Duration,
}

/// Listens on a free port of loopback. For a text with `poison` it returns an invalid vector, and with `thunder` 502.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddingServer {
    url: String,
    shared: Arc<Mutex<Shared>>,
}

impl EmbeddingServer {
    pub(crate) async fn start() -> Self {
        let shared = Arc::new(Mutex::new(Shared {
            dimensions: 256,
            scale: 1.0,
            ..Shared::default()
        }));
        let router = Router::new()
            .route("/v1/embeddings", post(embeddings))
            .with_state(shared.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, shared }
    }

    /// Configures a service to use it.
    pub(crate) fn configure(&self, model: &str) -> impl FnOnce(&mut Config) + use<> {
        let (url, model) = (self.url.clone(), model.to_owned());
        move |config| {
            config.embeddings.base_url = Some(url.parse().unwrap());
            config.embeddings.model = Some(model);
            config.embeddings.query_prefix = "query: ".to_owned();
        }
    }

    /// Configures a service process to use it.
    pub(crate) fn environment<'s>(&'s self, model: &'s str) -> [(&'static str, &'s str); 3] {
        [
            ("WORKING_MEMORY__EMBEDDINGS__BASE_URL", &self.url),
            ("WORKING_MEMORY__EMBEDDINGS__MODEL", model),
            ("WORKING_MEMORY__EMBEDDINGS__QUERY_PREFIX", "query: "),
        ]
    }

    /// How long a response to texts takes from now on; queries are answered at once.
    pub(crate) fn takes(&self, time: Duration) {
        self.shared.lock().unwrap().takes = time;
    }

    /// Whether it responds with 503.
    pub(crate) fn is_down(&self, is_down: bool) {
        self.shared.lock().unwrap().is_down = is_down;
    }

    /// Whether it responds with 200 and no vectors.
    pub(crate) fn is_broken(&self, is_broken: bool) {
        self.shared.lock().unwrap().is_broken = is_broken;
    }

    /// How much longer its vectors are than otherwise.
    pub(crate) fn scale(&self, scale: f64) {
        self.shared.lock().unwrap().scale = scale;
    }

    /// The number of dimensions from now on.
    pub(crate) fn dimensions(&self, dimensions: usize) {
        self.shared.lock().unwrap().dimensions = dimensions;
    }

    /// The texts that a model was called with, without queries and the first probe.
    pub(crate) fn asked(&self, model: &str) -> Vec<String> {
        let shared = self.shared.lock().unwrap();
        let asked = shared.asked.get(model).into_iter().flatten();
        asked
            .filter(|text| !text.starts_with("query: ") && *text != "dimensions")
            .cloned()
            .collect()
    }
}

async fn embeddings(
    State(shared): State<Arc<Mutex<Shared>>>,
    Json(body): Json<Value>,
) -> Result<Json<Value>, StatusCode> {
    let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
    let takes = shared.lock().unwrap().takes;
    if !texts[0].starts_with("query: ") {
        tokio::time::sleep(takes).await;
    }
    let mut shared = shared.lock().unwrap();
    if shared.is_down {
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    if texts.iter().any(|text| text.contains("thunder")) {
        return Err(StatusCode::BAD_GATEWAY);
    }
    if shared.is_broken {
        return Ok(Json(json!({"status": "starting"})));
    }
    let model = body["model"].as_str().unwrap().to_owned();
    let form = (shared.dimensions, shared.scale);
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"index": index, "embedding": vector(&model, text, form)}))
        .collect();
    let tokens = texts.iter().map(|text| text.split(' ').count()).sum::<usize>();
    shared.asked.entry(model).or_default().extend(texts);
    Ok(Json(json!({"data": data, "usage": {"prompt_tokens": tokens}})))
}

/// The meaning of the words of a text, each as some numbers.
fn vector(model: &str, text: &str, (dimensions, scale): (usize, f64)) -> Value {
    if text.contains("poison") {
        return json!([null, 1.0]);
    }
    let mut vector = vec![0.0_f64; dimensions];
    let text = text.to_lowercase();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
    {
        let same = SYNONYMS.iter().find(|words| words.contains(&word));
        let meaning = same.map_or(word, |words| words[0]);
        for part in 0..24 {
            let mut hash = DefaultHasher::new();
            (model, meaning, part).hash(&mut hash);
            let hash = hash.finish();
            let place = usize::try_from(hash >> 1).unwrap() % dimensions;
            vector[place] += if hash & 1 == 0 { scale } else { -scale };
        }
    }
    vector[0] += 0.01 * scale;
    json!(vector)
}
