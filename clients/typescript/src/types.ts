/** The objects that the service takes and returns. `schema.ts` is made of openapi.yaml by `npm run types`. */

import type { components } from "./schema.js";

type Schemas = components["schemas"];

export type ArchivedTask = Schemas["ArchivedTask"];
export type Blame = Schemas["Blame"];
export type Context = Schemas["Context"];
export type Diff = Schemas["Diff"];
export type Document = Schemas["DocumentJson"];
export type Epic = Schemas["Epic"];
export type Event = Schemas["Event"];
export type Handoff = Schemas["Handoff"];
export type HandoffEntry = Schemas["HandoffEntry"];
export type HandoffStatus = Schemas["HandoffStatus"];
export type ItemOfCategory = Schemas["ItemOfCategory"];
export type Key = Schemas["Key"];
export type LogEntry = Schemas["LogEntry"];
export type MemoryEntry = Schemas["MemoryEntry"];
export type MemoryFile = Schemas["MemoryFile"];
export type MemoryInfo = Schemas["Memory"];
export type MemoryRecord = Schemas["Record"];
export type MemoryToolAnswer = Schemas["MemoryToolAnswer"];
export type MemoryToolCommand = Record<string, unknown>;
export type NewKey = Schemas["NewKey"];
export type Operation = Schemas["OperationRequest"];
export type ProblemBody = Schemas["Problem"] & { readonly [member: string]: unknown };
export type Prompt = Schemas["Prompt"];
export type PromptItem = Schemas["PromptItem"];
export type PutAnswer = Schemas["PutAnswer"];
export type PutFileAnswer = Schemas["PutFileAnswer"];
export type RecordKind = Schemas["RecordKind"];
export type RemovedItems = Schemas["RemovedItems"];
export type ReplacedItems = Schemas["ReplacedItems"];
export type Run = Schemas["Run"];
export type SearchPage = Schemas["SearchPage"];
export type SearchResult = Schemas["SearchResult"];
export type Section = Schemas["Section"];
export type SessionRecord = Schemas["SessionRecord"];
export type StatusAnswer = Schemas["StatusAnswer"];
export type TaskRequest = Schemas["TaskRequest"];
export type UpdateAnswer = Schemas["UpdateAnswer"];
export type Usage = Schemas["Usage"];
export type UsageOfDay = Schemas["UsageOfDay"];
export type Vault = Schemas["Vault"];
export type Window = Schemas["Window"];
export type WindowAnswer = Schemas["WindowAnswer"];
export type WindowImport = Schemas["WindowImport"];
export type WindowImportAnswer = Schemas["WindowImportAnswer"];
export type Workspace = Schemas["Workspace"];

/** A version by its number or `context_id`. */
export type Ref = number | string;

/** A page of a list. */
export interface Page<Entry> {
  items: Entry[];
  next_cursor: string | null;
}
