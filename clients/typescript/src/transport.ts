/** Requests by the rules of clients/rules.md. */

import {
  ConnectionFailedError,
  InvalidAnswerError,
  ModelError,
  NotFoundError,
  NotModifiedError,
  PreconditionFailedError,
  ProblemError,
  StillRunningError,
  TimedOutError,
  problem,
} from "./errors.js";
import { VERSION } from "./version.js";

/** What is told about an attempt: no header, query or body, which may hold secrets. */
export interface LogEntry {
  method: string;
  path: string;
  /** The status of the response, or the name of the error. */
  outcome: number | string;
  milliseconds: number;
  requestId: string | undefined;
}

/** Options of a client. */
export interface ClientOptions {
  /** An API key, or a function that returns one; without it `WORKING_MEMORY_API_KEY`. No error shows it. */
  key?: string | (() => string | Promise<string>) | undefined;
  /** The author of changes; without it `WORKING_MEMORY_ACTOR`, else the service takes the key's name. */
  actor?: string | undefined;
  /** Milliseconds for an attempt (30,000); a call takes three times as long at most. */
  timeout?: number | undefined;
  /** Milliseconds for a call that waits for models, with all its attempts (600,000). */
  updateTimeout?: number | undefined;
  /** How often a call is retried (3). */
  retries?: number | undefined;
  /** Headers of each request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Is told about each attempt. */
  logger?: ((entry: LogEntry) => void) | undefined;
  /** A replacement for the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Options of a call. */
export interface CallOptions {
  /** Aborts it: it throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for an attempt, also of a call that waits for models. */
  timeout?: number | undefined;
  /** How often it is retried. */
  retries?: number | undefined;
  /** Further headers. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of a call that changes something. */
export interface WriteOptions extends CallOptions {
  /** The author, if it is not the client's. */
  actor?: string | undefined;
  /** Calls with the same key are executed once; without it each call has a random key for all its attempts. */
  idempotencyKey?: string | undefined;
}

/** Options of a call that changes a document. */
export interface ChangeOptions extends WriteOptions {
  /** Only if this is the newest version: its `context_id`. */
  ifMatch?: string | undefined;
  /** `*`: only if there is no memory yet. */
  ifNoneMatch?: string | undefined;
}

/** A request as data. */
export interface Call {
  method: string;
  path: string;
  query?: object | undefined;
  body?: unknown;
  headers?: Readonly<Record<string, string | undefined>>;
  options?: ChangeOptions | undefined;
  /** What the response is: JSON, text, nothing, or whatever comes. */
  answers?: "json" | "text" | "none" | "any";
  /** Whether it changes a vault: it has an actor and an `Idempotency-Key`. */
  writes?: boolean;
  /** Whether it waits for models. */
  slow?: boolean;
  /** Whether the response is a stream, and without a key, as a stored response has only its end. */
  stream?: boolean;
}

/** The response from which an object was read. */
export class ResponseInfo {
  constructor(
    readonly status: number,
    readonly headers: Headers,
  ) {}

  /** The entity tag, for `ifMatch` and `ifNoneMatch`. */
  get etag(): string | undefined {
    return this.headers.get("etag") ?? undefined;
  }
  /** The id of the request in the service's log. */
  get requestId(): string | undefined {
    return this.headers.get("x-request-id") ?? undefined;
  }
  /** The number of the version that was read or made. */
  get version(): number | undefined {
    return Number(this.headers.get("x-context-version")) || undefined;
  }
  /** Whether it is the saved response of an earlier request with the same `Idempotency-Key`. */
  get replayed(): boolean {
    return this.headers.get("idempotency-replayed") === "true";
  }
}

const responses = new WeakMap<object, ResponseInfo>();

/** The response from which a returned object was read. */
export function responseOf(value: object): ResponseInfo | undefined {
  return responses.get(value);
}

const RETRIES = 3;
const TIMEOUT = 30_000;
const UPDATE_TIMEOUT = 600_000;
/** A call may take so many times its timeout in all; one that waits for models only once. */
const TOTAL = 3;
/** The longest `Retry-After` that is waited for, in seconds. */
export const LONGEST_ASKED = 60;
/** The longest time of a timer, in milliseconds: a longer one would end at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;
/** Transient statuses. 500 is a fault and not retried. */
const PASSING: readonly number[] = [408, 429, 502, 503, 504];
/** The wait before the first retry, which doubles each time, and the longest, in milliseconds. */
export const WAITS = { first: 250, longest: 8_000 };

/** Sends requests. */
export class Transport {
  readonly url: string;
  readonly #options: ClientOptions;

