/** The operations on a memory's document, its versions and updates, with the names of openapi.yaml. */

import { data, done, list, type Core } from "./core.js";
import type { Pages } from "./pages.js";
import type { CallOptions, ChangeOptions } from "./transport.js";
import { toQuery, type Answer, type Body, type Item, type Parameters, type Query } from "./types.js";

/** A version: its number or its `context_id`. */
export type Ref = number | string;

/** The path of a memory. */
export const MEMORY = "/v1/vaults/{vault_id}/memories/{memory_id}";

/** A memory's document, versions and updates. */
export class DocumentOperations {
  protected readonly core: Core;
  protected readonly path: { vault_id: string; memory_id: string };

  constructor(core: Core, vaultId: string, memoryId: string) {
    this.core = core;
    this.path = { vault_id: vaultId, memory_id: memoryId };
  }

  /** The vault it is in. */
  get vaultId(): string {
    return this.path.vault_id;
  }

  /** Its id. */
  get memoryId(): string {
    return this.path.memory_id;
  }

  /** The memory's entry; throws NotFoundError before its first change. */
  getMemory(options: CallOptions = {}): Promise<Answer<"GetMemory">> {
    return data(this.core.api.GET(MEMORY, { params: { path: this.path }, ...this.core.init(options) }));
  }

  /** Deletes the memory with all its versions. */
  deleteMemory(options: Pick<ChangeOptions, "ifMatch"> & CallOptions = {}): Promise<void> {
    return done(this.core.api.DELETE(MEMORY, { params: { path: this.path }, ...this.core.init(options) }));
  }

  /** Puts a document: a new version, or `unchanged`. */
  putContext(
    document: Body<"PutContext">,
    options: Query<"PutContext"> & ChangeOptions = {},
  ): Promise<Answer<"PutContext">> {
    return data(
      this.core.api.PUT(`${MEMORY}/context`, {
        params: { path: this.path, query: toQuery<Parameters<"PutContext">>(options) },
        body: document,
        ...this.core.init(options),
      }),
    );
  }

  /** The newest document, one of its sections, or the document at a time. */
  getLatestContext(options: Query<"GetLatestContext"> & CallOptions = {}): Promise<Answer<"GetLatestContext">> {
    return data(
      this.core.api.GET(`${MEMORY}/context`, {
        params: { path: this.path, query: toQuery<Parameters<"GetLatestContext">>(options) },
        ...this.core.init(options),
      }),
    );
  }

  /** The versions, newest first, without their texts. */
  listContexts(options: Query<"ListContexts"> & CallOptions = {}): Pages<Item<"ListContexts">, Answer<"ListContexts">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/contexts`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** A version by its number or `context_id`. */
  getContext(ref: Ref, options: Query<"GetContext"> & CallOptions = {}): Promise<Answer<"GetContext">> {
    return data(
      this.core.api.GET(`${MEMORY}/contexts/{ref}`, {
        params: { path: { ...this.path, ref: String(ref) }, query: toQuery<Parameters<"GetContext">>(options) },
        ...this.core.init(options),
      }),
    );
  }

  /** What a version changed: against `base`, or against the one before. */
  diffContexts(ref: Ref, options: Query<"DiffContexts"> & CallOptions = {}): Promise<Answer<"DiffContexts">> {
    return data(
      this.core.api.GET(`${MEMORY}/contexts/{ref}/diff`, {
        params: { path: { ...this.path, ref: String(ref) }, query: toQuery<Parameters<"DiffContexts">>(options) },
        ...this.core.init(options),
      }),
    );
  }

  /** Makes an old version the newest again. */
  restoreContext(ref: Ref, reason?: string, options: ChangeOptions = {}): Promise<Answer<"RestoreContext">> {
    return data(
      this.core.api.POST(`${MEMORY}/contexts/{ref}/restore`, {
        params: { path: { ...this.path, ref: String(ref) } },
        body: reason === undefined ? {} : { reason },
        ...this.core.init(options),
      }),
    );
  }

  /** Removes the text of an old version permanently. */
  redactContext(ref: Ref, reason: string, options: ChangeOptions = {}): Promise<Answer<"RedactContext">> {
    return data(
      this.core.api.POST(`${MEMORY}/contexts/{ref}/redact`, {
        params: { path: { ...this.path, ref: String(ref) } },
        body: { reason },
        ...this.core.init(options),
      }),
    );
  }

  /** What changed, in words, newest first. */
  getLog(options: Query<"GetLog"> & CallOptions = {}): Pages<Item<"GetLog">, Answer<"GetLog">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/log`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** Which version added each line. */
  getBlame(options: Query<"GetBlame"> & CallOptions = {}): Promise<Answer<"GetBlame">> {
    return data(
      this.core.api.GET(`${MEMORY}/blame`, {
        params: { path: this.path, query: toQuery<Parameters<"GetBlame">>(options) },
        ...this.core.init(options),
      }),
    );
  }

