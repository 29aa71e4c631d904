/** The groups of methods of a memory, as in `memory.records.list()`. */

import { StillWaitingError } from "./errors.js";
import { steps, type UpdateStep } from "./events.js";
import type { Pages } from "./pages.js";
import { Scope, type ListOptions } from "./scope.js";
import { members, segment, sleep, type CallOptions, type ChangeOptions, type WriteOptions } from "./transport.js";
import type {
  ArchivedTask,
  Context,
  Diff,
  Epic,
  Handoff,
  HandoffEntry,
  HandoffStatus,
  ItemOfCategory,
  MemoryRecord,
  PromptItem,
  PutAnswer,
  RecordKind,
  Ref,
  RemovedItems,
  ReplacedItems,
  Run,
  SessionRecord,
  StatusAnswer,
  UpdateAnswer,
  Window,
  WindowAnswer,
  WindowImport,
  WindowImportAnswer,
  Workspace,
} from "./types.js";

/** A message in the format of OpenAI's or Anthropic's SDK. Members that are not declared here are sent unchanged. */
export interface MessageLike {
  role: string;
  content?: unknown;
}

/** Options of an update. */
export interface UpdateOptions extends ChangeOptions {
  /** The task for the window, saved in the same version. */
  record?: SessionRecord | undefined;
  /** `propose`: make a proposal for `updates.approve`. */
  mode?: "apply" | "propose" | undefined;
  /** Save nothing, and return the result. */
  dryRun?: boolean | undefined;
  /** Only these of the roles. */
  roles?: readonly ("progress" | "learnings" | "verbatim")[] | undefined;
}

/** What goes into a prompt. */
export interface PromptOptions extends CallOptions {
  /** The budget; the least important parts are left out. */
  maxTokens?: number | undefined;
  /** The subject: records that share its words are left out last. */
  query?: string | undefined;
  /** Only these parts. */
  include?: string | readonly string[] | undefined;
  /** Without these parts. */
  exclude?: string | readonly string[] | undefined;
  /** An IANA name, for the date and time in the prompt. */
  timezone?: string | undefined;
  /** As it was at this time. */
  asOf?: Date | string | undefined;
}

/** The body of an update. */
export function updateBody(task: string, messages: readonly MessageLike[], options: UpdateOptions): object {
  // An iterator would be sent as an empty object.
  if (!Array.isArray(messages)) throw new TypeError("messages are a list");
  return { task, ...(messages.length > 0 && { messages }), ...members(options) };
}

/** The versions of a memory. */
export class Versions extends Scope {
  /** The versions, newest first, without their texts. */
  list(options: ListOptions = {}): Pages<Context> {
    return this.paged("/contexts", options);
  }

  /** A version by its number or `context_id`. */
  get(ref: Ref, options: { section?: string | undefined } & CallOptions = {}): Promise<Context> {
    return this.read(`/contexts/${segment(ref)}`, options);
  }

  /** What a version changed, against the one before it or `base`: as text (`diff`) and by record. */
  diff(ref: Ref, options: { base?: Ref | undefined } & CallOptions = {}): Promise<Diff> {
    return this.read(`/contexts/${segment(ref)}/diff`, options);
  }

  /** Makes the text of an earlier version the newest one again. */
  restore(ref: Ref, options: { reason?: string | undefined } & ChangeOptions = {}): Promise<PutAnswer> {
    return this.write("POST", `/contexts/${segment(ref)}/restore`, members(options), options);
  }

  /** Removes the text of a version for good. Requires the role admin. */
  redact(ref: Ref, options: { reason: string } & ChangeOptions): Promise<Context> {
    return this.write("POST", `/contexts/${segment(ref)}/redact`, members(options), options);
  }
}

/** The records of a memory: learnings (KL), snippets (VC), tasks (T), decisions (D). */
export class Records extends Scope {
  /** The records, without `status` the active ones. */
  list(
    options: ListOptions<{ kind?: RecordKind | undefined; status?: "active" | "archived" | "all" | undefined }> = {},
  ): Pages<MemoryRecord> {
    return this.paged("/records", options);
  }

