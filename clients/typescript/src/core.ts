/** The common part of client, vault and memory: the typed requests of openapi-fetch over the transport. */

import createClient from "openapi-fetch";
import type { paths } from "./schema.js";
import { Pages, type PageOf } from "./pages.js";
import { Transport, type CallOptions, type ChangeOptions, type ClientOptions } from "./transport.js";
import { toQuery } from "./types.js";

/** All options of requests. */
type AnyOptions = CallOptions & ChangeOptions;

/** The service, as requests use it. */
export class Core {
  /** Every route with its types, for what the methods do not offer. */
  readonly api: ReturnType<typeof createClient<paths, "application/json">>;
  readonly transport: Transport;

  constructor(url: string, options: ClientOptions) {
    const { protocol, username, password, search, hash } = new URL(url);
    if (!["http:", "https:"].includes(protocol)) throw new TypeError("url must begin with http:// or https://");
    if (username || password || search || hash)
      throw new TypeError("url must hold no user, password, ? or #; use the option key");
    this.transport = new Transport(options);
    this.api = createClient<paths, "application/json">({ baseUrl: url, fetch: this.transport.fetch({}) });
  }

  /** The part of a request that comes from its options. */
  init(options: AnyOptions, usual?: number) {
    return {
      headers: headersOf(options),
      fetch: this.transport.fetch({ timeout: options.timeout ?? usual }),
      ...(options.signal && { signal: options.signal }),
    };
  }

  /** Like `init`, for a response whose body is streamed. */
  stream(options: AnyOptions) {
    return {
      headers: { ...headersOf(options), accept: "text/event-stream" },
      fetch: this.transport.fetch({ timeout: options.timeout, stream: true }),
      parseAs: "stream" as const,
      ...(options.signal && { signal: options.signal }),
    };
  }
}

function headersOf({ idempotencyKey, actor, ifMatch, ifNoneMatch }: AnyOptions): Record<string, string> {
  return {
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    ...(actor !== undefined && { "x-actor-id": actor }),
    ...(ifMatch !== undefined && { "if-match": entityTag(ifMatch) }),
    ...(ifNoneMatch !== undefined && { "if-none-match": entityTag(ifNoneMatch) }),
  };
}

/** A `context_id` as an entity tag. */
function entityTag(text: string): string {
  return text === "*" || text.includes('"') ? text : `"${text}"`;
}

/** The data of a response. The transport has thrown error responses. */
export async function data<T>(answer: Promise<{ data?: T | undefined }>): Promise<T> {
  return (await answer).data as T;
}

/** A response without a body. */
export async function done(answer: Promise<unknown>): Promise<void> {
  await answer;
}

/** A list; `ask` receives the parameters of each page. */
export function list<Page extends PageOf<unknown>>(
  options: { cursor?: string | undefined },
  ask: (query: never) => Promise<Page>,
): Pages<Page["items"][number], Page> {
  return new Pages(
    (cursor) => ask({ ...toQuery<object>(options), ...(cursor !== undefined && { cursor }) } as never),
    options.cursor,
  );
}
