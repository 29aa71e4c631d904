/**
 * The tool `memory` of Anthropic's API (`memory_20250818`), executed by the service.
 *
 * ```ts
 * const runner = anthropic.beta.messages.toolRunner({ ..., tools: [memoryTool(client.vault("team"), "agent-1")] });
 * ```
 */

import { betaMemoryTool, type MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import type { BetaMemoryTool20250818, BetaMemoryTool20250818Command } from "@anthropic-ai/sdk/resources/beta";
import type { WriteOptions } from "./transport.js";
import type { Vault } from "./vault.js";

/** Options of the tool. */
export interface MemoryToolOptions {
  /** The actor of the versions. */
  actor?: string | undefined;
}

/** Additional members of the tool's definition, such as `cache_control`. */
export type MemoryToolDefinition = Omit<BetaMemoryTool20250818, "type" | "name">;

/**
 * The tool for the SDK's tool runners. `root` names the tree of files below `/memories`. A command that is sent again,
 * for example after a crash, is executed once: its `Idempotency-Key` is the id of the tool use.
 */
export function memoryTool(
  vault: Vault,
  root: string,
  { actor, ...definition }: MemoryToolOptions & MemoryToolDefinition = {},
): BetaRunnableTool<BetaMemoryTool20250818Command> {
  return {
    ...betaMemoryTool(memoryToolHandlers(vault, root, { actor }), definition),
    run: (command, context) =>
      relay(vault, root, command, {
        actor,
        ...(context?.toolUse.id && { idempotencyKey: context.toolUse.id }),
        ...(context?.signal && { signal: context.signal }),
      }),
  };
}

/** The handlers for the SDK's `betaMemoryTool`. */
export function memoryToolHandlers(vault: Vault, root: string, options: MemoryToolOptions = {}): MemoryToolHandlers {
  const handler = (command: BetaMemoryTool20250818Command) => relay(vault, root, command, options);
  return { view: handler, create: handler, str_replace: handler, insert: handler, delete: handler, rename: handler };
}

/** Sends the command as the model wrote it. A rejected command becomes an error result, which the model can correct. */
async function relay(
  vault: Vault,
  root: string,
  command: BetaMemoryTool20250818Command,
  options: WriteOptions,
): Promise<string> {
  const { content, is_error: isError } = await vault.files.run(root, { ...command }, options);
  if (isError) throw new ToolError(content);
  return content;
}
