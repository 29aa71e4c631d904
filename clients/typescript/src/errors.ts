/** The errors, as classes with the names of the Python client. */

import type { ProblemBody } from "./types.js";

/** The base class of all errors of this package about the service. */
export class WorkingMemoryError extends Error {
  override name = this.constructor.name;
}

/** The service was not reached, or the connection was lost; `cause` has the reason. */
export class ConnectionFailedError extends WorkingMemoryError {}

/** There was no answer in time. */
export class TimedOutError extends ConnectionFailedError {}

/** A response that is not the service's: another server, or a proxy that changes responses. */
export class InvalidAnswerError extends WorkingMemoryError {}

/** 304: the newest version is still that of `ifNoneMatch`. */
export class NotModifiedError extends WorkingMemoryError {}

/** The time to wait is over. */
export class StillWaitingError extends WorkingMemoryError {}

/** Events after the last one have expired: read the memories, and open a stream after `lastEventId`. */
export class EventsLostError extends WorkingMemoryError {
  constructor(
    detail: string,
    /** The position of the stream. */
    readonly lastEventId: string | undefined,
  ) {
    super(detail);
  }
}

const PREFIX = "urn:working-memory:problem:";

/** An error response of the service (RFC 9457). The subclass depends on its kind, else on the status. */
export class ProblemError extends WorkingMemoryError {
  constructor(
    /** The status of the response. */
    readonly status: number,
    /** All members of the problem, such as `required_role`, `current`, `rejected`. */
    readonly members: Partial<ProblemBody>,
    headers: Headers,
  ) {
    super(members.detail || members.title || `HTTP status ${status}`);
    this.type = members.type ?? "about:blank";
    this.kind = this.type.startsWith(PREFIX) ? this.type.slice(PREFIX.length) : "";
    this.detail = members.detail ?? "";
    this.field = members.field;
    this.limit = members.limit;
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.retryAfter = retryAfter(headers);
  }

  /** The kind of the problem: a stable URI. */
  readonly type: string;
  /** The last part of `type`, such as `not-found`; empty if the response is not the service's. */
  readonly kind: string;
  /** What is wrong with this request. */
  readonly detail: string;
  /** The part of the request that is wrong. */
  readonly field: string | undefined;
  /** The limit that was exceeded. */
  readonly limit: number | undefined;
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;
  /** How many seconds to wait before another attempt. */
  readonly retryAfter: number | undefined;
}

/** 400: the request cannot be parsed. */
export class BadRequestError extends ProblemError {}
/** 401: no key, or an invalid one. */
export class UnauthorizedError extends ProblemError {}
/** 403: the key does not have this right. */
export class ForbiddenError extends ProblemError {}
/** 404: it does not exist, or is in a vault that the key does not reach. */
export class NotFoundError extends ProblemError {}
/** 409: the state of the memory, or of the run, does not allow it. */
export class ConflictError extends ProblemError {}
/** 409: the put would lose much of the document; pass `confirm: "collapse"` if it is intended. */
export class CollapseError extends ConflictError {}
/** 409: the first request with this `Idempotency-Key` is still running. */
export class StillRunningError extends ConflictError {}
/** 410: the text was redacted or deleted. */
export class GoneError extends ProblemError {}
/** 412: `ifMatch` or `ifNoneMatch` is not satisfied; `members.current` is the newest version. */
export class PreconditionFailedError extends ProblemError {}
/** 413: the body is over `limit`. */
export class TooLargeError extends ProblemError {}
/** 422: the request can be parsed but is not valid. */
export class InvalidError extends ProblemError {}
/** 422: the `Idempotency-Key` belongs to another request. */
export class KeyReusedError extends InvalidError {}
/** 429: too many requests at once, or the day's tokens are used up. */
export class RateLimitedError extends ProblemError {}
/** 500: a fault of the service; its log has the cause under `requestId`. */
export class ServerError extends ProblemError {}
/** 502: a model failed; nothing was saved. */
export class ModelError extends ProblemError {}
/** 504: a model did not answer in time; nothing was saved. */
export class ModelTimeoutError extends ModelError {}
/** 502, 503, 504: the service is full, without its database, or unreachable behind its proxy. */
export class UnavailableError extends ProblemError {}

const BY_KIND: Readonly<Record<string, typeof ProblemError>> = {
  collapse: CollapseError,
  "still-running": StillRunningError,
  "key-reused": KeyReusedError,
  "model-failed": ModelError,
  "model-timeout": ModelTimeoutError,
};

const BY_STATUS: Readonly<Record<number, typeof ProblemError>> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionFailedError,
  413: TooLargeError,
  422: InvalidError,
  429: RateLimitedError,
  500: ServerError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
};

/** How much of a response that is not a problem becomes its detail. */
const SHOWN_CHARACTERS = 200;

/** The error of a response that is not a success; the text of a proxy becomes `detail`. */
export function problem(status: number, headers: Headers, text: string): ProblemError {
  const moved = headers.get("location")?.slice(0, SHOWN_CHARACTERS);
  const said = moved ? `redirects are not followed; the address is now ${moved}` : text.slice(0, SHOWN_CHARACTERS).trim();
  const members = membersOf(text) ?? { detail: said };
  const kind = typeof members.type === "string" ? members.type.slice(PREFIX.length) : "";
  return new (BY_KIND[kind] ?? BY_STATUS[status] ?? ProblemError)(status, members, headers);
}

function membersOf(text: string): Partial<ProblemBody> | undefined {
  try {
    const members: unknown = JSON.parse(text);
    const isProblem =
      typeof members === "object" && members !== null && "type" in members && typeof members.type === "string";
    return isProblem ? (members as Partial<ProblemBody>) : undefined;
  } catch {
    return undefined;
  }
}

/** The seconds of a `Retry-After`, which is a number or a date. */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return /^[A-Z]/.test(value) && !Number.isNaN(date) ? Math.max(0, (date - Date.now()) / 1000) : undefined;
}
