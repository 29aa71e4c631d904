//! `working-memory hook session-end`, `pre-compact` and `stop`: an update with the messages since the last time.

use super::input::Input;
use super::position::Position;
use super::transcript::{self, Conversation};
use crate::cli::client::{Exit, Failure, Method, Service, note};
use serde_json::json;

/// The maximum number of parts to send: the one that an earlier hook did not complete, and the new one.
const PIECES: usize = 2;

/// Queues an update.
pub(super) async fn run(service: &Service, input: &Input) -> Result<(), Failure> {
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
        .header("prefer", "respond-async")?
        .header("idempotency-key", key)?;
    match call.json(&body)?.send_once().await {
        Err(failure) if failure.exit == Exit::Refused => {
            note(&format!("working-memory: {}", failure.sentence));
            Ok(())
        }
        answer => answer.map(drop),
    }
}
