/** A parser of server-sent events, according to the HTML standard. */

import { ConnectionFailedError, InvalidAnswerError, TimedOutError } from "./errors.js";
import { LONGEST_TIMER } from "./transport.js";

/** One event, or only a position in the stream (`data` undefined). */
export interface Frame {
  /** Its name. */
  event: string;
  /** Its data. */
  data: string | undefined;
  /** The position after it. */
  id: string | undefined;
  /** How long the service asks to wait before reconnecting, in milliseconds. */
  retry: number | undefined;
}

/** The maximum size of an event. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Milliseconds without any data after which a connection counts as lost: heartbeats come every 15 seconds. */
const IDLE = 60_000;

/**
 * The events of a body; heartbeats are skipped. Ends with the body; one that is lost, or silent for `idle` milliseconds, is a
 * `ConnectionFailedError`. `alive` is called whenever data arrives.
 */
export async function* frames(
  body: ReadableStream<Uint8Array>,
  alive = () => {},
  idle = IDLE,
): AsyncGenerator<Frame, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let block: string[] = [];
  try {
    for (;;) {
      const { done, value } = await next(reader, idle);
      if (done) return;
      alive();
      rest += decoder.decode(value, { stream: true });
      // A line feed may still follow the carriage return at the end.
      const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const lines = whole.split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "") + rest.slice(whole.length);
      for (const line of lines) {
        if (line !== "") {
          block.push(line);
          continue;
        }
        const frame = frameOf(block);
        block = [];
        if (frame) yield frame;
      }
      if (rest.length + block.reduce((sum, line) => sum + line.length, 0) > MAX_CHARACTERS) {
        throw new InvalidAnswerError(`an event has more than ${MAX_CHARACTERS} characters`);
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array>, idle: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOutError("the stream is silent")), Math.min(idle, LONGEST_TIMER));
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    throw error instanceof TimedOutError ? error : new ConnectionFailedError("the stream was lost", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function frameOf(lines: readonly string[]): Frame | undefined {
  const frame: Frame = { event: "message", data: undefined, id: undefined, retry: undefined };
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") frame.event = value;
    if (field === "data") frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
    if (field === "id" && !value.includes("\0")) frame.id = value;
    if (field === "retry" && /^\d{1,6}$/.test(value)) frame.retry = Number(value);
  }
  const says = frame.data !== undefined || frame.id !== undefined || frame.retry !== undefined;
  return says ? frame : undefined;
}
