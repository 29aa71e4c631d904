/** Parameters, bodies and responses of the service's operations, by their ids. */

import type { operations } from "./schema.js";

/** The id of an operation of the service. */
export type OperationId = keyof operations;

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

type In<Id extends OperationId, Place extends string> = operations[Id]["parameters"] extends {
  [key in Place]?: infer Found;
}
  ? NonNullable<Found>
  : object;

/** The query parameters of an operation as the service spells them. */
export type Parameters<Id extends OperationId> = In<Id, "query">;

/** The query parameters of an operation, in camel case (`maxTokens` for `max_tokens`). */
export type Query<Id extends OperationId> = {
  [Name in keyof In<Id, "query"> as CamelCase<Name>]: In<Id, "query">[Name];
};

/** The JSON body of an operation. */
export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody?: infer Request;
}
  ? NonNullable<Request> extends { content: { "application/json": infer Json } }
    ? NonNullable<Json>
    : never
  : never;

/** The JSON response of an operation. */
export type Answer<Id extends OperationId, Status extends number = 200 | 201> = {
  [Key in keyof operations[Id]["responses"]]: Key extends Status
    ? operations[Id]["responses"][Key] extends { content: { "application/json": infer Json } }
      ? Json
      : never
    : never;
}[keyof operations[Id]["responses"]];

/** One entry of a list operation. */
export type Item<Id extends OperationId> = Answer<Id> extends { items: (infer One)[] } ? One : never;

/** The options of a request that are not parameters of its operation. */
const OF_REQUEST = new Set(["signal", "timeout", "idempotencyKey", "actor", "ifMatch", "ifNoneMatch"]);

/** The parameters among the options, with the service's names. */
export function toQuery<Parameters>(options: object): Parameters {
  const query: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (OF_REQUEST.has(name) || value === undefined) continue;
    const spelled = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    query[spelled] = Array.isArray(value) ? value.join(",") : value;
  }
  return query as Parameters;
}
