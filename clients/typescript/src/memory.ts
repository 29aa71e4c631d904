/** A memory, with the short names of what agents do with it. */

import { data, type Core } from "./core.js";
import type { EventOptions, MemoryEvent, ResetEvent } from "./events.js";
import { MEMORY, MemoryOperations } from "./memory-operations.js";
import type { Pages } from "./pages.js";
import { ForbiddenError, NotFoundError } from "./problem.js";
import type { CallOptions, ChangeOptions } from "./transport.js";
import type { Answer, Body, Item, Query } from "./types.js";
import { Vault } from "./vault.js";

/** What a session begins with. */
export interface Session {
  /** The assembled system prompt; empty if there is nothing to say. */
  prompt: string;
  /** The handoff of the sessions before, with a word on its freshness; empty if there is none. */
  handoff: string;
  /** The version that the prompt shows; null on a first session. */
  version: number | null;
  /** That version's id, for `ifMatch`. */
  contextId: string | null;
  /** The prompt's tokens. */
  tokens: number;
}

/** How a session begins. */
export type StartOptions = Query<"GetPrompt"> &
  CallOptions & {
    /** Whether a stale handoff is made anew (true); a key that may only read gets it as it is. */
    refresh?: boolean | undefined;
  };

/** A message as the SDKs of OpenAI and Anthropic have it. Members that are not named here are sent as they are. */
export interface MessageLike {
  role: string;
  content?: unknown;
}

/** One operation of `edit`. */
export type EditOperation = NonNullable<Body<"ApplyOperations">["operations"]>[number];

/** How a session ends. */
export type FinishOptions = Omit<Body<"UpdateContext">, "task" | "messages"> & ChangeOptions;

/** One memory of a vault. */
export class Memory extends MemoryOperations {
  readonly #vault: Vault;

  constructor(core: Core, vaultId: string, memoryId: string) {
    super(core, vaultId, memoryId);
    this.#vault = new Vault(core, vaultId);
  }

  /** Begins a session: the prompt to work with, and the handoff of the sessions before. Both are empty the first time. */
  async start(options: StartOptions = {}): Promise<Session> {
    const { refresh = true, ...query } = options;
    const call = { signal: options.signal, timeout: options.timeout };
    const [prompt, handoff] = await Promise.all([this.getPrompt(query), this.#handoff(refresh, call)]);
    const { text, version, context_id: contextId, tokens } = prompt;
    return { prompt: text, handoff, version, contextId, tokens };
  }

  /**
   * Ends a session: tells what was done, with the conversation as the agent's SDK has it. `record` keeps the task in the
   * same version. It waits for the models; see `finishLater`.
   */
  finish(task: string, messages: readonly MessageLike[] = [], options: FinishOptions = {}): Promise<Answer<"UpdateContext", 200>> {
    const { request, call } = finishing(task, messages, options);
    return this.updateContext(request, call);
  }

  /** The same without waiting: the update is stored when this returns, and run later. `getUpdate` tells what came of it. */
  async finishLater(task: string, messages: readonly MessageLike[] = [], options: FinishOptions = {}): Promise<Answer<"UpdateContext", 202>> {
    const { request, call } = finishing(task, messages, options);
    const init = this.core.init(call);
    const answer = this.core.api.POST(`${MEMORY}/update`, {
      params: { path: this.path },
      body: request,
      ...init,
      headers: { ...init.headers, prefer: "respond-async" },
    });
    return (await data<unknown>(answer)) as Answer<"UpdateContext", 202>;
  }

  /** Puts the whole document. */
  put(document: Body<"PutContext">, options: Query<"PutContext"> & ChangeOptions = {}): Promise<Answer<"PutContext">> {
    return this.putContext(document, options);
  }

  /** The newest document: `(await memory.get()).context`. Throws NotFoundError before the first change. */
  get(options: Query<"GetLatestContext"> & CallOptions = {}): Promise<Answer<"GetLatestContext">> {
    return this.getLatestContext(options);
  }

  /** Adds and archives single records: a list of operations, or the text that models write. */
  edit(operations: readonly EditOperation[] | string, options: Query<"ApplyOperations"> & ChangeOptions = {}): Promise<Answer<"ApplyOperations">> {
    const body = typeof operations === "string" ? { text: operations } : { operations: [...operations] };
    return this.applyOperations(body, options);
  }

  /** Searches the vault's memories, this one among them, by their words. */
  search(q: string, options: Omit<Query<"SearchContexts">, "q"> & CallOptions = {}): Pages<Item<"SearchContexts">, Answer<"SearchContexts">> {
    return this.#vault.search(q, options);
  }

  /** What changed, in words, newest first. */
  history(options: Query<"GetLog"> & CallOptions = {}): Pages<Item<"GetLog">, Answer<"GetLog">> {
    return this.getLog(options);
  }

  /** What happens to this memory, from now on or behind `lastEventId`, across lost connections. */
  events(options: Omit<EventOptions, "memoryId"> = {}): AsyncGenerator<MemoryEvent | ResetEvent, void, undefined> {
    return this.#vault.events({ ...options, memoryId: this.memoryId });
  }

  async #handoff(refresh: boolean, call: CallOptions): Promise<string> {
    try {
      const { preface, markdown } = refresh ? await this.#fresh(call) : await this.getHandoff(call);
      return `${preface.trimEnd()}\n\n${markdown}`;
    } catch (error) {
      if (error instanceof NotFoundError) return "";
      throw error;
    }
  }

  async #fresh(call: CallOptions): Promise<Answer<"GetHandoff">> {
    try {
      return await this.refreshHandoff(undefined, call);
    } catch (error) {
      if (error instanceof ForbiddenError) return this.getHandoff(call);
      throw error;
    }
  }
}

/** The options of a `finish`, told apart. */
function finishing(task: string, messages: readonly MessageLike[], options: FinishOptions) {
  const { signal, timeout, idempotencyKey, actor, ifMatch, ifNoneMatch, ...members } = options;
  // The types of the SDKs are narrower or wider than the service's; what it does not take it names.
  const request = { ...members, task, messages: messages as Body<"UpdateContext">["messages"] } as Body<"UpdateContext">;
  return { request, call: { signal, timeout, idempotencyKey, actor, ifMatch, ifNoneMatch } };
}
