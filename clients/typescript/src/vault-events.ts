/** The events of a vault. */

import type { Core } from "./core.js";
import { resumed, type EventOptions, type MemoryEvent, type ResetEvent } from "./events.js";
import { toQuery, type Parameters } from "./types.js";

/** The events of a vault, from now on or after `lastEventId`, with reconnection. */
export function vaultEvents(
  core: Core,
  vaultId: string,
  options: EventOptions,
): AsyncGenerator<MemoryEvent | ResetEvent, void, undefined> {
  const { memoryId, kinds } = options;
  return resumed(async (place, signal) => {
    const init = core.stream({ signal });
    const headers = { ...init.headers, ...(place !== undefined && { "last-event-id": place }) };
    const query = toQuery<Parameters<"StreamEvents">>({ memoryId, kinds });
    const { response } = await core.api.GET("/v1/vaults/{vault_id}/events", {
      params: { path: { vault_id: vaultId }, query },
      ...init,
      headers,
    });
    return response;
  }, options);
}
