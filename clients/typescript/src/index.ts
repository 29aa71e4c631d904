/** Client of `working-memory`, a service for the working memory of agents. */

export { Client, type Keys, type Vaults } from "./client.js";
export { archive, learn, mark, merge, progress, snippet, type Because } from "./edits.js";
export * from "./errors.js";
export type { EventOptions, UpdateStep } from "./events.js";
export type * from "./groups.js";
export { Memory, Session, type SearchOptions } from "./memory.js";
export { Pages } from "./pages.js";
export type { ListOptions } from "./scope.js";
export { responseOf, type ResponseInfo } from "./transport.js";
export type { CallOptions, ChangeOptions, ClientOptions, LogEntry as LoggedAttempt, WriteOptions } from "./transport.js";
export type * from "./types.js";
export { Vault } from "./vault.js";
