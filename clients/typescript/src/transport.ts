/** Requests with timeouts, retries and common headers. */

import { ConnectionError, ProblemError, TimeoutError, errorOf, retryAfter } from "./problem.js";

/** Options of a client. */
export interface ClientOptions {
  /** An API key, or a function that returns one. It is sent as `Authorization: Bearer`; no error shows it. */
  key?: string | (() => string | Promise<string>) | undefined;
  /** The author of changes, if it is not to be the key's name. */
  actor?: string | undefined;
  /** The timeout of a response, in milliseconds (60,000). An update by models has `updateTimeout`. */
  timeout?: number | undefined;
  /** The timeout of an update or a refresh of the handoff, in milliseconds (600,000). */
  updateTimeout?: number | undefined;
  /** Retries after transient failures (3). */
  retries?: number | undefined;
  /** The longest `Retry-After`, in milliseconds, that is waited for (60,000); a longer one fails at once. */
  maxRetryWait?: number | undefined;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** A replacement for the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Options of a request. */
export interface CallOptions {
  /** Aborts it. */
  signal?: AbortSignal | undefined;
  /** Timeout of each attempt, in milliseconds. */
  timeout?: number | undefined;
}

/** Options of a request that changes something. */
export interface WriteOptions extends CallOptions {
  /** Its `Idempotency-Key`: it is executed once, however often it is sent. Random if not set. */
  idempotencyKey?: string | undefined;
  /** The author of the change. */
  actor?: string | undefined;
}

/** Options of a request that changes a memory. */
export interface ChangeOptions extends WriteOptions {
  /** Only if the newest version is the one with this `context_id`; `*`: only if there is one. */
  ifMatch?: string | undefined;
  /** `*`: only if there is none. */
  ifNoneMatch?: string | undefined;
}

const TIMEOUT = 60_000;
const UPDATE_TIMEOUT = 600_000;
const RETRIES = 3;
const MAX_RETRY_WAIT = 60_000;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 8_000;

/** The statuses for which `fetch` has no body. */
const WITHOUT_BODY = [204, 205, 304];

/** How one request is sent. */
interface Manner {
  timeout?: number | undefined;
  /** The body is not read here, but streamed to the caller. */
  stream?: boolean;
}

/** Sends requests. */
export class Transport {
  readonly updateTimeout: number;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.updateTimeout = options.updateTimeout ?? UPDATE_TIMEOUT;
  }

  /** A `fetch` with this behaviour. */
  fetch(manner: Manner): (request: Request) => Promise<Response> {
    return (request) => this.#send(request, manner);
  }

