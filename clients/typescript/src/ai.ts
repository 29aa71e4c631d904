/**
 * The memory as a tool set of the AI SDK (`ai`), and its messages for `finish`.
 *
 * ```ts
 * await generateText({ model, tools: memoryTools(memory), prompt });
 * await memory.finish("what was done", fromModelMessages(result.responseMessages));
 * ```
 */

import { jsonSchema, tool, type ModelMessage, type ToolSet } from "ai";
import type { MessageLike } from "./groups.js";
import type { Memory } from "./memory.js";
import type { Operation } from "./types.js";

/** Entries per list that a tool returns. */
const LISTED = 20;

const text = (description: string) => ({ type: "string", description }) as const;
const texts = (description: string) => ({ type: "array", items: { type: "string" }, description }) as const;

/** The schema of a tool's arguments: an object with these members. */
function input<Arguments>(properties: Record<string, unknown>, required: readonly string[] = []) {
  const schema = { type: "object", properties, required: [...required], additionalProperties: false };
  return jsonSchema<Arguments>(schema as Parameters<typeof jsonSchema>[0]);
}

interface Additions {
  add?: { reason: string; content: string; label?: string }[];
  archive?: { id: string; reason: string }[];
}

interface Edit {
  learnings?: Additions;
  snippets?: Additions;
  progress?: { completed?: string[]; in_progress: string[]; remaining?: string[] };
}

const ARCHIVE = {
  type: "array",
  description: "Records to take out, by their ids.",
  items: {
    type: "object",
    properties: { id: text("Such as KL-3."), reason: text("Why it no longer holds.") },
    required: ["id", "reason"],
    additionalProperties: false,
  },
};

/** Tools with which a model uses the memory. An error response becomes a tool error, which the model reads. */
export function memoryTools(memory: Memory): ToolSet {
  return {
    memory_read: tool({
      description: "Read the working memory: the whole document, or one section of it. Use it before you edit.",
      inputSchema: input<{ section?: string }>({
        section: text("A section's title, such as Key Learnings; all without it."),
      }),
      execute: async ({ section }, { abortSignal: signal }) => (await memory.get({ section, signal })).context ?? "",
    }),
    memory_edit: tool({
      description:
        "Change single items of the working memory: add or archive learnings and verbatim snippets, each with its reason, or " +
        "rewrite the progress as a whole. Keep only what a later session needs.",
      inputSchema: input<Edit>({
        learnings: {
          type: "object",
          properties: {
            add: additions({ reason: text("Why it is worth keeping."), content: text("One line.") }),
            archive: ARCHIVE,
          },
          additionalProperties: false,
        },
        snippets: {
          type: "object",
          properties: {
            add: additions({
              reason: text("Why it is needed verbatim."),
              label: text("What it is, such as a path."),
              content: text("The text."),
            }),
            archive: ARCHIVE,
          },
          additionalProperties: false,
        },
        progress: {
          type: "object",
          properties: {
            completed: texts("What is done."),
            in_progress: texts("What is being done; at least one."),
            remaining: texts("What is left."),
          },
          required: ["in_progress"],
          additionalProperties: false,
        },
      }),
      execute: async (edit, { abortSignal: signal }) => {
        const { status, version, operations, rejected } = await memory.edit(operationsOf(edit), { partly: true, signal });
        return { status, version, operations, rejected };
      },
    }),
    memory_record: tool({
      description: "Record a completed task in the working memory, with what was to be done and what was done.",
      inputSchema: input<{ intent: string; summary: string }>(
        { intent: text("What was to be done."), summary: text("What was done.") },
        ["intent", "summary"],
      ),
      execute: ({ intent, summary }, { abortSignal: signal }) => memory.window.recordTask(intent, summary, { signal }),
    }),
    memory_decide: tool({
      description: "Record a decision in the working memory, with its reason.",
      inputSchema: input<{ decision: string; reason?: string; supersedes?: string }>(
        {
          decision: text("What was decided."),
          reason: text("Why."),
          supersedes: text("The decision it replaces, such as D-2."),
        },
        ["decision"],
      ),
      // Only these members: a model may write others, and they would be options of the call, such as its actor.
      execute: ({ decision, reason, supersedes }, { abortSignal: signal }) =>
        memory.window.recordDecision(decision, { reason, supersedes, signal }),
    }),
    memory_history: tool({
      description: "What changed in the working memory, in words, newest first.",
      inputSchema: input<Record<string, never>>({}),
      execute: (_, { abortSignal: signal }) => memory.log({ limit: LISTED, signal }).all(LISTED),
    }),
    memory_search: tool({
      description: "Search the working memory, archived records too.",
      inputSchema: input<{ query: string }>({ query: text("The words.") }, ["query"]),
      execute: ({ query }, { abortSignal: signal }) => memory.search(query, { status: "all", limit: LISTED, signal }).all(LISTED),
    }),
  };
}

function additions(properties: Record<string, unknown>) {
  return {
    type: "array",
    description: "New records.",
    items: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
  };
}

function operationsOf({ learnings, snippets, progress }: Edit): Operation[] {
  const operations: Operation[] = [];
  if (progress) operations.push({ op: "rewrite_progress", ...progress });
  for (const [section, change] of [
    ["learnings", learnings],
    ["verbatim", snippets],
  ] as const) {
    for (const record of change?.archive ?? []) operations.push({ op: "archive", ...record });
    for (const record of change?.add ?? []) operations.push({ op: "add", section, ...record });
  }
  return operations;
}

/** Converts the AI SDK's messages for `finish`: texts, calls of tools and their results. */
export function fromModelMessages(messages: readonly ModelMessage[]): MessageLike[] {
  return messages.map(({ role, content }) => {
    if (typeof content === "string") return { role, content };
    const parts = content.map((part) => partOf(part as ModelPart)).filter((part) => part !== undefined);
    return { role: role === "tool" ? "user" : role, content: parts };
  });
}

/** The common members of the parts of all roles. */
interface ModelPart {
  type: string;
  text?: string;
  toolName?: string;
  input?: unknown;
  output?: { type?: string; value?: unknown; reason?: string };
}

function partOf(part: ModelPart): Record<string, unknown> | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text ?? "" };
    case "tool-call":
      return { type: "tool_use", name: part.toolName ?? "tool", input: part.input ?? {} };
    case "tool-result": {
      const { type = "", value, reason } = part.output ?? {};
      if (type === "execution-denied") {
        return { type: "tool_result", content: reason ?? "Tool execution denied.", is_error: true };
      }
      // Without the bytes of images and files.
      const parts = type === "content" && Array.isArray(value) ? value.map(resultPartOf) : undefined;
      const content = parts ?? (typeof value === "string" ? value : JSON.stringify(value ?? null));
      return { type: "tool_result", content, is_error: type.startsWith("error") };
    }
    case "image":
      return { type: "text", text: "[image]" };
    case "file":
      return { type: "text", text: "[file]" };
    // Reasoning and approvals are not part of the conversation.
    default:
      return undefined;
  }
}

function resultPartOf(part: ModelPart): Record<string, unknown> {
  return partOf(part) ?? { type: "text", text: `[${part.type}]` };
}
