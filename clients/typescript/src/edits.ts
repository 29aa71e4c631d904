/** The operations of `memory.edit`, each with its reason. */

import type { Operation } from "./types.js";

/** Why, and which record it replaces. */
export interface Because {
  because: string;
  /** The id of a record that this archives. */
  replaces?: string;
}

/** Adds a learning. */
export function learn(content: string, { because, ...rest }: Because): Operation {
  return { op: "add", section: "learnings", reason: because, content, ...rest };
}

/** Adds a snippet, kept to the byte. */
export function snippet(label: string, content: string, { because, ...rest }: Because): Operation {
  return { op: "add", section: "verbatim", reason: because, label, content, ...rest };
}

/**
 * Archives a learning or snippet. It stays readable, with the reason. With one of `duplicate_of`, `superseded_by` and `expired`
 * the service checks that nothing is lost with it.
 */
export function archive(
  id: string,
  { because, ...rest }: { because: string; duplicate_of?: string; superseded_by?: string; expired?: boolean },
): Operation {
  return { op: "archive", id, reason: because, ...rest };
}

/** Puts one learning, which says all that they say, in the place of several; they are archived. */
export function merge(ids: readonly string[], content: string, { because }: { because: string }): Operation {
  return { op: "merge", ids: [...ids], reason: because, content };
}

/** Pins a record or lets it go, or gives it an end: a date, a time, or `never`. What is left out stays. */
export function mark(
  id: string,
  { because, ...rest }: { because: string; pinned?: boolean; until?: string },
): Operation {
  return { op: "mark", id, reason: because, ...rest };
}

/** Replaces Current Progress as a whole. */
export function progress(
  inProgress: readonly string[],
  { completed = [], remaining = [] }: { completed?: readonly string[]; remaining?: readonly string[] } = {},
): Operation {
  return {
    op: "rewrite_progress",
    in_progress: [...inProgress],
    completed: [...completed],
    remaining: [...remaining],
  };
}
