/** A service. */

import type { Memory } from "./memory.js";
import type { Pages } from "./pages.js";
import { Scope, type ListOptions } from "./scope.js";
import {
  Transport,
  members,
  segment,
  type Call,
  type CallOptions,
  type ClientOptions,
  type ResponseInfo,
} from "./transport.js";
import type { Key, NewKey, Vault as VaultEntry } from "./types.js";
import { Vault } from "./vault.js";

/** The vaults. */
export class Vaults extends Scope {
  /** The vaults that the key reaches. */
  list(options: ListOptions = {}): Pages<VaultEntry> {
    return this.paged("/vaults", options);
  }
}

/** The API keys, for a key of the role admin. */
export class Keys extends Scope {
  /** The keys, without their secrets. */
  list(options: ListOptions = {}): Pages<Key> {
    return this.paged("/keys", options);
  }

  /** Creates a key. Its secret, `key`, is returned only once. */
  create(
    name: string,
    role: Key["role"],
    options: {
      vaults?: readonly string[] | undefined;
      vaultPrefix?: string | undefined;
      speaksForOthers?: boolean | undefined;
      expiresAt?: Date | string | undefined;
    } & CallOptions = {},
  ): Promise<NewKey> {
    return this.write("POST", "/keys", { name, role, ...members(options) }, options, { writes: false });
  }

  /** A key, without its secret. */
  get(keyId: string, options: CallOptions = {}): Promise<Key> {
    return this.read(`/keys/${segment(keyId)}`, options);
  }

  /** Gives a key a new secret; the old one works for `graceSeconds` more. */
  rotate(keyId: string, options: { graceSeconds?: number | undefined } & CallOptions = {}): Promise<NewKey> {
    const rest = { writes: false, query: members(options) };
    return this.write("POST", `/keys/${segment(keyId)}/rotate`, undefined, options, rest);
  }

  /** Revokes a key. */
  revoke(keyId: string, options: CallOptions = {}): Promise<void> {
    return this.erase(`/keys/${segment(keyId)}`, options);
  }
}

/**
 * A client of a service.
 *
 * ```ts
 * const memory = new Client("http://127.0.0.1:8080", { key }).memory("team", "agent-1");
 * ```
 */
export class Client extends Scope {
  /** Without a URL `WORKING_MEMORY_URL`, else this machine. */
  constructor(url?: string, options: ClientOptions = {}) {
    super(new Transport(url, options), "/v1");
  }

  /** The vaults. */
  get vaults(): Vaults {
    return new Vaults(this.transport, this.at);
  }
  /** The API keys. */
  get keys(): Keys {
    return new Keys(this.transport, this.at);
  }

  /** A vault. Sends no request. */
  vault(vaultId: string): Vault {
    return new Vault(this.transport, `${this.at}/vaults/${segment(vaultId)}`);
  }

  /** A memory. Sends no request; its first change makes it. */
  memory(vaultId: string, memoryId: string): Memory {
    return this.vault(vaultId).memory(memoryId);
  }

  /** Instructions for agents that write the document themselves. */
  guidance(options: CallOptions = {}): Promise<string> {
    return this.read("/guidance", options, {}, { answers: "text", headers: { accept: "*/*" } });
  }

  /** Sends any request to the service, with the client's rules, and returns its value and response. */
  request<T = unknown>(
    method: string,
    path: string,
    { query, body, ...options }: Pick<Call, "query" | "body"> & CallOptions = {},
  ): Promise<{ value: T; response: ResponseInfo }> {
    const writes = ["POST", "PUT"].includes(method) && path.startsWith("/v1/vaults/");
    const slow = writes && /\/(update|consolidate)$/.test(path.split("?")[0] ?? "");
    return this.transport.request({ method, path, query, body, options, writes, slow, answers: "any" });
  }
}