  /** A record by its id, such as `KL-3`, with its reason and evidence; on request with its `history`. */
  get(recordId: string, options: { history?: boolean | undefined } & CallOptions = {}): Promise<MemoryRecord> {
    return this.read(`/records/${segment(recordId)}`, options);
  }
}

/** The prompt items of a vault. */
export class Items extends Scope {
  /** The items, by category. */
  list(options: ListOptions<{ category?: string | undefined }> = {}): Pages<PromptItem> {
    return this.paged("/items", options);
  }

  /** Adds an item behind those of its category. Empty content is a `RangeError`. */
  add(
    content: string,
    category: string,
    options: { metadata?: object | undefined; expiresAt?: Date | string | undefined } & WriteOptions = {},
  ): Promise<PromptItem> {
    return this.write("POST", "/items", { content: checkContent(content), category, ...members(options) }, options);
  }

  /** An item. */
  get(itemId: string, options: CallOptions = {}): Promise<PromptItem> {
    return this.read(`/items/${segment(itemId)}`, options);
  }

  /** Replaces all items of a category at once. */
  replace(
    category: string,
    contents: readonly (string | ItemOfCategory)[],
    options: WriteOptions = {},
  ): Promise<ReplacedItems> {
    if (!Array.isArray(contents)) throw new TypeError("contents is a list of texts");
    const items = contents.map((one: string | ItemOfCategory) => (typeof one === "string" ? { content: one } : one));
    for (const { content } of items) checkContent(content);
    return this.write("PUT", `/items/${segment(category)}`, { items }, options);
  }

  /** Removes an item. */
  remove(itemId: string, options: CallOptions = {}): Promise<void> {
    return this.erase(`/items/${segment(itemId)}`, options);
  }

  /** Removes all items of a category. */
  clear(category: string, options: CallOptions = {}): Promise<RemovedItems> {
    return this.transport.send({ method: "DELETE", path: `${this.at}/items`, query: { category }, options });
  }
}

function checkContent(content: string): string {
  if (typeof content !== "string") throw new TypeError(`content is a text, not ${typeof content}`);
  if (content.trim() === "") throw new RangeError("content is empty: an item needs text");
  return content;
}

/** The prompt items of a memory, and the prompt that they and the document make. */
export class MemoryItems extends Items {
  /** The text of the assembled prompt, with the items of vault and memory. */
  getPromptContent(options: PromptOptions = {}): Promise<string> {
    return this.read("/prompt", options, {}, { answers: "text" });
  }
}

/** The interval between two polls of a run, in milliseconds. */
const FIRST_LOOK = 100;
const LONGEST_LOOK = 2_000;

/** The updates of a memory. */
export class Updates extends Scope {
  /** The runs, newest first. */
  list(options: ListOptions = {}): Pages<Run> {
    return this.paged("/updates", options);
  }

  /** A run: its request, the models' answers and the outcome. */
  get(updateId: string, options: CallOptions = {}): Promise<Run> {
    return this.read(`/updates/${segment(updateId)}`, options);
  }

  /** Queues an update and returns its run at once; `wait` returns its outcome. */
  queue(task: string, messages: readonly MessageLike[] = [], options: UpdateOptions = {}): Promise<Run> {
    const rest = { headers: { prefer: "respond-async" } };
    return this.write("POST", "/update", updateBody(task, messages, options), options, rest);
  }

  /** Updates the document, and streams the steps; the last one, `done`, has the `answer`. */
  watch(
    task: string,
    messages: readonly MessageLike[] = [],
    options: UpdateOptions = {},
  ): AsyncGenerator<UpdateStep, void, undefined> {
    const body = updateBody(task, messages, options);
    return steps(this.transport, { method: "POST", path: `${this.at}/update`, body, options, writes: true, slow: true });
  }

  /** Waits until an update has ended, for at most `milliseconds` (600,000). */
  async wait(updateId: string, options: { milliseconds?: number | undefined } & CallOptions = {}): Promise<Run> {
    const { milliseconds = 600_000, ...call } = options;
    const end = performance.now() + milliseconds;
    for (let pause = FIRST_LOOK; ; pause = Math.min(LONGEST_LOOK, pause * 1.5)) {
      const run = await this.get(updateId, call);
      if (!["queued", "running"].includes(run.status)) return run;
      if (performance.now() + pause > end) throw new StillWaitingError(`update ${updateId} is still ${run.status}`);
      await sleep(pause, call.signal);
    }
  }

