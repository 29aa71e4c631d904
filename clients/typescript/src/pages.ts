/** Lists that come in pages. */

import { InvalidAnswerError } from "./errors.js";
import type { Page } from "./types.js";

/**
 * A list that requests its pages as it is read: `for await (const entry of list)` reads every entry, `list.page()` the first
 * page with its other members, `list.pages()` page by page, `list.all(1000)` at most this many entries at once.
 */
export class Pages<Entry, PageOf extends Page<Entry> = Page<Entry>> implements AsyncIterable<Entry> {
  readonly #ask: (cursor: string | undefined) => Promise<PageOf>;
  readonly #from: string | undefined;

  constructor(ask: (cursor: string | undefined) => Promise<PageOf>, from?: string) {
    this.#ask = ask;
    this.#from = from;
  }

  /** Only the first page. */
  page(): Promise<PageOf> {
    return this.#page(this.#from);
  }

  /** The same list from a `next_cursor` on. */
  after(cursor: string): Pages<Entry, PageOf> {
    return new Pages(this.#ask, cursor);
  }

  /** The pages. */
  async *pages(): AsyncGenerator<PageOf, void, undefined> {
    for (let cursor = this.#from; ; ) {
      const page = await this.#page(cursor);
      yield page;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** The entries, at most this many. */
  async all(limit = Infinity): Promise<Entry[]> {
    const entries: Entry[] = [];
    if (limit <= 0) return entries;
    for await (const entry of this) {
      entries.push(entry);
      if (entries.length >= limit) break;
    }
    return entries;
  }

  async #page(cursor: string | undefined): Promise<PageOf> {
    const page = await this.#ask(cursor);
    if (!Array.isArray(page?.items) || page.next_cursor === undefined) {
      throw new InvalidAnswerError("a page of a list has no items or no next_cursor");
    }
    return page;
  }
}
