/** Client of `working-memory`, a service for the working memory of agents. */

export { Client } from "./client.js";
export type { EventOptions, MemoryEvent, ResetEvent } from "./events.js";
export { Memory } from "./memory.js";
export type { EditOperation, FinishOptions, MessageLike, Session, StartOptions } from "./memory.js";
export type { Ref } from "./document-operations.js";
export { Pages, type PageOf } from "./pages.js";
export {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  GoneError,
  InvalidError,
  MalformedError,
  ModelError,
  NotFoundError,
  PreconditionFailedError,
  ProblemError,
  ProtocolError,
  TimeoutError,
  TooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  WorkingMemoryError,
} from "./problem.js";
export type { ProblemBody } from "./problem.js";
export type { components, operations, paths } from "./schema.js";
export type { CallOptions, ChangeOptions, ClientOptions, WriteOptions } from "./transport.js";
export type { Answer, Body, Item, OperationId, Query } from "./types.js";
export { Vault } from "./vault.js";
