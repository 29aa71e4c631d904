//! Parses server-sent events from pieces of any size.

/// The maximum size of an event.
const MAX_FRAME_BYTES: usize = 4 * 1024 * 1024;

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Its name; empty without one.
    pub(super) event: String,
    /// Its data.
    pub(super) data: String,
}

/// The incomplete data of a stream.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pending: Vec<u8>,
}

impl Frames {
    /// Adds a piece and returns the events that it completes. If the data has no event boundaries, it is discarded.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Vec<Frame> {
        self.pending.extend_from_slice(piece);
        let mut complete = Vec::new();
        while let Some(end) = self.pending.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.pending.drain(..end + 2).collect();
            complete.extend(frame(&String::from_utf8_lossy(&block)));
        }
        if self.pending.len() > MAX_FRAME_BYTES {
            self.pending.clear();
        }
        complete
    }
}

/// The event of a block of lines; `None` if it is only a comment.
fn frame(block: &str) -> Option<Frame> {
    let (mut event, mut data) = (String::new(), Vec::new());
    for line in block.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => event = value.to_owned(),
            "data" => data.push(value),
            _ => {}
        }
    }
    (!data.is_empty()).then(|| Frame {
        event,
        data: data.join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_any_pieces_and_comments_are_none() {
        let text = ": hello\n\nevent: asked\nid: 1-a\ndata: {\"a\":1}\n\ndata: b\ndata: c\n\ndata: cut";
        for size in 1..text.len() {
            let mut frames = Frames::default();
            let parsed: Vec<Frame> = text
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| frames.feed(piece))
                .collect();
            let asked = Frame {
                event: "asked".to_owned(),
                data: "{\"a\":1}".to_owned(),
            };
            let plain = Frame {
                event: String::new(),
                data: "b\nc".to_owned(),
            };
            assert_eq!(parsed, [asked, plain], "pieces of {size}");
        }
    }
}
