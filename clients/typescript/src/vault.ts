/** A vault (tenant). */

import { data, done, list, type Core } from "./core.js";
import type { EventOptions, MemoryEvent, ResetEvent } from "./events.js";
import { Memory } from "./memory.js";
import type { Pages } from "./pages.js";
import type { CallOptions, ChangeOptions, WriteOptions } from "./transport.js";
import type { Answer, Body, Item, Query } from "./types.js";
import { vaultEvents } from "./vault-events.js";

const VAULT = "/v1/vaults/{vault_id}";

/** A vault: its memories and events. */
export class Vault {
  protected readonly core: Core;
  protected readonly path: { vault_id: string };

  constructor(core: Core, vaultId: string) {
    this.core = core;
    this.path = { vault_id: vaultId };
  }

  /** Its id. */
  get vaultId(): string {
    return this.path.vault_id;
  }

  /** A memory of the vault. Sends no request. */
  memory(memoryId: string): Memory {
    return new Memory(this.core, this.vaultId, memoryId);
  }

  /** Searches the vault's memories by their words, best first. */
  search(
    q: string,
    options: Omit<Query<"SearchContexts">, "q"> & CallOptions = {},
  ): Pages<Item<"SearchContexts">, Answer<"SearchContexts">> {
    return this.searchContexts({ ...options, q });
  }

  /** The events, from now on or after `lastEventId`, with reconnection. */
  events(options: EventOptions = {}): AsyncGenerator<MemoryEvent | ResetEvent, void, undefined> {
    return this.streamEvents(options);
  }

  /** The same as `events`. */
  streamEvents(options: EventOptions = {}): AsyncGenerator<MemoryEvent | ResetEvent, void, undefined> {
    return vaultEvents(this.core, this.vaultId, options);
  }

  /** The memories of the vault by name. */
  listMemories(options: Query<"ListMemories"> & CallOptions = {}): Pages<Item<"ListMemories">, Answer<"ListMemories">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${VAULT}/memories`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** The memories of the vault by the words of their newest documents, and by meaning if the service has a model. */
  searchContexts(
    options: Query<"SearchContexts"> & CallOptions,
  ): Pages<Item<"SearchContexts">, Answer<"SearchContexts">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${VAULT}/search`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** The runs of the whole vault; with `status: "proposed"` the proposals that wait for approval. */
  listVaultUpdates(
    options: Query<"ListVaultUpdates"> & CallOptions = {},
  ): Pages<Item<"ListVaultUpdates">, Answer<"ListVaultUpdates">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${VAULT}/updates`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** What models cost, by day. `first()` has the totals. */
  getUsage(options: Query<"GetUsage"> & CallOptions = {}): Pages<Item<"GetUsage">, Answer<"GetUsage">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${VAULT}/usage`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** The prompt items of the vault. */
  listVaultItems(
    options: Query<"ListVaultItems"> & CallOptions = {},
  ): Pages<Item<"ListVaultItems">, Answer<"ListVaultItems">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${VAULT}/items`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** Adds a prompt item to the vault. */
  addVaultItem(item: Body<"AddVaultItem">, options: WriteOptions = {}): Promise<Answer<"AddVaultItem">> {
    return data(
      this.core.api.POST(`${VAULT}/items`, { params: { path: this.path }, body: item, ...this.core.init(options) }),
    );
  }

  /** A prompt item by its id. */
  getVaultItem(itemId: string, options: CallOptions = {}): Promise<Answer<"GetVaultItem">> {
    return data(
      this.core.api.GET(`${VAULT}/items/{item}`, {
        params: { path: { ...this.path, item: itemId } },
        ...this.core.init(options),
      }),
    );
  }

  /** Replaces all items of a category at once. */
  putVaultItems(
    category: string,
    items: Body<"PutVaultItems">,
    options: WriteOptions = {},
  ): Promise<Answer<"PutVaultItems">> {
    return data(
      this.core.api.PUT(`${VAULT}/items/{item}`, {
        params: { path: { ...this.path, item: category } },
        body: items,
        ...this.core.init(options),
      }),
    );
  }

  /** Removes a prompt item. */
  removeVaultItem(itemId: string, options: CallOptions = {}): Promise<void> {
    return done(
      this.core.api.DELETE(`${VAULT}/items/{item}`, {
        params: { path: { ...this.path, item: itemId } },
        ...this.core.init(options),
      }),
    );
  }

  /** Removes all items of a category. */
  removeVaultItems(category: string, options: CallOptions = {}): Promise<Answer<"RemoveVaultItems">> {
    return data(
      this.core.api.DELETE(`${VAULT}/items`, {
        params: { path: this.path, query: { category } },
        ...this.core.init(options),
      }),
    );
  }

  /** Executes a command of the tool `memory` of Anthropic's API on the files of `root`. */
  runMemoryTool(
    root: string,
    command: Body<"RunMemoryTool">,
    options: WriteOptions = {},
  ): Promise<Answer<"RunMemoryTool">> {
    return data(
      this.core.api.POST(`${VAULT}/memory-tool`, {
        params: { path: this.path, query: { root } },
        body: command,
        ...this.core.init(options),
      }),
    );
  }

  /** The memory tool's files of `root` by path, with their newest versions. */
  listMemoryFiles(
    options: Query<"ListMemoryFiles"> & CallOptions,
  ): Pages<Item<"ListMemoryFiles">, Answer<"ListMemoryFiles">> {
    return list(options, (query) =>
      data(
        this.core.api.GET(`${VAULT}/memory-tool/files`, {
          params: { path: this.path, query },
          ...this.core.init(options),
        }),
      ),
    );
  }

  /** Creates a file of the memory tool, or a new version of it. */
  putMemoryFile(
    root: string,
    path: string,
    text: string,
    options: ChangeOptions = {},
  ): Promise<Answer<"PutMemoryFile">> {
    return data(
      this.core.api.PUT(`${VAULT}/memory-tool/files`, {
        params: { path: this.path, query: { root, path } },
        body: text,
        ...this.core.init(options),
      }),
    );
  }

  /** Removes a file from the memory tool's tree; its memory stays. */
  unlinkMemoryFile(
    root: string,
    path: string,
    options: Pick<ChangeOptions, "ifMatch" | "ifNoneMatch"> & CallOptions = {},
  ): Promise<void> {
    return done(
      this.core.api.DELETE(`${VAULT}/memory-tool/files`, {
        params: { path: this.path, query: { root, path } },
        ...this.core.init(options),
      }),
    );
  }
}
