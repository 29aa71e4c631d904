/** Streams: the events of a vault, which reconnect, and the steps of an update, which do not. */

import {
  ConnectionFailedError,
  EventsLostError,
  InvalidAnswerError,
  ProblemError,
  problem,
} from "./errors.js";
import { frames } from "./sse.js";
import { LONGEST_ASKED, mayRetry, sleep, wait, type Call, type Transport } from "./transport.js";
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

/** The events of a vault, over any number of connections. */
export async function* events(
  transport: Transport,
  vault: string,
  options: EventOptions & { memoryId?: string | undefined },
): AsyncGenerator<Event, void, undefined> {
  const { memoryId, kinds, signal, idleTimeout, retries = transport.retries } = options;
  let place = options.lastEventId;
  let pause = 0;
  for (let failures = 0; ;) {
    const connection = new AbortController();
    const end = () => connection.abort(signal?.reason);
    if (signal?.aborted) end();
    signal?.addEventListener("abort", end);
    let came = false;
    const alive = () => {
      came = true;
    };
    let lost: unknown;
    try {
      const body = await transport.open({
        method: "GET",
        path: `${vault}/events`,
        query: { memory_id: memoryId, kinds: kinds?.join(",") },
        headers: { "last-event-id": place },
        options: { signal: connection.signal, retries: 0 },
      });
      for await (const frame of frames(body, alive, idleTimeout)) {
        pause = frame.retry ?? pause;
        // Updated before yielding: a consumer that leaves the loop here has processed this event.
        place = frame.id ?? place;
        if (frame.event === "reset") throw new EventsLostError("events after the last one have expired", place);
        if (frame.data !== undefined) yield parsed<Event>(frame.data);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayReconnect(error)) throw error;
      lost = error;
    } finally {
      signal?.removeEventListener("abort", end);
      connection.abort();
    }
    // Only connections without any data count.
    failures = came ? 0 : failures + 1;
    if (failures > retries) throw lost ?? new ConnectionFailedError("the stream ended");
    const asked = (lost instanceof ProblemError ? lost.retryAfter : undefined) ?? pause / 1000;
    await sleep(wait(Math.max(1, failures), asked), signal);
  }
}

/** Whether a new connection may succeed. */
function mayReconnect(error: unknown): boolean {
  if (error instanceof ProblemError && (error.retryAfter ?? 0) > LONGEST_ASKED) return false;
  return error instanceof Error && mayRetry(error, true);
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
  const ended = (cause?: unknown) =>
    new ConnectionFailedError(`the connection to watch update ${id} ended; it goes on: ask updates.wait()`, { cause });
  try {
    for await (const { event: name, data } of frames(await transport.open(call))) {
      if (data === undefined) continue;
      const details = parsed<Record<string, unknown>>(data);
      if (name === "problem") throw problem(Number(details.status), new Headers(), data);
      if (name === "started") id = String(details.update_id);
      yield { name, details, answer: name === "done" ? (details as unknown as UpdateAnswer) : undefined };
      if (name === "done") return;
    }
  } catch (error) {
    call.options?.signal?.throwIfAborted();
    if (!id || !(error instanceof ConnectionFailedError)) throw error;
    throw ended(error);
  }
  throw ended();
}
