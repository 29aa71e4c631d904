//! `working-memory hook session-start`: prints handoff and prompt. `hook session-end` and `pre-compact`: send the new part of
//! the conversation.

use crate::cli::client::{Exit, Failure, Method, Output, Service, ServiceResponse, found, note};
use crate::cli::hook::briefing;
use crate::cli::hook::input::{Host, Input};
use crate::cli::hook::position::Position;
use crate::cli::hook::transcript::{self, Conversation, Lost};
use serde::Deserialize;
use serde_json::json;

/// The token budget that approximates the size limit; the service drops whole parts, and the oldest records, for it.
const MOST_TOKENS: &str = "2000";

/// The response of `GET M/prompt`, as far as it is used here.
#[derive(Debug, Deserialize)]
struct Prompt {
    text: String,
    version: Option<i64>,
}

/// The response with a handoff, as far as it is used here.
#[derive(Debug, Deserialize)]
struct Handoff {
    preface: String,
    markdown: String,
}

/// Prints memory and handoff.
pub(super) async fn start(service: &Service, input: &Input) -> Result<(), Failure> {
    let memory_ref = service.memory_ref()?;
    let (prompt, handoff) = tokio::join!(prompt(service), handoff(service));
    // One without the other is useful; an unreachable service is reported once.
    let (prompt, handoff) = match (prompt, handoff) {
        (Err(failure), Err(_)) => return Err(failure),
        (prompt, handoff) => (prompt.ok(), handoff.ok().flatten()),
    };
    let handoff = handoff.map_or_else(String::new, |Handoff { preface, markdown }| {
        format!("{}\n\n{markdown}", preface.trim_end())
    });
    let version = prompt.as_ref().and_then(|prompt| prompt.version);
    let text = prompt.map_or_else(String::new, |prompt| prompt.text);
    let output = briefing::text(&memory_ref, version, &text, &handoff);
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

async fn prompt(service: &Service) -> Result<Prompt, Failure> {
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
async fn handoff(service: &Service) -> Result<Option<Handoff>, Failure> {
    let read =
        |answer: Result<ServiceResponse, Failure>| found(answer)?.map(|found| found.json()).transpose();
    let fresh = service.of_memory(Method::POST, &["handoff", "refresh"])?;
    let request = tokio::time::timeout(service.timeout() / 2, fresh.send_once());
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
        if let Some(lost) = told(span.skipped, conversation.lost) {
            note(&format!("working-memory: {lost}"));
        }
        if !conversation.messages.is_empty() {
            position.begin(&span)?;
            send(service, &position.key(&span), &conversation).await?;
        }
        position.done(&span, transcript)?;
    }
    Ok(())
}

/// What of a transcript is not sent, in one sentence.
fn told(skipped: u64, lost: Lost) -> Option<String> {
    let counted = |count: u64, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {several}")),
    };
    let parts = [
        counted(skipped, "older byte", "older bytes"),
        counted(lost.older_messages as u64, "older message", "older messages"),
        counted(
            lost.unreadable_lines as u64,
            "line that is not JSON",
            "lines that are not JSON",
        ),
    ];
    let skipped: Vec<String> = parts.into_iter().flatten().collect();
    let skipped = (!skipped.is_empty()).then(|| format!("skipped {}", skipped.join(", ")));
    let cut = counted(lost.cut_texts as u64, "long text was cut", "long texts were cut");
    let told: Vec<String> = skipped.into_iter().chain(cut).collect();
    (!told.is_empty()).then(|| {
        format!(
            "of the transcript, {}; the newest part is sent",
            told.join(", and ")
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_sent_is_one_sentence() {
        assert_eq!(told(0, Lost::default()), None);
        let lost = Lost {
            unreadable_lines: 1,
            older_messages: 0,
            cut_texts: 2,
        };
        assert_eq!(
            told(1_024, lost).as_deref(),
            Some(
                "of the transcript, skipped 1024 older bytes, 1 line that is not JSON, and 2 long texts were cut; the \
                 newest part is sent"
            )
        );
        let cut = Lost {
            cut_texts: 1,
            ..Lost::default()
        };
        assert_eq!(
            told(0, cut).as_deref(),
            Some("of the transcript, 1 long text was cut; the newest part is sent")
        );
    }
}