  constructor(url: string | undefined, options: ClientOptions) {
    this.url = checkedUrl(url ?? setting("WORKING_MEMORY_URL") ?? "http://127.0.0.1:8080");
    const { key = setting("WORKING_MEMORY_API_KEY"), actor = setting("WORKING_MEMORY_ACTOR") } = options;
    if (typeof key === "string") checkKey(key);
    this.#options = { ...options, key, actor };
  }

  /** The value of a response. */
  async send<T>(call: Call): Promise<T> {
    return (await this.request<T>(call)).value;
  }

  /** The value of a response, with the response. */
  async request<T>(call: Call): Promise<{ value: T; response: ResponseInfo }> {
    const { status, headers, content } = await this.#attempts(call);
    const response = new ResponseInfo(status, headers);
    const value = valueOf(call, status, headers, content);
    if (typeof value === "object" && value !== null) responses.set(value, response);
    return { value: value as T, response };
  }

  /** The body of a stream, whose reader reconnects. */
  async open(call: Call): Promise<ReadableStream<Uint8Array>> {
    const { headers, body } = await this.#attempts({ ...call, stream: true });
    if (body && headers.get("content-type")?.startsWith("text/event-stream")) return body;
    await body?.cancel().catch(() => {});
    throw new InvalidAnswerError(`${call.path}: the response is not a stream`);
  }

  #limits({ options = {}, slow }: Call) {
    const { timeout = TIMEOUT, updateTimeout = UPDATE_TIMEOUT, retries = RETRIES } = this.#options;
    const attempt = Math.min(options.timeout ?? (slow ? updateTimeout : timeout), LONGEST_TIMER);
    if (!(attempt > 0)) throw new RangeError("a timeout must be positive");
    return { timeout: attempt, total: attempt * (slow ? 1 : TOTAL), retries: options.retries ?? retries };
  }

  /** How often a stream without any data is opened again. */
  get retries(): number {
    return this.#options.retries ?? RETRIES;
  }

  async #attempts(call: Call): Promise<Outcome> {
    const { timeout, total, retries } = this.#limits(call);
    const init = await this.#init(call);
    const repeatable = ["GET", "DELETE"].includes(call.method) || init.headers.has("idempotency-key");
    const end = performance.now() + total;
    let doubtful = false;
    for (let attempt = 1; ; attempt++) {
      const left = Math.max(1, end - performance.now());
      const failure = await this.#once(call, init, Math.min(timeout, left)).catch((error: unknown) => error as Error);
      if (!(failure instanceof Error)) return failure;
      const isProblem = failure instanceof ProblemError;
      if (doubtful && call.method === "DELETE" && call.answers === "none" && isMissing(failure)) {
        return { status: 204, headers: new Headers(), content: "" };
      }
      const asked = isProblem ? failure.retryAfter : undefined;
      const pause = wait(attempt, asked);
      const late = performance.now() + pause >= end || (asked !== undefined && asked > LONGEST_ASKED);
      if (attempt > retries || late || !mayRetry(failure, repeatable)) throw failure;
      // After these nothing was deleted.
      doubtful ||= !(isProblem && failure.status === 429) && !isUnsent(failure.cause);
      await sleep(pause, call.options?.signal);
    }
  }

