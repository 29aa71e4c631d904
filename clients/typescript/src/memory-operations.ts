/** The operations on a memory's records, window, items, prompt and handoff, with the names of openapi.yaml. */

import { data, done, list } from "./core.js";
import { DocumentOperations, MEMORY } from "./document-operations.js";
import type { Pages } from "./pages.js";
import type { CallOptions, ChangeOptions, WriteOptions } from "./transport.js";
import { toQuery, type Answer, type Body, type Item, type Parameters, type Query } from "./types.js";

/** The service's operations on one memory. `Memory` adds the short names. */
export class MemoryOperations extends DocumentOperations {
  /** Learnings, snippets, tasks and decisions. */
  listRecords(options: Query<"ListRecords"> & CallOptions = {}): Pages<Item<"ListRecords">, Answer<"ListRecords">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/records`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** Searches the memory by words and meaning; with `status: "all"` also archived records. */
  searchMemory(options: Query<"SearchMemory"> & CallOptions): Pages<Item<"SearchMemory">, Answer<"SearchMemory">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/search`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** A record by its id, such as `KL-3`. */
  getRecord(recordId: string, options: CallOptions = {}): Promise<Answer<"GetRecord">> {
    return data(
      this.core.api.GET(`${MEMORY}/records/{record_id}`, {
        params: { path: { ...this.path, record_id: recordId } },
        ...this.core.init(options),
      }),
    );
  }

  /** Records a completed task. */
  recordTask(task: Body<"RecordTask">, options: ChangeOptions = {}): Promise<Answer<"RecordTask">> {
    return data(
      this.core.api.POST(`${MEMORY}/tasks`, { params: { path: this.path }, body: task, ...this.core.init(options) }),
    );
  }

  /** Records a decision. */
  recordDecision(decision: Body<"RecordDecision">, options: ChangeOptions = {}): Promise<Answer<"RecordDecision">> {
    return data(
      this.core.api.POST(`${MEMORY}/decisions`, {
        params: { path: this.path },
        body: decision,
        ...this.core.init(options),
      }),
    );
  }

  /** Writes the goal and the blocker. */
  setStatus(status: Body<"SetStatus">, options: ChangeOptions = {}): Promise<Answer<"SetStatus">> {
    return data(
      this.core.api.PUT(`${MEMORY}/status`, { params: { path: this.path }, body: status, ...this.core.init(options) }),
    );
  }

  /** Status, recent tasks and decisions. */
  getWindow(options: CallOptions = {}): Promise<Answer<"GetWindow">> {
    return data(this.core.api.GET(`${MEMORY}/window`, { params: { path: this.path }, ...this.core.init(options) }));
  }

  /** Imports tasks, decisions and status. */
  importWindow(window: Body<"ImportWindow">, options: ChangeOptions = {}): Promise<Answer<"ImportWindow">> {
    return data(
      this.core.api.POST(`${MEMORY}/window/import`, {
        params: { path: this.path },
        body: window,
        ...this.core.init(options),
      }),
    );
  }

  /** The archived tasks, oldest first. */
  getHistory(options: Query<"GetHistory"> & CallOptions = {}): Pages<Item<"GetHistory">, Answer<"GetHistory">> {
    return list(options, (query) =>
      data(
        this.core.api.GET(`${MEMORY}/archive/history`, {
          params: { path: this.path, query },
          ...this.core.init(options),
        }),
      ),
    );
  }

  /** The archived tasks by week or epic. */
  getEpics(options: Query<"GetEpics"> & CallOptions = {}): Pages<Item<"GetEpics">, Answer<"GetEpics">> {
    return list(options, (query) =>
      data(
        this.core.api.GET(`${MEMORY}/archive/epics`, {
          params: { path: this.path, query },
          ...this.core.init(options),
        }),
      ),
    );
  }

