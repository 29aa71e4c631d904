//! A server of the OpenAI API whose models take 200 ms and always return something new, in the words of the task, so that
//! the evidence check accepts it. `make bench` measures `/update` with it; `GET /times` returns the median time of the
//! models by their own clock, in milliseconds, since it was last requested.
//!
//! ```sh
//! cargo run --release --example scripted_model
//! ```
#![expect(clippy::print_stdout, reason = "says where it listens")]

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

const MODEL_TIME: Duration = Duration::from_millis(200);

/// The models: the times of their answers, and the number of answers.
#[derive(Default)]
struct Models {
    times: Mutex<Vec<Duration>>,
    answers: AtomicU64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let router = Router::new()
        .route("/v1/chat/completions", post(answer))
        .route("/times", get(times))
        .with_state(Arc::new(Models::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

/// A model: waits, then answers its section, each time with something new that its task supports.
async fn answer(State(models): State<Arc<Models>>, Json(request): Json<Value>) -> Json<Value> {
    let began = Instant::now();
    let number = models.answers.fetch_add(1, Ordering::Relaxed);
    let task = task_of(&request).unwrap_or("nothing in particular");
    let content = match request["model"].as_str() {
        Some("progress") => format!("CURRENT_PROGRESS:\n  In Progress:\n    - {task}, part {number}\n"),
        Some("learnings") => {
            format!("KEY_LEARNINGS:\n  ADD:\n    - because it was measured: {task}, insight {number}\n")
        }
        _ => format!("VERBATIM_CONTEXT:\n  ADD:\n    - because it is next: snippet {number} => {task}\n"),
    };
    tokio::time::sleep(MODEL_TIME).await;
    models
        .times
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(began.elapsed());
    Json(json!({
        "model": request["model"],
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 40},
    }))
}

/// The first line of the task that the models were shown.
fn task_of(request: &Value) -> Option<&str> {
    let messages = request["messages"].as_array()?;
    let texts = messages.iter().filter_map(|message| message["content"].as_str());
    let (_, behind) = texts.filter_map(|text| text.split_once("<task>\n")).next_back()?;
    behind.lines().next()
}

/// The median since this was last requested; null if no model was called.
async fn times(State(models): State<Arc<Models>>) -> Json<Value> {
    let mut times = std::mem::take(&mut *models.times.lock().unwrap_or_else(PoisonError::into_inner));
    times.sort_unstable();
    let median = times.get(times.len() / 2).map(|time| time.as_secs_f64() * 1e3);
    Json(json!({ "models": times.len(), "p50_millis": median }))
}
