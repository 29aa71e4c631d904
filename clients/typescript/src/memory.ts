/** A memory. */

import {
  ConnectionFailedError,
  InvalidAnswerError,
  PreconditionFailedError,
  RateLimitedError,
  UnavailableError,
} from "./errors.js";
import { events, type EventOptions } from "./events.js";
import {
  Handoffs,
  MemoryItems,
  Records,
  Updates,
  Versions,
  WindowOfTasks,
  updateBody,
  type MessageLike,
  type PromptOptions,
  type UpdateOptions,
} from "./groups.js";
import type { Pages } from "./pages.js";
import { Scope, type ListOptions } from "./scope.js";
import { isNotFound, members, sleep, type CallOptions, type ChangeOptions } from "./transport.js";
import type {
  Blame,
  Context,
  Document,
  Event,
  LogEntry,
  MemoryInfo,
  Operation,
  Prompt,
  PutAnswer,
  RecordKind,
  Ref,
  SearchPage,
  SearchResult,
  Section,
  UpdateAnswer,
} from "./types.js";

/** What a search looks for besides words. */
export type SearchOptions = ListOptions<{
  /** By words (`text`), by meaning, or by both; without it what the service can do. */
  mode?: "text" | "semantic" | "hybrid" | undefined;
  /** Only records of this kind; without it documents too. */
  kind?: RecordKind | undefined;
  /** Without it active records. */
  status?: "active" | "archived" | "all" | undefined;
  /** Only what this actor wrote. */
  actor?: string | undefined;
  since?: Date | string | undefined;
  until?: Date | string | undefined;
  minScore?: number | undefined;
  /** Wait until what was written before is searchable. */
  consistent?: boolean | undefined;
}>;

/** The start of a session. In a first session all of it is empty. */
export class Session {
  constructor(
    /** The assembled prompt, for the system prompt. */
    readonly prompt: string,
    /** The handoff of the last session, with citations; empty if there is none. */
    readonly handoff: string,
    /** The receipt of the prompt: its tokens by part, and what a budget left out. */
    readonly receipt: Prompt,
  ) {}

  /** Whether the memory is empty. */
  get first(): boolean {
    return this.prompt === "" && this.handoff === "";
  }

  /** Prompt and handoff, for a system prompt. */
  toString(): string {
    return [this.prompt, this.handoff]
      .map((part) => part.trim())
      .filter(Boolean)
      .join("\n\n");
  }
}

/** How often a change is retried because another writer was first. */
const CHANGES = 10;
/** The longest pause before the first retry, which doubles each time, and the longest of all, in milliseconds. */
const PAUSES = { first: 20, longest: 1_000 };

/** One memory of a vault. Its first change makes it. */
export class Memory extends Scope {
  /** Its versions. */
  get versions(): Versions {
    return new Versions(this.transport, this.at);
  }
  /** Its records. */
  get records(): Records {
    return new Records(this.transport, this.at);
  }
  /** Its prompt items. */
  get items(): MemoryItems {
    return new MemoryItems(this.transport, this.at);
  }
  /** Its updates. */
  get updates(): Updates {
    return new Updates(this.transport, this.at);
  }
  /** Its window of recent tasks and decisions. */
  get window(): WindowOfTasks {
    return new WindowOfTasks(this.transport, this.at);
  }
  /** Its handoffs. */
  get handoffs(): Handoffs {
    return new Handoffs(this.transport, this.at);
  }

  /** Starts a session: returns the prompt, and the handoff of the session before. `refresh` refreshes the handoff first. */
  async start(options: { refresh?: boolean | undefined } & PromptOptions = {}): Promise<Session> {
    const { refresh = false, ...prompt } = options;
    const { signal, timeout, retries, headers } = options;
    const call = { signal, timeout, retries, headers };
    if (refresh) await this.handoffs.refresh(call).catch(ignoreNotFound);
    const [receipt, handoff] = await Promise.all([
      this.prompt(prompt),
      this.handoffs.get(undefined, call).catch(ignoreNotFound),
    ]);
    return new Session(receipt.text, handoff ? `${handoff.preface.trimEnd()}\n\n${handoff.markdown}` : "", receipt);
  }

  /**
   * Ends a session: updates the memory with what was done and the conversation in the format of the agent's SDK, and makes
   * the handoff for the next one. `record` saves the task in the same version. If the service cannot be reached for the
   * handoff, the answer is returned all the same: the update is saved.
   */
  async finish(
    task: string,
    messages: readonly MessageLike[] = [],
    options: { handoff?: boolean | undefined } & UpdateOptions = {},
  ): Promise<UpdateAnswer> {
    const { handoff = !options.dryRun, ...rest } = options;
    const answer = await this.update(task, messages, rest);
    const { signal, timeout, retries, headers, actor } = options;
    if (!handoff) return answer;
    await this.handoffs.refresh({ signal, timeout, retries, headers, actor }).catch((error: unknown) => {
      // Without any addition there is no memory.
      const passing = [ConnectionFailedError, UnavailableError, RateLimitedError].some((kind) => error instanceof kind);
      if (!passing) ignoreNotFound(error);
    });
    return answer;
  }

  /** Updates the document from what was done and said. */
  update(task: string, messages: readonly MessageLike[] = [], options: UpdateOptions = {}): Promise<UpdateAnswer> {
    return this.write("POST", "/update", updateBody(task, messages, options), options, { slow: true });
  }