  /** The sections of the document. */
  listSections(options: Query<"ListSections"> & CallOptions = {}): Pages<Item<"ListSections">, Answer<"ListSections">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/sections`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** Adds and archives single records, as a list of operations or as text in the format of models. */
  applyOperations(
    operations: Body<"ApplyOperations">,
    options: Query<"ApplyOperations"> & ChangeOptions = {},
  ): Promise<Answer<"ApplyOperations">> {
    return data(
      this.core.api.POST(`${MEMORY}/operations`, {
        params: { path: this.path, query: toQuery<Parameters<"ApplyOperations">>(options) },
        body: operations,
        ...this.core.init(options),
      }),
    );
  }

  /** The runs of updates and operations, newest first. */
  listUpdates(options: Query<"ListUpdates"> & CallOptions = {}): Pages<Item<"ListUpdates">, Answer<"ListUpdates">> {
    return list(options, (query) =>
      data(this.core.api.GET(`${MEMORY}/updates`, { params: { path: this.path, query }, ...this.core.init(options) })),
    );
  }

  /** A run with its prompts and raw answers. */
  getUpdate(updateId: string, options: CallOptions = {}): Promise<Answer<"GetUpdate">> {
    return data(
      this.core.api.GET(`${MEMORY}/updates/{update_id}`, {
        params: { path: { ...this.path, update_id: updateId } },
        ...this.core.init(options),
      }),
    );
  }

  /** Cancels a run that is queued or running. */
  cancelUpdate(updateId: string, options: CallOptions = {}): Promise<Answer<"CancelUpdate">> {
    return data(
      this.core.api.DELETE(`${MEMORY}/updates/{update_id}`, {
        params: { path: { ...this.path, update_id: updateId } },
        ...this.core.init(options),
      }),
    );
  }

  /** Approves a proposal, or some of its operations. */
  approveUpdate(
    updateId: string,
    approval: Body<"ApproveUpdate"> = {},
    options: ChangeOptions = {},
  ): Promise<Answer<"ApproveUpdate">> {
    return data(
      this.core.api.POST(`${MEMORY}/updates/{update_id}/approve`, {
        params: { path: { ...this.path, update_id: updateId } },
        body: approval,
        ...this.core.init(options),
      }),
    );
  }

  /** Rejects a proposal. */
  rejectUpdate(updateId: string, reason: string, options: ChangeOptions = {}): Promise<Answer<"RejectUpdate">> {
    return data(
      this.core.api.POST(`${MEMORY}/updates/{update_id}/reject`, {
        params: { path: { ...this.path, update_id: updateId } },
        body: { reason },
        ...this.core.init(options),
      }),
    );
  }

  /** Sends what was done, and lets the models update the document. It waits for the answer. */
  updateContext(request: Body<"UpdateContext">, options: ChangeOptions = {}): Promise<Answer<"UpdateContext", 200>> {
    const init = this.core.init(options, this.core.transport.updateTimeout);
    return data(
      this.core.api.POST(`${MEMORY}/update`, { params: { path: this.path }, body: request, ...init }),
    ) as Promise<Answer<"UpdateContext", 200>>;
  }
}
