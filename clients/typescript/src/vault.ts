/** A vault (tenant). */

import { events, type EventOptions } from "./events.js";
import { Items } from "./groups.js";
import { Memory, type SearchOptions } from "./memory.js";
import type { Pages } from "./pages.js";
import { Scope, type ListOptions } from "./scope.js";
import { segment, type CallOptions, type ChangeOptions, type WriteOptions } from "./transport.js";
import type {
  Event,
  MemoryEntry,
  MemoryFile,
  MemoryToolAnswer,
  MemoryToolCommand,
  PutFileAnswer,
  Run,
  SearchPage,
  SearchResult,
  Usage,
  UsageOfDay,
} from "./types.js";

/** The memories of a vault. */
export class Memories extends Scope {
  /** The memories: by id, or the last changed, or the largest first. */
  list(
    options: ListOptions<{ prefix?: string | undefined; sort?: "memory_id" | "changed_at" | "bytes" | undefined }> = {},
  ): Pages<MemoryEntry> {
    return this.paged("/memories", options);
  }
}

/** The runs of a vault. */
export class VaultUpdates extends Scope {
  /** The runs, newest first; with `status: "proposed"` the proposals that wait for a decision. */
  list(options: ListOptions<{ status?: Run["status"] | undefined }> = {}): Pages<Run> {
    return this.paged("/updates", options);
  }
}

/** The files of Anthropic's memory tool. */
export class Files extends Scope {
  /** The files of `root`, by path. */
  list(root: string, options: ListOptions = {}): Pages<MemoryFile> {
    return this.paged("/memory-tool/files", options, { root });
  }

  /** Creates a file, or a new version of it. */
  put(root: string, path: string, text: string, options: ChangeOptions = {}): Promise<PutFileAnswer> {
    return this.write("PUT", "/memory-tool/files", text, options, { query: { root, path } });
  }

  /** Removes a file from the tree. Its memory stays. */
  remove(root: string, path: string, options: Pick<ChangeOptions, "ifMatch"> & CallOptions = {}): Promise<void> {
    return this.erase("/memory-tool/files", options, { root, path });
  }

  /** Executes a command of the tool `memory` on the files of `root`. */
  run(root: string, command: MemoryToolCommand, options: WriteOptions = {}): Promise<MemoryToolAnswer> {
    return this.write("POST", "/memory-tool", command, options, { query: { root } });
  }
}

/** A vault: its memories, items, files and events. */
export class Vault extends Scope {
  /** Its memories. */
  get memories(): Memories {
    return new Memories(this.transport, this.at);
  }
  /** The prompt items of all of its memories. */
  get items(): Items {
    return new Items(this.transport, this.at);
  }
  /** The files of Anthropic's memory tool. */
  get files(): Files {
    return new Files(this.transport, this.at);
  }
  /** Its updates. */
  get updates(): VaultUpdates {
    return new VaultUpdates(this.transport, this.at);
  }

  /** A memory of the vault. Sends no request. */
  memory(memoryId: string): Memory {
    return new Memory(this.transport, `${this.at}/memories/${segment(memoryId)}`);
  }

  /** Searches documents and records, best first. */
  search(q: string, options: SearchOptions = {}): Pages<SearchResult, SearchPage> {
    const { actor, ...rest } = options;
    return this.paged("/search", rest, { q, actor });
  }

  /** What models cost, by day and model; each page has the `totals`. */
  usage(options: ListOptions<{ from?: string | undefined; to?: string | undefined }> = {}): Pages<UsageOfDay, Usage> {
    return this.paged("/usage", options);
  }

  /** The events, from now on or after `lastEventId`, with reconnection. */
  events(options: EventOptions & { memoryId?: string | undefined } = {}): AsyncGenerator<Event, void, undefined> {
    return events(this.transport, this.at, options);
  }
}
