//! `working-memory hook session-start`: prints handoff and prompt. `hook session-end` and `pre-compact`: send the new part of
//! the conversation.

use crate::cli::client::{Exit, Failure, Method, Output, Service, ServiceResponse, found, note, text};
use crate::cli::hook::briefing;
use crate::cli::hook::input::{Host, Input};
use crate::cli::hook::position::Position;
use crate::cli::hook::transcript::{self, Conversation};
use serde_json::{Value, json};

/// The token budget that approximates the size limit; the service drops whole parts, and the oldest records, for it.
const MOST_TOKENS: &str = "2000";

/// Prints memory and handoff.
pub(super) async fn start(service: &Service, input: &Input) -> Result<(), Failure> {
    let memory_ref = service.memory_ref()?;
    let (prompt, handoff) = tokio::join!(prompt(service), handoff(service));
    // One without the other is useful; an unreachable service is reported once.
    let (prompt, handoff) = match (prompt, handoff) {
        (Err(failure), Err(_)) => return Err(failure),
        (prompt, handoff) => (prompt.ok(), handoff.ok().flatten()),
    };
    let handoff = handoff.map_or_else(String::new, |handoff| {
        let preface = text(&handoff, "preface");
        format!("{}\n\n{}", preface.trim_end(), text(&handoff, "markdown"))
    });
    let prompt = prompt.unwrap_or_default();
    let output = briefing::text(
        &memory_ref,
        prompt["version"].as_i64(),
        &text(&prompt, "text"),
        &handoff,
    );
    if output.is_empty() {
        return Ok(());
    }
    match input.host {
        Host::Plain => Output::new().whole_lines(&output).write(),
        Host::Cursor => {
            let output = json!({ "additional_context": output });
            Output::new().whole_lines(&output.to_string()).write()
        }
    }
}

async fn prompt(service: &Service) -> Result<Value, Failure> {
    let ask = || async {
        let call = service.of_memory(Method::GET, &["prompt"])?;
        // Hosts add the time themselves.
        Ok::<_, Failure>(call.query("exclude", "datetime"))
    };
    let answer = match ask().await?.query("max_tokens", MOST_TOKENS).send_once().await {
        // The rules alone need more, and are never dropped.
        Err(failure) if failure.exit == Exit::Refused => ask().await?.send_once().await,
        answer => answer,
    };
    answer?.json()
}

/// The handoff, refreshed if it is stale; the existing one if that fails, as for a read-only key.
async fn handoff(service: &Service) -> Result<Option<Value>, Failure> {
    let read =
        |answer: Result<ServiceResponse, Failure>| found(answer)?.map(|found| found.json()).transpose();
    let fresh = service.of_memory(Method::POST, &["handoff", "refresh"])?;
    let request = tokio::time::timeout(service.timeout / 2, fresh.send_once());
    match request.await.map(read) {
        Ok(Ok(handoff)) => Ok(handoff),
        _ => read(service.of_memory(Method::GET, &["handoff"])?.send_once().await),
    }
}

/// The maximum number of parts to send: the one that an earlier hook did not complete, and the new one.
const PIECES: usize = 2;

/// Queues an update.
pub(super) async fn end(service: &Service, input: &Input) -> Result<(), Failure> {
    service.memory_ref()?;
    let Some(transcript) = &input.transcript else {
        note("working-memory: the host names no transcript, so nothing of this session is saved");
        return Ok(());
    };
    let session = input.session.as_deref().unwrap_or_default();
    let mut position = Position::of(session, transcript).await?;
    for _ in 0..PIECES {
        let Some((span, text)) = position.next(transcript)? else {
            return Ok(());
        };
        let conversation = transcript::parse(&text);
        let lost = conversation.lost;
        for (count, what) in [
            (span.skipped, "older bytes are skipped"),
            (lost.older_messages as u64, "older messages are skipped"),
            (lost.unreadable_lines as u64, "lines that are no JSON are skipped"),
            (lost.cut_texts as u64, "long texts are cut"),
        ] {
            if count > 0 {
                note(&format!("working-memory: of the transcript, {count} {what}"));
            }
        }
        if !conversation.messages.is_empty() {
            position.begin(&span)?;
            send(service, &position.key(&span), &conversation).await?;
        }
        position.done(&span, transcript)?;
    }
    Ok(())
}

/// Lets the service queue the update. A permanent rejection counts as sent; after a transient failure a later hook sends
/// it again, under the same key.
async fn send(service: &Service, key: &str, conversation: &Conversation) -> Result<(), Failure> {
    let task = conversation
        .request
        .as_deref()
        .unwrap_or("A session of a coding agent");
    let body = json!({ "task": task, "messages": conversation.messages });
    let call = service
        .of_memory(Method::POST, &["update"])?
        .named_header("prefer", "respond-async")?
        .named_header("idempotency-key", key)?;
    match call.json(&body).send_once().await {
        Err(failure) if failure.exit == Exit::Refused => {
            note(&format!("working-memory: {}", failure.sentence));
            Ok(())
        }
        answer => answer.map(drop),
    }
}
