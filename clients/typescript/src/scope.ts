/** What client, vault, memory and their groups of methods have in common: a path of the service. */

import { Pages } from "./pages.js";
import { members, type Call, type CallOptions, type ChangeOptions, type Transport } from "./transport.js";
import type { Page } from "./types.js";

/** Options of a list: its parameters, `limit`, and those of a call. */
export type ListOptions<Parameters = object> = Parameters & { limit?: number | undefined } & CallOptions;

/** Methods for what lies below a path. */
export abstract class Scope {
  protected readonly transport: Transport;
  protected readonly at: string;

  constructor(transport: Transport, at: string) {
    this.transport = transport;
    this.at = at;
  }

  /** Reads; the options that are not those of a call are parameters. */
  protected read<T>(path: string, options: CallOptions, query: object = {}, rest: Partial<Call> = {}): Promise<T> {
    const parameters = { ...members(options), ...query };
    return this.transport.send<T>({ method: "GET", path: this.at + path, query: parameters, options, ...rest });
  }

  protected paged<Entry, PageOf extends Page<Entry> = Page<Entry>>(
    path: string,
    options: object & CallOptions,
    query: object = {},
  ): Pages<Entry, PageOf> {
    return new Pages((cursor) => this.read<PageOf>(path, options, { ...query, cursor }));
  }

  protected write<T>(
    method: string,
    path: string,
    body: unknown,
    options: ChangeOptions,
    rest: Partial<Call> = {},
  ): Promise<T> {
    return this.transport.send<T>({ method, path: this.at + path, body, options, writes: true, ...rest });
  }

  protected async erase(path: string, options: ChangeOptions, query: object = {}): Promise<void> {
    await this.transport.send({ method: "DELETE", path: this.at + path, query, options, answers: "none" });
  }
}
