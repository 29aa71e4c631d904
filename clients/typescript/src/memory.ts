/** A memory, with the short names of what agents do with it. */

import { data } from "./core.js";
import type { EventOptions, MemoryEvent, ResetEvent } from "./events.js";
import { MEMORY } from "./document-operations.js";
import { MemoryOperations } from "./memory-operations.js";
import { Pages } from "./pages.js";
import { NotFoundError, WorkingMemoryError } from "./problem.js";
import type { CallOptions, ChangeOptions } from "./transport.js";
import type { Answer, Body, Item, Query } from "./types.js";
import { vaultEvents } from "./vault-events.js";

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
    /** Make a stale handoff anew first (false: the one that the last `finish` made, with a word on its freshness). */
    refresh?: boolean | undefined;
  };

/** A message as the SDKs of OpenAI and Anthropic have it. Members that are not named here are sent as they are. */
export interface MessageLike {
  role: string;
  content?: unknown;
}

/** One operation of `edit`. */
export type EditOperation = NonNullable<Body<"ApplyOperations">["operations"]>[number];

/** How a session ends: members of the request, such as `record`, and options. */
export type FinishOptions = Omit<Body<"UpdateContext">, "task" | "messages"> &
  ChangeOptions & {
    /** Make the handoff anew (true). */
    handoff?: boolean | undefined;
  };

/** One memory of a vault. */
export class Memory extends MemoryOperations {
  /** Begins a session: the prompt to work with, and the handoff of the sessions before. Both are empty the first time. */
  async start(options: StartOptions = {}): Promise<Session> {
    const { refresh = false, ...query } = options;
    const call = { signal: options.signal, timeout: options.timeout };
    const [prompt, handoff] = await Promise.all([this.getPrompt(query), this.#handoff(refresh, call)]);
    const { text, version, context_id: contextId, tokens } = prompt;
    return { prompt: text, handoff, version, contextId, tokens };
  }

  /**
   * Ends a session: tells what was done, with the conversation as the agent's SDK has it. `record` keeps the task in the
   * same version. It waits for the models, and has the handoff made for the next session; see `finishLater`.
   */
  async finish(
    task: string,
    messages: readonly MessageLike[] = [],
    options: FinishOptions = {},
  ): Promise<Answer<"UpdateContext", 200>> {
    const { request, call, handoff } = finishing(task, messages, options);
    const answer = await this.updateContext(request, call);
    if (handoff && answer.status === "applied") {
      // The update is saved: a handoff that could not be made says itself that it is stale.
      await this.refreshHandoff(undefined, { signal: call.signal, timeout: call.timeout, actor: call.actor }).catch(
        passOver,
      );
    }
    return answer;
  }

  /** The same without waiting: the update is stored when this returns, and run later. `getUpdate` tells what came of it. */
  async finishLater(
    task: string,
    messages: readonly MessageLike[] = [],
    options: Omit<FinishOptions, "handoff"> = {},
  ): Promise<Answer<"UpdateContext", 202>> {
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
  edit(
    operations: readonly EditOperation[] | string,
    options: Query<"ApplyOperations"> & ChangeOptions = {},
  ): Promise<Answer<"ApplyOperations">> {
    const body = typeof operations === "string" ? { text: operations } : { operations: [...operations] };
    return this.applyOperations(body, options);
  }

  /** The records that have all words of the query, in any case; looked through here, page by page. See also `vault.search`. */
  search(
    words: string,
    { archived = false, ...call }: { archived?: boolean | undefined } & CallOptions = {},
  ): Pages<Item<"ListRecords">> {
    const wanted = folded(words).split(/\s+/).filter(Boolean);
    const records = (cursor?: string) =>
      this.listRecords({ status: archived ? "all" : "active", limit: 500, cursor, ...call }).first();
    return new Pages(async (cursor) => {
      const page = await records(cursor);
      const holds = ({ label, reason, content }: Item<"ListRecords">) => {
        const text = folded([label, reason, content].filter(Boolean).join(" "));
        return wanted.every((word) => text.includes(word));
      };
      return { ...page, items: page.items.filter(holds) };
    });
  }

  /** What changed, in words, newest first. */
  history(options: Query<"GetLog"> & CallOptions = {}): Pages<Item<"GetLog">, Answer<"GetLog">> {
    return this.getLog(options);
  }

  /** What happens to this memory, from now on or behind `lastEventId`, across lost connections. */
  events(options: Omit<EventOptions, "memoryId"> = {}): AsyncGenerator<MemoryEvent | ResetEvent, void, undefined> {
    return vaultEvents(this.core, this.path.vault_id, { ...options, memoryId: this.memoryId });
  }

  async #handoff(refresh: boolean, call: CallOptions): Promise<string> {
    // A key that may only read gets the handoff as it is.
    if (refresh) await this.refreshHandoff(undefined, call).catch(passOver);
    try {
      const { preface, markdown } = await this.getHandoff(call);
      return `${preface.trimEnd()}\n\n${markdown}`;
    } catch (error) {
      if (error instanceof NotFoundError) return "";
      throw error;
    }
  }
}

/** Takes what the service says against something that can be done without; what ends the call ends it. */
function passOver(error: unknown): void {
  if (!(error instanceof WorkingMemoryError)) throw error;
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** The options of a `finish`, told apart. */
function finishing(task: string, messages: readonly MessageLike[], options: FinishOptions) {
  const { signal, timeout, idempotencyKey, actor, ifMatch, ifNoneMatch, handoff = true, ...members } = options;
  // The types of the SDKs are narrower or wider than the service's; what it does not take it names.
  const request = {
    ...members,
    task,
    messages: messages as Body<"UpdateContext">["messages"],
  } as Body<"UpdateContext">;
  return { request, handoff, call: { signal, timeout, idempotencyKey, actor, ifMatch, ifNoneMatch } };
}