  /** Cancels a run that is queued or running. */
  cancel(updateId: string, options: CallOptions = {}): Promise<Run> {
    return this.transport.send({ method: "DELETE", path: `${this.at}/updates/${segment(updateId)}`, options });
  }

  /** Applies a proposal, or only its `operations` of these numbers. */
  approve(
    updateId: string,
    options: { operations?: readonly number[] | undefined; comment?: string | undefined } & ChangeOptions = {},
  ): Promise<UpdateAnswer> {
    return this.write("POST", `/updates/${segment(updateId)}/approve`, members(options), options);
  }

  /** Rejects a proposal. */
  reject(updateId: string, options: { reason: string } & ChangeOptions): Promise<Run> {
    return this.write("POST", `/updates/${segment(updateId)}/reject`, members(options), options);
  }
}

/** The window of recent tasks and decisions. */
export class WindowOfTasks extends Scope {
  /** Goal and blocker, the recent tasks and the decisions. */
  get(options: CallOptions = {}): Promise<Window> {
    return this.read("/window", options);
  }

  /** The window as Markdown. */
  text(options: CallOptions = {}): Promise<string> {
    return this.read("/window", options, {}, { answers: "text" });
  }

  /** Records a task. A known `taskId` makes it a repeat, which changes nothing. */
  recordTask(
    intent: string,
    summary: string,
    options: { taskId?: string | undefined; outcome?: unknown; epic?: string | undefined } & ChangeOptions = {},
  ): Promise<WindowAnswer> {
    return this.write("POST", "/tasks", { intent, summary, ...members(options) }, options);
  }

  /** Records a decision; one that `supersedes` another archives that. */
  recordDecision(
    decision: string,
    options: { reason?: string | undefined; supersedes?: string | undefined } & ChangeOptions = {},
  ): Promise<WindowAnswer> {
    return this.write("POST", "/decisions", { decision, ...members(options) }, options);
  }

  /** Sets the goal and the blocker: `null` clears one, what is left out stays. */
  setStatus(
    options: { goal?: string | null | undefined; blocker?: string | null | undefined } & ChangeOptions,
  ): Promise<StatusAnswer> {
    return this.write("PUT", "/status", members(options), options);
  }

  /** Imports tasks, decisions and archived tasks (`history`) with their times. */
  import(window: WindowImport, options: ChangeOptions = {}): Promise<WindowImportAnswer> {
    return this.write("POST", "/window/import", window, options);
  }

  /** The archived tasks, newest first. */
  history(options: ListOptions = {}): Pages<ArchivedTask> {
    return this.paged("/archive/history", options);
  }

  /** The archived tasks by week or by epic. */
  epics(options: ListOptions<{ by?: "week" | "epic" | undefined }> = {}): Pages<Epic> {
    return this.paged("/archive/epics", options);
  }
}

/** The handoffs from session to session. */
export class Handoffs extends Scope {
  /** The handoffs, newest first. */
  list(options: ListOptions = {}): Pages<HandoffEntry> {
    return this.paged("/handoffs", options);
  }

  /** The newest handoff, or the one of this id: `preface`, `markdown` and its freshness. */
  get(handoffId?: string, options: CallOptions = {}): Promise<Handoff> {
    return this.read(handoffId === undefined ? "/handoff" : `/handoffs/${segment(handoffId)}`, options);
  }

  /** Whether the newest handoff is fresh, and which of its lines are stale. */
  status(options: CallOptions = {}): Promise<HandoffStatus> {
    return this.read("/handoff/status", options);
  }

  /** Makes a new handoff, unless the newest one is fresh. */
  refresh(
    options: {
      workspace?: Workspace | undefined;
      window?: string | undefined;
      force?: boolean | undefined;
    } & WriteOptions = {},
  ): Promise<Handoff> {
    const { workspace, window, force } = options;
    const rest = { slow: true, query: { window, force } };
    return this.write("POST", "/handoff/refresh", members({ workspace }), options, rest);
  }
}
