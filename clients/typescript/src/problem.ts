/** The errors, as classes. */

import type { components } from "./schema.js";

/** The body of every error response of the service (RFC 9457). */
export type ProblemBody = components["schemas"]["Problem"] & { readonly [member: string]: unknown };

/** The base class of all errors of this package. */
export class WorkingMemoryError extends Error {
  override name = "WorkingMemoryError";
}

/** There was no response, or the connection was lost. A write with an `Idempotency-Key` may be sent again with the same key. */
export class ConnectionError extends WorkingMemoryError {
  override name = "ConnectionError";
}

/** The timeout was exceeded. */
export class TimeoutError extends WorkingMemoryError {
  override name = "TimeoutError";
}

/** The response is not the service's, but for example that of a proxy. */
export class ProtocolError extends WorkingMemoryError {
  override name = "ProtocolError";
}

/** An error response of the service. The subclass depends on the status. */
export class ProblemError extends WorkingMemoryError {
  override name = "ProblemError";
  /** The status of the response. */
  readonly status: number;
  /** The kind of the problem: a stable URI, such as `urn:working-memory:problem:not-found`. */
  readonly type: string;
  /** The last part of `type`, such as `not-found`. */
  readonly kind: string;
  /** The kind in words. */
  readonly title: string;
  /** What is wrong with this request. */
  readonly detail: string;
  /** The invalid field. */
  readonly field: string | undefined;
  /** The limit that was exceeded. */
  readonly limit: number | undefined;
  /** Its actual size. */
  readonly actual: number | undefined;
  /** The seconds of `Retry-After`. */
  readonly retryAfter: number | undefined;
  /** All members of the problem. */
  readonly body: ProblemBody;

  constructor(body: ProblemBody, status: number, retryAfter?: number) {
    super(body.detail || body.title);
    this.status = status;
    this.type = body.type;
    this.kind = body.type.slice(body.type.lastIndexOf(":") + 1);
    this.title = body.title;
    this.detail = body.detail;
    this.field = typeof body.field === "string" ? body.field : undefined;
    this.limit = typeof body.limit === "number" ? body.limit : undefined;
    this.actual = typeof body.actual === "number" ? body.actual : undefined;
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/** 400: the request cannot be parsed. */
export class MalformedError extends ProblemError {
  override name = "MalformedError";
}

/** 401: there is no key, or an invalid one. */
export class UnauthorizedError extends ProblemError {
  override name = "UnauthorizedError";
}

/** 403: the key does not have the right. */
export class ForbiddenError extends ProblemError {
  override name = "ForbiddenError";
}

/** 404: it does not exist, or this key does not reach it. */
export class NotFoundError extends ProblemError {
  override name = "NotFoundError";
}

/** 409: the state of the memory does not allow it (`kind`: `conflict`, `collapse` or `still-running`). */
export class ConflictError extends ProblemError {
  override name = "ConflictError";
}

/** 410: it was redacted or deleted. */
export class GoneError extends ProblemError {
  override name = "GoneError";
}

/** 412: `ifMatch` or `ifNoneMatch` is not satisfied: another writer was first. */
export class PreconditionFailedError extends ProblemError {
  override name = "PreconditionFailedError";
}

/** 413: the body is too large. */
export class TooLargeError extends ProblemError {
  override name = "TooLargeError";
}

/** 422: the request can be parsed but is not valid. */
export class InvalidError extends ProblemError {
  override name = "InvalidError";
}

/** 429: too many requests at once, or a quota is used up. */
export class TooManyRequestsError extends ProblemError {
  override name = "TooManyRequestsError";
}

/** 502 and 504: a model of the service failed. */
export class ModelError extends ProblemError {
  override name = "ModelError";
}

/** 503: the service is unavailable at the moment. */
export class UnavailableError extends ProblemError {
  override name = "UnavailableError";
}

const CLASSES: Readonly<Record<number, typeof ProblemError>> = {
  400: MalformedError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionFailedError,
  413: TooLargeError,
  422: InvalidError,
  429: TooManyRequestsError,
  502: ModelError,
  503: UnavailableError,
  504: ModelError,
};

/** How much of a response that is not a problem is quoted in the message. */
const SHOWN_CHARACTERS = 200;

/** The error of a response that is not a success. */
export function errorOf(status: number, headers: Headers, text: string): WorkingMemoryError {
  const body = problemOf(headers, text);
  if (body === undefined) {
    const shown = text.slice(0, SHOWN_CHARACTERS).replace(/\s+/g, " ").trim();
    return new ProtocolError(`status ${status} without a problem of the service${shown && `: ${shown}`}`);
  }
  return new (CLASSES[status] ?? ProblemError)(body, status, retryAfter(headers));
}

function problemOf(headers: Headers, text: string): ProblemBody | undefined {
  if (!headers.get("content-type")?.startsWith("application/problem+json")) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isProblem(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is the body of a problem. */
export function isProblem(body: unknown): body is ProblemBody {
  if (typeof body !== "object" || body === null) return false;
  const { type, title, detail, status } = body as Record<string, unknown>;
  return [type, title, detail].every((text) => typeof text === "string") && typeof status === "number";
}

/** The seconds of a `Retry-After`, which is a number or a date. */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