  async #send(request: Request, manner: Manner): Promise<Response> {
    const { retries = RETRIES, maxRetryWait = MAX_RETRY_WAIT } = this.#options;
    const headers = await this.#headers(request, manner);
    const body = ["GET", "HEAD"].includes(request.method) ? undefined : await request.arrayBuffer();
    const repeatable = ["GET", "HEAD"].includes(request.method) || headers.has("idempotency-key");
    const init: RequestInit = { method: request.method, headers, redirect: "follow" };
    if (body?.byteLength) init.body = body;
    for (let attempt = 0; ; attempt++) {
      const { response, error, wait, again } = await this.#attempt(request, init, manner, repeatable);
      if (response) return response;
      const pause = wait ?? backoff(attempt);
      if (!again || attempt >= retries || pause > maxRetryWait) throw error;
      await sleep(pause, request.signal);
    }
  }

  /** One attempt: its response, or the error and whether it may be retried. */
  async #attempt(request: Request, init: RequestInit, manner: Manner, repeatable: boolean): Promise<Outcome> {
    let answer: { response: Response; text: string | undefined };
    try {
      answer = await this.#once(request, init, manner);
    } catch (error) {
      return { error, again: repeatable && error instanceof ConnectionError };
    }
    const { response, text } = answer;
    if (text === undefined) return { response };
    const seconds = retryAfter(response.headers);
    const error = errorOf(response.status, response.headers, text);
    return {
      error,
      again: mayRepeat(response.status, error, seconds !== undefined, repeatable),
      ...(seconds !== undefined && { wait: seconds * 1000 }),
    };
  }

  /** The response, with its whole body unless it is a successful stream; an error response with its text. */
  async #once(request: Request, init: RequestInit, { timeout, stream }: Manner) {
    const { fetch = globalThis.fetch.bind(globalThis), timeout: usual = TIMEOUT } = this.#options;
    const limit = timeout ?? usual;
    const stop = new AbortController();
    const given = () => stop.abort(request.signal.reason);
    if (request.signal.aborted) given();
    request.signal.addEventListener("abort", given);
    const late = new TimeoutError(`no answer within ${limit} ms`);
    const timer = setTimeout(() => stop.abort(late), limit);
    let streams = false;
    try {
      const response = await fetch(request.url, { ...init, signal: stop.signal });
      const succeeded = response.ok || response.status === 304;
      if (succeeded && stream) {
        streams = true;
        return { response, text: undefined };
      }
      if (!succeeded) return { response, text: await response.text() };
      const whole = WITHOUT_BODY.includes(response.status) ? null : await response.arrayBuffer();
      const { status, statusText, headers } = response;
      return {
        response: new Response(whole, { status, statusText, headers: lengthOf(headers, whole) }),
        text: undefined,
      };
    } catch (error) {
      if (stop.signal.aborted) throw stop.signal.reason;
      const reason =
        error instanceof Error
          ? error.cause instanceof Error
            ? error.cause.message || error.message
            : error.message
          : "";
      throw new ConnectionError(
        `${request.method} ${new URL(request.url).origin}: no service answers${reason && `: ${reason}`}`,
        {
          cause: error,
        },
      );
    } finally {
      clearTimeout(timer);
      // The caller can still abort a stream.
      if (!streams) request.signal.removeEventListener("abort", given);
    }
  }

  async #headers(request: Request, { stream = false }: Manner): Promise<Headers> {
    const { key, actor, headers: further } = this.#options;
    const headers = new Headers(further);
    request.headers.forEach((value, name) => headers.set(name, value));
    if (key !== undefined) headers.set("authorization", `Bearer ${typeof key === "function" ? await key() : key}`);
    if (!headers.has("accept")) headers.set("accept", "application/json");
    if (["PUT", "POST"].includes(request.method)) {
      if (actor !== undefined && !headers.has("x-actor-id")) headers.set("x-actor-id", actor);
      // With an Idempotency-Key a stream would be sent as a whole; outside of vaults no responses are saved.
      const keyed = !stream && new URL(request.url).pathname.includes("/v1/vaults/");
      if (keyed && !headers.has("idempotency-key")) headers.set("idempotency-key", randomKey());
    }
    return headers;
  }
}

type Outcome =
  | { response: Response; error?: never; again?: never; wait?: never }
  | { response?: never; error: unknown; again: boolean; wait?: number };

/** `fetch` has decompressed the body, so its length has changed. */
function lengthOf(headers: Headers, body: ArrayBuffer | null): Headers {
  const own = new Headers(headers);
  own.delete("content-encoding");
  own.delete("content-length");
  if (body) own.set("content-length", String(body.byteLength));
  return own;
}

/** Whether an error response is transient. */
function mayRepeat(status: number, error: unknown, isAskedTo: boolean, repeatable: boolean): boolean {
  // Nothing was executed.
  if (status === 429) return true;
  if (!repeatable) return false;
  // The first request with this key is still running.
  if (status === 409) return isAskedTo;
  // A failed model costs money, so only the caller retries it; a failed gateway is retried.
  if (status === 502 || status === 504) return !(error instanceof ProblemError);
  return status === 408 || status === 503;
}

/** Full jitter: clients that failed at the same time do not retry at the same time. */
function backoff(attempt: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt);
}

/** Waits, unless the signal ends it. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