  /**
   * Changes single items, each with its reason: see `learn`, `snippet`, `archive` and `progress`; or one text in the format of
   * models. A faulty operation is an `InvalidError` and nothing is changed; with `partly` the valid ones are applied.
   */
  edit(
    operations: readonly Operation[] | string,
    options: {
      partly?: boolean | undefined;
      dryRun?: boolean | undefined;
      mode?: "apply" | "propose" | undefined;
    } & ChangeOptions = {},
  ): Promise<UpdateAnswer> {
    const { partly = false, dryRun, mode } = options;
    const body = typeof operations === "string" ? { text: operations } : { operations };
    const query = members({ dryRun, mode, onInvalid: partly ? "drop" : "fail" });
    return this.write("POST", "/operations", body, options, { query });
  }

  /**
   * Changes the document by a function of its text (empty if there is no memory yet), without losing concurrent changes of
   * other writers: it is called again if another writer was first.
   */
  async change(decide: (text: string) => string, options: CallOptions = {}): Promise<PutAnswer> {
    for (let retry = 0; ; retry++) {
      // Random, so that the writers get out of step.
      const pause = Math.random() * Math.min(PAUSES.longest, PAUSES.first * 2 ** (retry - 1));
      if (retry > 0) await sleep(pause, options.signal);
      const there = await this.get({ ...options, fresh: true }).catch(ignoreNotFound);
      if (there && (typeof there.context !== "string" || typeof there.context_id !== "string")) {
        throw new InvalidAnswerError(`${this.at}/context: the answer is not the service's`);
      }
      const only = there ? { ifMatch: there.context_id } : { ifNoneMatch: "*" };
      const text: unknown = decide(there?.context ?? "");
      if (typeof text !== "string") throw new TypeError(`change: the function returned no text, but ${typeof text}`);
      try {
        return await this.put(text, { ...options, ...only });
      } catch (error) {
        if (!(error instanceof PreconditionFailedError) || retry + 1 >= CHANGES) throw error;
      }
    }
  }

  /** Reads the newest document; its text is `.context`. */
  get(
    options: {
      /** Only this section: `progress`, `learnings`, `verbatim`, or the title or path of any heading. */
      section?: string | undefined;
      /** The version that was the newest at this time. */
      asOf?: Date | string | undefined;
      /** Ask the database also where the service has the newest version in its cache. */
      fresh?: boolean | undefined;
      /**
       * Throw `NotModifiedError` if this is still the newest version: its `context_id`; with `section` the `etag` of the
       * section's response.
       */
      ifNoneMatch?: string | undefined;
    } & CallOptions = {},
  ): Promise<Context> {
    const { fresh, ...rest } = options;
    const id = /^"?([^"*,;]+)"?$/.exec(rest.ifNoneMatch ?? "")?.[1];
    // As JSON a version has an entity tag of its own.
    if (id !== undefined) rest.ifNoneMatch = `"${id};json"`;
    return this.read("/context", rest, {}, fresh ? { headers: { "cache-control": "no-cache" } } : {});
  }

  /** Puts the whole document; text is stored byte for byte, an object as JSON. `confirm`: also if it loses much. */
  put(
    document: Document,
    options: { confirm?: "collapse" | undefined } & ChangeOptions = {},
  ): Promise<PutAnswer> {
    if (ArrayBuffer.isView(document) || document instanceof Promise) {
      throw new TypeError("the document is a text or an object: decode bytes, and await a promise");
    }
    return this.write("PUT", "/context", document, options, { query: { confirm: options.confirm } });
  }

  /** Deletes the memory with its history. Requires the role admin. */
  delete(options: Pick<ChangeOptions, "ifMatch"> & CallOptions = {}): Promise<void> {
    return this.erase("", options);
  }

  /** The memory's newest version, size and numbers of records. */
  info(options: CallOptions = {}): Promise<MemoryInfo> {
    return this.read("", options);
  }

  /** The assembled prompt: its `text`, its tokens by part, and what the budget left out. */
  prompt(options: PromptOptions = {}): Promise<Prompt> {
    return this.read("/prompt", options);
  }

  /** Searches document and records, best first. */
  search(q: string, options: SearchOptions = {}): Pages<SearchResult, SearchPage> {
    const { actor, ...rest } = options;
    return this.paged("/search", rest, { q, actor });
  }

  /** What changed, in words, newest first. */
  log(options: ListOptions = {}): Pages<LogEntry> {
    return this.paged("/log", options);
  }

  /** Which version brought each line, who made it, and when. */
  blame(options: { ref?: Ref | undefined } & CallOptions = {}): Promise<Blame> {
    return this.read("/blame", options);
  }

  /** The headings of the document. */
  sections(options: ListOptions<{ ref?: Ref | undefined }> = {}): Pages<Section> {
    return this.paged("/sections", options);
  }

  /** The events of this memory, from now on or after `lastEventId`, with reconnection. */
  events(options: EventOptions = {}): AsyncGenerator<Event, void, undefined> {
    // The last one: a vault may have the id `memories`.
    const end = this.at.lastIndexOf("/memories/");
    const memoryId = decodeURIComponent(this.at.slice(end + "/memories/".length));
    return events(this.transport, this.at.slice(0, end), { ...options, memoryId });
  }
}

function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
