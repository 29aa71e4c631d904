/** Streams: the events of a vault, which reconnect, and the steps of an update, which do not. */

import {
  ConnectionFailedError,
  EventsLostError,
  InvalidAnswerError,
  ProblemError,
  TimedOutError,
  UnavailableError,
  RateLimitedError,
  WorkingMemoryError,
  problem,
} from "./errors.js";
import { frames } from "./sse.js";
import { sleep, wait, type Call, type Transport } from "./transport.js";
import type { Event, UpdateAnswer } from "./types.js";

/** Options of a stream. */
export interface EventOptions {
  /** Only events of these kinds. */
  kinds?: readonly Event["kind"][] | undefined;
  /** Start after this event; `0`: with the oldest stored one; without it now. */
  lastEventId?: string | undefined;
  /** Ends the stream: it throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How often a connection without any data is made again. */
  retries?: number | undefined;
  /** Milliseconds without any data after which the connection counts as lost (60,000). */
  idleTimeout?: number | undefined;
}

const IDLE = 60_000;

/** The events of a vault, over any number of connections. */
export async function* events(
  transport: Transport,
  vault: string,
  options: EventOptions & { memoryId?: string | undefined },
): AsyncGenerator<Event, void, undefined> {
  const { memoryId, kinds, signal, idleTimeout = IDLE, retries = transport.retries } = options;
  let place = options.lastEventId;
  for (let failures = 0; ;) {
    const connection = new AbortController();
    const end = () => connection.abort(signal?.reason);
    if (signal?.aborted) end();
    signal?.addEventListener("abort", end);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let came = false;
    const alive = () => {
      came = true;
      listen();
    };
    const listen = () => {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(new TimedOutError("the stream is silent")), idleTimeout);
    };
    let lost: unknown;
    try {
      const body = await transport.open({
        method: "GET",
        path: `${vault}/events`,
        query: { memory_id: memoryId, kinds: kinds?.join(",") },
        headers: { "last-event-id": place },
        options: { signal: connection.signal },
      });
      listen();
      for await (const frame of frames(body, alive)) {
        // The time that the consumer takes does not count.
        clearTimeout(timer);
        // Updated before yielding: a consumer that leaves the loop here has processed this event.
        place = frame.id ?? place;
        if (frame.event === "reset") throw new EventsLostError("events after the last one have expired", place);
        if (frame.data !== undefined) yield parsed<Event>(frame.data);
        listen();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayReconnect(error)) throw error;
      lost = error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      connection.abort();
    }
    // Only connections without any data count.
    failures = came ? 0 : failures + 1;
    if (failures > retries) {
      throw lost instanceof WorkingMemoryError ? lost : new ConnectionFailedError("the stream ended", { cause: lost });
    }
    await sleep(wait(Math.max(1, failures), lost instanceof ProblemError ? lost.retryAfter : 0), signal);
  }
}

/** Whether a new connection may succeed. A connection that breaks while it is read throws an error of the platform. */
function mayReconnect(error: unknown): boolean {
  if (!(error instanceof WorkingMemoryError)) return true;
  return [ConnectionFailedError, UnavailableError, RateLimitedError].some((kind) => error instanceof kind);
}

function parsed<T>(data: string): T {
  try {
    return JSON.parse(data) as T;
  } catch (error) {
    throw new InvalidAnswerError("an event is not JSON", { cause: error });
  }
}

/** One step of a streamed update. */
export interface UpdateStep {
  /** `started`, `captured`, `asked`, `answered`, `model_failed`, `asked_again`, `merged`, `saved`, at last `done`. */
  name: string;
  /** The data of the step: the role, the version, of `started` the `update_id`. */
  details: Record<string, unknown>;
  /** Of `done`: the answer, as `update` returns it. */
  answer: UpdateAnswer | undefined;
}

/** The steps of an update. It continues without its reader, and cannot be streamed again. */
export async function* steps(transport: Transport, call: Call): AsyncGenerator<UpdateStep, void, undefined> {
  let id = "";
  try {
    for await (const { event: name, data } of frames(await transport.open(call), () => {})) {
      if (data === undefined) continue;
      const details = parsed<Record<string, unknown>>(data);
      if (name === "problem") throw problem(Number(details.status), new Headers(), data);
      if (name === "started") id = String(details.update_id);
      yield { name, details, answer: name === "done" ? (details as unknown as UpdateAnswer) : undefined };
      if (name === "done") return;
    }
  } catch (error) {
    if (error instanceof WorkingMemoryError || call.options?.signal?.aborted) throw error;
    throw new ConnectionFailedError(`the connection to watch update ${id} ended`, { cause: error });
  }
  throw new ConnectionFailedError(`the connection to watch update ${id} ended; it goes on: ask updates.wait()`);
}
