/** Lists that come in pages. */

/** One page of a list. */
export interface PageOf<Item> {
  items: Item[];
  next_cursor: string | null;
}

/**
 * A list that requests its pages as it is read.
 *
 * `for await (const item of list)` reads every entry; `await list.first()` the first page with its other members;
 * `for await (const page of list.pages())` page by page; `await list.all(1000)` at most this many entries at once.
 */
export class Pages<Item, Page extends PageOf<Item> = PageOf<Item>> implements AsyncIterable<Item> {
  readonly #fetch: (cursor: string | undefined) => Promise<Page>;
  readonly #from: string | undefined;

  constructor(fetch: (cursor: string | undefined) => Promise<Page>, from?: string) {
    this.#fetch = fetch;
    this.#from = from;
  }

  /** The first page. */
  first(): Promise<Page> {
    return this.#fetch(this.#from);
  }

  /** The pages. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    for (let cursor = this.#from; ;) {
      const page = await this.#fetch(cursor);
      yield page;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** The entries, at most this many. */
  async all(limit = Infinity): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}
