/** The events of a vault, as a stream that reconnects. */

import type { components } from "./schema.js";
import { ConnectionError, ProtocolError, TimeoutError, TooManyRequestsError, UnavailableError } from "./problem.js";
import { frames } from "./sse.js";
import { sleep } from "./transport.js";

/** An event. */
export type MemoryEvent = components["schemas"]["Event"];

/** The events after the requested position have expired: read the memories themselves. New events follow. */
export interface ResetEvent {
  kind: "reset";
  /** The new position. */
  id: string | undefined;
}

/** The filter of a stream. */
export interface EventOptions {
  /** Only those of this memory. */
  memoryId?: string | undefined;
  /** Only those of these kinds. */
  kinds?: readonly MemoryEvent["kind"][] | undefined;
  /** Start after this event; `0`: with the oldest stored one; without it: now. */
  lastEventId?: string | undefined;
  /** Ends the stream: it throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds without any data after which the connection counts as lost (60,000). */
  idleTimeout?: number | undefined;
}

const IDLE = 60_000;
const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 30_000;

/** Opens a stream after a position. */
export type Connect = (place: string | undefined, signal: AbortSignal) => Promise<Response>;

/** The events, over any number of connections. A permanent error, such as of a revoked key, is thrown. */
export async function* resumed(
  connect: Connect,
  options: EventOptions,
): AsyncGenerator<MemoryEvent | ResetEvent, void, undefined> {
  let place = options.lastEventId;
  let asked = FIRST_PAUSE;
  for (let failures = 0; ;) {
    const connection = new AbortController();
    const end = () => connection.abort(options.signal?.reason);
    if (options.signal?.aborted) end();
    options.signal?.addEventListener("abort", end);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(new TimeoutError("the stream is silent")), options.idleTimeout ?? IDLE);
    };
    try {
      const response = await connect(place, connection.signal);
      if (!response.body) throw new ProtocolError("the response is not a stream");
      alive();
      for await (const frame of frames(response.body, alive)) {
        failures = 0;
        asked = frame.retry ?? asked;
        if (frame.data !== undefined) {
          // The time that the consumer takes does not count.
          clearTimeout(timer);
          // Updated before yielding: a consumer that leaves the loop here has processed this event.
          place = frame.id ?? place;
          yield frame.event === "reset" ? { kind: "reset", id: frame.id } : eventOf(frame.data);
          alive();
        }
        place = frame.id ?? place;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!passes(error)) throw error;
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", end);
      connection.abort();
    }
    options.signal?.throwIfAborted();
    await sleep(Math.min(LONGEST_PAUSE, asked * 2 ** failures) * (0.5 + Math.random() / 2), options.signal);
    failures++;
  }
}

function eventOf(data: string): MemoryEvent {
  try {
    return JSON.parse(data) as MemoryEvent;
  } catch (error) {
    throw new ProtocolError("an event is not JSON", { cause: error });
  }
}

/** Whether a new connection may succeed. A connection that breaks while it is read throws an error of the platform. */
function passes(error: unknown): boolean {
  const known = [ConnectionError, TimeoutError, UnavailableError, TooManyRequestsError];
  return (
    known.some((kind) => error instanceof kind) ||
    error instanceof TypeError ||
    (error instanceof Error && error.name === "AbortError")
  );
}
