/** A memory, with short names for the usual operations of agents. */

import { data } from "./core.js";
import type { EventOptions, MemoryEvent, ResetEvent } from "./events.js";
import { MEMORY } from "./document-operations.js";
import { MemoryOperations } from "./memory-operations.js";
import { Pages } from "./pages.js";
import { NotFoundError, WorkingMemoryError } from "./problem.js";
import type { CallOptions, ChangeOptions } from "./transport.js";
import type { Answer, Body, Item, Query } from "./types.js";
import { vaultEvents } from "./vault-events.js";

/** The start of a session. */
export interface Session {
  /** The assembled system prompt; empty if the memory is empty. */
  prompt: string;
  /** The handoff of earlier sessions, with its freshness; empty if there is none. */
  handoff: string;
  /** The version that the prompt shows; null on a first session. */
  version: number | null;
  /** That version's id, for `ifMatch`. */
  contextId: string | null;
  /** The prompt's tokens. */
  tokens: number;
}

/** Options of `start`. */
export type StartOptions = Query<"GetPrompt"> &
  CallOptions & {
    /** Refresh a stale handoff first (false: the one of the last `finish`, with its freshness). */
    refresh?: boolean | undefined;
  };

/** A message in the format of OpenAI's or Anthropic's SDK. Members that are not declared here are sent unchanged. */
export interface MessageLike {
  role: string;
  content?: unknown;
}

/** One operation of `edit`. */
export type EditOperation = NonNullable<Body<"ApplyOperations">["operations"]>[number];

/** Options of `finish`: members of the request, such as `record`, and request options. */
export type FinishOptions = Omit<Body<"UpdateContext">, "task" | "messages"> &
  ChangeOptions & {
    /** Make a new handoff (true). */
    handoff?: boolean | undefined;
  };

/** One memory of a vault. */
export class Memory extends MemoryOperations {
  /** Starts a session: returns the prompt, and the handoff of earlier sessions. Both are empty the first time. */
  async start(options: StartOptions = {}): Promise<Session> {
    const { refresh = false, ...query } = options;
    const call = { signal: options.signal, timeout: options.timeout };
    const [prompt, handoff] = await Promise.all([this.getPrompt(query), this.#handoff(refresh, call)]);
    const { text, version, context_id: contextId, tokens } = prompt;
    return { prompt: text, handoff, version, contextId, tokens };
  }

  /**
   * Ends a session: sends what was done, with the conversation in the format of the agent's SDK. `record` saves the task in
   * the same version. It waits for the models, and makes the handoff for the next session; see `finishLater`.
   */
  async finish(
    task: string,
    messages: readonly MessageLike[] = [],
    options: FinishOptions = {},
  ): Promise<Answer<"UpdateContext", 200>> {
    const { request, call, handoff } = finishing(task, messages, options);
    const answer = await this.updateContext(request, call);
    if (handoff && answer.status === "applied") {
      // The update is saved: a handoff that could not be refreshed is marked as stale.
      await this.refreshHandoff(undefined, { signal: call.signal, timeout: call.timeout, actor: call.actor }).catch(
        passOver,
      );
    }
    return answer;
  }

  /** Like `finish`, without waiting: the update is queued when this returns. `getUpdate` returns its outcome. */
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

  /** Adds and archives single records: a list of operations, or text in the format of models. */
  edit(
    operations: readonly EditOperation[] | string,
    options: Query<"ApplyOperations"> & ChangeOptions = {},
  ): Promise<Answer<"ApplyOperations">> {
    const body = typeof operations === "string" ? { text: operations } : { operations: [...operations] };
    return this.applyOperations(body, options);
  }

  /** The records that contain all words of the query, ignoring case; filtered here, page by page. See also `vault.search`. */
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

  /** The events of this memory, from now on or after `lastEventId`, with reconnection. */
  events(options: Omit<EventOptions, "memoryId"> = {}): AsyncGenerator<MemoryEvent | ResetEvent, void, undefined> {
    return vaultEvents(this.core, this.path.vault_id, { ...options, memoryId: this.memoryId });
  }

  async #handoff(refresh: boolean, call: CallOptions): Promise<string> {
    // A read-only key gets the handoff as it is.
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

/** Ignores error responses of an optional request; an abort is rethrown. */
function passOver(error: unknown): void {
  if (!(error instanceof WorkingMemoryError)) throw error;
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** Separates the options of a `finish`. */
function finishing(task: string, messages: readonly MessageLike[], options: FinishOptions) {
  const { signal, timeout, idempotencyKey, actor, ifMatch, ifNoneMatch, handoff = true, ...members } = options;
  // The types of the SDKs are narrower or wider than the service's, which reports what it does not accept.
  const request = {
    ...members,
    task,
    messages: messages as Body<"UpdateContext">["messages"],
  } as Body<"UpdateContext">;
  return { request, handoff, call: { signal, timeout, idempotencyKey, actor, ifMatch, ifNoneMatch } };
}
