/** Requests with time-outs, retries and the headers that all of them have. */

import { ConnectionError, ProblemError, TimeoutError, errorOf, retryAfter } from "./problem.js";

/** How the service is reached. */
export interface ClientOptions {
  /** An API key, or what gives one. It is sent as `Authorization: Bearer`, and shown by no error. */
  key?: string | (() => string | Promise<string>) | undefined;
  /** Who makes changes, where the key's name is not to be the actor. */
  actor?: string | undefined;
  /** How long an answer may take, in milliseconds (60,000). An update by models has `updateTimeout`. */
  timeout?: number | undefined;
  /** How long an update or a refresh of the handoff may take, in milliseconds (600,000). */
  updateTimeout?: number | undefined;
  /** How often what failed in passing is sent again (3). */
  retries?: number | undefined;
  /** The longest `Retry-After`, in milliseconds, that is waited for (60,000); what asks for more fails at once. */
  maxRetryWait?: number | undefined;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Another `fetch` than the global one. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** What one request may say of itself. */
export interface CallOptions {
  /** Breaks it off. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt. */
  timeout?: number | undefined;
}

/** What a request that changes something may say of itself. */
export interface WriteOptions extends CallOptions {
  /** Under which it happens once, however often it is sent; a random one without it. */
  idempotencyKey?: string | undefined;
  /** Who makes the change. */
  actor?: string | undefined;
}

/** What a request that changes a memory may say of itself. */
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

/** The parts of an answer that `fetch` gives no body. */
const WITHOUT_BODY = [204, 205, 304];

/** How one request is sent. */
interface Manner {
  timeout?: number | undefined;
  /** The answer is handed on as it begins. */
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

  /** A `fetch` that sends in this manner. */
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

  /** One attempt: its answer, or what went wrong and whether it may be sent again. */
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

  /** The answer, whole unless it is a stream that began well; with its text if it is a refusal. */
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
        `${request.method} ${new URL(request.url).origin}: nobody answers${reason && `: ${reason}`}`,
        {
          cause: error,
        },
      );
    } finally {
      clearTimeout(timer);
      // A stream is still broken off by its caller.
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
      // A stream under a key would come as a whole at its end; outside of vaults nothing is kept under keys.
      const keyed = !stream && new URL(request.url).pathname.includes("/v1/vaults/");
      if (keyed && !headers.has("idempotency-key")) headers.set("idempotency-key", randomKey());
    }
    return headers;
  }
}

type Outcome =
  | { response: Response; error?: never; again?: never; wait?: never }
  | { response?: never; error: unknown; again: boolean; wait?: number };

/** The body was unpacked on its way, so its length is what it is now. */
function lengthOf(headers: Headers, body: ArrayBuffer | null): Headers {
  const own = new Headers(headers);
  own.delete("content-encoding");
  own.delete("content-length");
  if (body) own.set("content-length", String(body.byteLength));
  return own;
}

/** Whether a refusal is one that passes. */
function mayRepeat(status: number, error: unknown, isAskedTo: boolean, repeatable: boolean): boolean {
  // Nothing was begun.
  if (status === 429) return true;
  if (!repeatable) return false;
  // The first request under this key is still running.
  if (status === 409) return isAskedTo;
  // A model that failed is asked again by whoever wants to pay for it; a gateway that failed is asked again.
  if (status === 502 || status === 504) return !(error instanceof ProblemError);
  return status === 408 || status === 503;
}

/** Full jitter: many clients that failed at one moment do not come back at one moment. */
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

/** `crypto.randomUUID` is missing on pages that did not come over TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