  /** One attempt: its whole successful response, or the body of a stream. It throws anything else. */
  async #once(call: Call, init: Init, timeout: number): Promise<Outcome> {
    const { fetch: own, logger } = this.#options;
    const signal = call.options?.signal;
    const stop = new AbortController();
    const given = () => stop.abort(signal?.reason);
    if (signal?.aborted) given();
    signal?.addEventListener("abort", given);
    const late = new TimedOutError(`${call.method} ${call.path}: no answer within ${Math.round(timeout)} ms`);
    const timer = setTimeout(() => stop.abort(late), timeout);
    const began = performance.now();
    const log = (outcome: number | string, requestId?: string | null) =>
      logger?.({
        method: call.method,
        path: call.path,
        outcome,
        milliseconds: Math.round(performance.now() - began),
        requestId: requestId ?? undefined,
      });
    let opened = false;
    try {
      const request: RequestInit = { ...init.request, signal: stop.signal };
      const response = await (own ? own(init.url, request) : fetch(init.url, call.slow ? patient(request) : request));
      const { status, headers } = response;
      opened = call.stream === true && response.ok;
      const content = opened ? "" : await response.text();
      log(status, headers.get("x-request-id"));
      if (status === 304) throw new NotModifiedError(`not modified: it still has the entity tag ${headers.get("etag")}`);
      if (!response.ok) throw problem(status, headers, content);
      return { status, headers, content, body: opened ? response.body : undefined };
    } catch (error) {
      if (error instanceof ProblemError || error instanceof NotModifiedError) throw error;
      const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
      log(reason instanceof Error ? reason.name : "aborted");
      if (stop.signal.aborted) throw reason === late ? late : asError(reason);
      throw new ConnectionFailedError(`${call.method} ${call.path}: ${said(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
      // The caller can still abort a stream.
      if (!opened) signal?.removeEventListener("abort", given);
    }
  }

  async #init(call: Call): Promise<Init> {
    const { key, actor, headers: always } = this.#options;
    const { options = {} } = call;
    const headers = new Headers({ "user-agent": `working-memory-client-typescript/${VERSION}`, ...always });
    const wanted = {
      accept: call.stream ? "text/event-stream" : ACCEPTED[call.answers ?? "json"],
      "x-actor-id": options.actor ?? (call.writes ? actor : undefined),
      "idempotency-key": options.idempotencyKey ?? (call.writes && !call.stream ? randomKey() : undefined),
      "if-match": entityTag(options.ifMatch),
      "if-none-match": entityTag(options.ifNoneMatch),
      ...call.headers,
      ...options.headers,
    };
    for (const [name, value] of Object.entries(wanted)) {
      if (value === undefined) continue;
      if (!/^[\x20-\x7e]*$/.test(value)) throw new TypeError(`the header ${name} contains characters it cannot have`);
      headers.set(name, value);
    }
    if (key !== undefined) headers.set("authorization", `Bearer ${checkKey(typeof key === "string" ? key : await key())}`);
    const request: RequestInit = { method: call.method, headers, redirect: "manual" };
    if (call.body !== undefined) {
      headers.set("content-type", typeof call.body === "string" ? "text/plain; charset=utf-8" : "application/json");
      request.body = typeof call.body === "string" ? whole("", call.body) : JSON.stringify(call.body, whole);
    }
    const query = queryOf(call.query ?? {});
    const end = call.path.includes("?") && query ? query.replace("?", "&") : query;
    return { url: this.url + call.path + end, headers, request };
  }
}

/** A value as it is: `fetch` would send another character for half of a surrogate pair, and JSON an escape that is none. */
function whole<T>(_name: string, value: T): T {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`JSON has no number ${value}, and would have null in its place`);
  }
  if (typeof value !== "string" || !/\p{Surrogate}/u.test(value)) return value;
  throw new TypeError("the text contains half of a surrogate pair, which is not a character");
}

interface Init {
  url: string;
  headers: Headers;
  request: RequestInit;
}

interface Outcome {
  status: number;
  headers: Headers;
  content: string;
  body?: ReadableStream<Uint8Array> | null | undefined;
}

const ACCEPTED = { json: "application/json", text: "text/plain", none: undefined, any: "*/*" };

function valueOf({ path, answers = "json" }: Call, status: number, headers: Headers, content: string): unknown {
  const type = headers.get("content-type") ?? "";
  const isOther = answers === "none" ? status !== 204 : answers === "text" && !/^text\/(plain|markdown)/.test(type);
  if (isOther) throw new InvalidAnswerError(`${path}: the answer (${status}, ${type || "of no type"}) is not the service's`);
  if (answers === "none") return undefined;
  if (answers === "text" || (answers === "any" && !type.includes("json"))) return content;
  if (answers === "json" && !type.startsWith("application/json")) {
    throw new InvalidAnswerError(`${path}: the answer is ${type || "of no type"}, not application/json`);
  }
  if (content === "" && answers === "any") return null;
  const value = parsed(path, content);
  if (answers === "json" && (typeof value !== "object" || value === null || Array.isArray(value))) {
    throw new InvalidAnswerError(`${path}: the answer is not an object`);
  }
  return value;
}

function parsed(path: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new InvalidAnswerError(`${path}: the response cannot be parsed`, { cause: error });
  }
}

/** What a request of Node's `fetch` is dispatched by. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** A request for which Node's `fetch` waits as long as the timer does: by itself it gives up after 300 seconds. */
function patient(request: RequestInit): RequestInit {
  // Node's name for the one in use; elsewhere there is none.
  const inUse = (globalThis as { [name: symbol]: Dispatcher | undefined })[Symbol.for("undici.globalDispatcher.1")];
  if (!inUse) return request;
  const dispatcher: Dispatcher = {
    dispatch: (options, handler) => inUse.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  };
  return { ...request, dispatcher } as RequestInit;
}

/** Whether nothing is there: then an earlier attempt without a response has deleted it. */
function isMissing(failure: Error): boolean {
  if (failure instanceof PreconditionFailedError) {
    return failure.kind === "precondition-failed" && failure.members.current == null;
  }
  return isNotFound(failure);
}

/** Whether the service says that something is not there. The 404 of another server says nothing. */
export function isNotFound(failure: unknown): boolean {
  return failure instanceof NotFoundError && failure.kind === "not-found";
}

/** Whether another attempt may succeed, and may be made. */
export function mayRetry(failure: Error, repeatable: boolean): boolean {
  if (failure instanceof ModelError) return false;
  if (failure instanceof StillRunningError) return true;
  // A request that was refused with 429 was not executed.
  if (failure instanceof ProblemError) {
    return failure.status === 429 || (repeatable && PASSING.includes(failure.status));
  }
  return failure instanceof ConnectionFailedError && (repeatable || isUnsent(failure.cause));
}

/** Whether there was no connection at all, as Node tells it. Browsers do not. */
function isUnsent(cause: unknown): boolean {
  const inner: unknown = cause instanceof Error ? cause.cause : undefined;
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"].includes(String((inner as { code?: unknown } | undefined)?.code));
}

/** The wait in milliseconds after the attempt of this number: with jitter, and never less than asked. */
export function wait(attempt: number, asked = 0): number {
  const bound = Math.min(WAITS.longest, WAITS.first * 2 ** Math.min(attempt - 1, 30));
  return asked * 1000 + bound * (0.5 + Math.random() / 2);
}

/** Waits, unless the signal ends it. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(asError(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error.cause instanceof Error && error.cause.message) || error.message;
}

/** A setting of the environment, where there is one. */
function setting(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

function checkedUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError("url is the address of a service, such as http://127.0.0.1:8080");
  }
  if (!["http:", "https:"].includes(url.protocol)) throw new TypeError("url must begin with http:// or https://");
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("url has no user, password, query or fragment: pass the key as `key`");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function checkKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new TypeError("the key contains characters that no key has, such as a blank or a line break");
}

/** An id as a segment of a URL. */
export function segment(id: string | number): string {
  const text = String(id);
  if (["", ".", ".."].includes(text)) throw new TypeError(`"${text}" is not an id: it would change the URL`);
  return encodeURIComponent(text);
}

function entityTag(text: string | undefined): string | undefined {
  return text === undefined || text === "*" || text.includes('"') ? text : `"${text}"`;
}

/** Options that are no parameters of an operation. */
const OF_CALL = new Set(["signal", "timeout", "retries", "headers", "actor", "idempotencyKey", "ifMatch", "ifNoneMatch"]);

/** The options that are parameters, with the service's names. */
export function members(options: object): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (OF_CALL.has(name) || value === undefined) continue;
    found[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  return found;
}

function queryOf(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    // A model may pass null for what it leaves out.
    if (value != null) parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = parameters.toString();
  return text && `?${text}`;
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
