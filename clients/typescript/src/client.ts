/** A service. */

import { Core, data, done, list } from "./core.js";
import { Memory } from "./memory.js";
import type { Pages } from "./pages.js";
import type { CallOptions, ClientOptions } from "./transport.js";
import { toQuery, type Answer, type Body, type Item, type Parameters, type Query } from "./types.js";
import { Vault } from "./vault.js";

/**
 * A client of a service.
 *
 * ```ts
 * const memory = new Client("http://127.0.0.1:8080", { key }).memory("team", "agent-1");
 * ```
 */
export class Client {
  readonly #core: Core;

  constructor(url: string, options: ClientOptions = {}) {
    this.#core = new Core(url, options);
  }

  /** Every route with its types (openapi-fetch), with the same retries and errors. */
  get api(): Core["api"] {
    return this.#core.api;
  }

  /** A vault. Sends no request. */
  vault(vaultId: string): Vault {
    return new Vault(this.#core, vaultId);
  }

  /** A memory. Sends no request; its first change creates it. */
  memory(vaultId: string, memoryId: string): Memory {
    return new Memory(this.#core, vaultId, memoryId);
  }

  /** The vaults that the key reaches. */
  listVaults(options: Query<"ListVaults"> & CallOptions = {}): Pages<Item<"ListVaults">> {
    return list(options, (query) =>
      data(this.#core.api.GET("/v1/vaults", { params: { query }, ...this.#core.init(options) })),
    );
  }

  /** The API keys, without their secrets. */
  listKeys(options: Query<"ListKeys"> & CallOptions = {}): Pages<Item<"ListKeys">> {
    return list(options, (query) =>
      data(this.#core.api.GET("/v1/keys", { params: { query }, ...this.#core.init(options) })),
    );
  }

  /** Creates an API key. Its secret is returned only once. */
  createKey(key: Body<"CreateKey">, options: CallOptions = {}): Promise<Answer<"CreateKey">> {
    return data(this.#core.api.POST("/v1/keys", { body: key, ...this.#core.init(options) }));
  }

  /** An API key, without its secret. */
  getKey(keyId: string, options: CallOptions = {}): Promise<Answer<"GetKey">> {
    return data(
      this.#core.api.GET("/v1/keys/{key_id}", { params: { path: { key_id: keyId } }, ...this.#core.init(options) }),
    );
  }

  /** Revokes an API key. */
  revokeKey(keyId: string, options: CallOptions = {}): Promise<void> {
    return done(
      this.#core.api.DELETE("/v1/keys/{key_id}", { params: { path: { key_id: keyId } }, ...this.#core.init(options) }),
    );
  }

  /** Creates a key that replaces this one. */
  rotateKey(keyId: string, options: Query<"RotateKey"> & CallOptions = {}): Promise<Answer<"RotateKey">> {
    const params = { path: { key_id: keyId }, query: toQuery<Parameters<"RotateKey">>(options) };
    return data(this.#core.api.POST("/v1/keys/{key_id}/rotate", { params, ...this.#core.init(options) }));
  }

  /** Instructions for agents that write the document themselves. */
  getGuidance(options: CallOptions = {}): Promise<string> {
    return this.#text("/v1/guidance", options);
  }

  /** Whether the process is alive: `ok`. */
  getHealth(options: CallOptions = {}): Promise<string> {
    return this.#text("/healthz", options);
  }

  /** Whether the service is ready; it throws otherwise. */
  getReadiness(options: CallOptions = {}): Promise<string> {
    return this.#text("/readyz", options);
  }

  /** The metrics of the process, for Prometheus. */
  getMetrics(options: CallOptions = {}): Promise<string> {
    return this.#text("/metrics", options);
  }

  /** The OpenAPI document of the service, as YAML. */
  getOpenApi(options: CallOptions = {}): Promise<string> {
    return this.#text("/openapi.yaml", options);
  }

  async #text(
    path: "/v1/guidance" | "/healthz" | "/readyz" | "/metrics" | "/openapi.yaml",
    options: CallOptions,
  ): Promise<string> {
    const init = this.#core.init(options);
    const { response } = await this.#core.api.GET(path, { ...init, headers: { accept: "*/*" }, parseAs: "stream" });
    return response.text();
  }
}