  /** The prompt items of the memory. */
  listItems(options: Query<"ListItems"> & CallOptions = {}): Pages<Item<"ListItems">, Answer<"ListItems">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/items`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** Adds a prompt item to the memory. */
  addItem(item: Body<"AddItem">, options: WriteOptions = {}): Promise<Answer<"AddItem">> {
    return data(
      this.core.api.POST(`${MEMORY}/items`, { params: { path: this.path }, body: item, ...this.core.init(options) }),
    );
  }

  /** A prompt item by its id. */
  getItem(itemId: string, options: CallOptions = {}): Promise<Answer<"GetItem">> {
    return data(
      this.core.api.GET(`${MEMORY}/items/{item}`, {
        params: { path: { ...this.path, item: itemId } },
        ...this.core.init(options),
      }),
    );
  }

  /** Replaces all items of a category at once. */
  putItems(category: string, items: Body<"PutItems">, options: WriteOptions = {}): Promise<Answer<"PutItems">> {
    return data(
      this.core.api.PUT(`${MEMORY}/items/{item}`, {
        params: { path: { ...this.path, item: category } },
        body: items,
        ...this.core.init(options),
      }),
    );
  }

  /** Removes a prompt item. */
  removeItem(itemId: string, options: CallOptions = {}): Promise<void> {
    return done(
      this.core.api.DELETE(`${MEMORY}/items/{item}`, {
        params: { path: { ...this.path, item: itemId } },
        ...this.core.init(options),
      }),
    );
  }

  /** Removes all items of a category. */
  removeItems(category: string, options: CallOptions = {}): Promise<Answer<"RemoveItems">> {
    return data(
      this.core.api.DELETE(`${MEMORY}/items`, {
        params: { path: this.path, query: { category } },
        ...this.core.init(options),
      }),
    );
  }

  /** The assembled prompt with its receipt. */
  getPrompt(options: Query<"GetPrompt"> & CallOptions = {}): Promise<Answer<"GetPrompt">> {
    return data(
      this.core.api.GET(`${MEMORY}/prompt`, {
        params: { path: this.path, query: toQuery<Parameters<"GetPrompt">>(options) },
        ...this.core.init(options),
      }),
    );
  }

  /** The newest handoff with its current freshness. */
  getHandoff(options: CallOptions = {}): Promise<Answer<"GetHandoff">> {
    return data(this.core.api.GET(`${MEMORY}/handoff`, { params: { path: this.path }, ...this.core.init(options) }));
  }

  /** The freshness of the newest handoff. */
  getHandoffStatus(options: CallOptions = {}): Promise<Answer<"GetHandoffStatus">> {
    return data(
      this.core.api.GET(`${MEMORY}/handoff/status`, { params: { path: this.path }, ...this.core.init(options) }),
    );
  }

  /** Makes a new handoff if it is stale or missing. */
  refreshHandoff(
    workspace?: Body<"RefreshHandoff">["workspace"],
    options: Query<"RefreshHandoff"> & WriteOptions = {},
  ): Promise<Answer<"RefreshHandoff">> {
    return data(
      this.core.api.POST(`${MEMORY}/handoff/refresh`, {
        params: { path: this.path, query: toQuery<Parameters<"RefreshHandoff">>(options) },
        body: workspace ? { workspace } : {},
        ...this.core.init(options, this.core.transport.updateTimeout),
      }),
    );
  }

  /** All handoffs, newest first. */
  listHandoffs(options: Query<"ListHandoffs"> & CallOptions = {}): Pages<Item<"ListHandoffs">, Answer<"ListHandoffs">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/handoffs`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** A handoff by its id. */
  getHandoffArtifact(handoffId: string, options: CallOptions = {}): Promise<Answer<"GetHandoffArtifact">> {
    return data(
      this.core.api.GET(`${MEMORY}/handoffs/{handoff_id}`, {
        params: { path: { ...this.path, handoff_id: handoffId } },
        ...this.core.init(options),
      }),
    );
  }
}
