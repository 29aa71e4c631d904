import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { expect } from "expect";
import {
  Client,
  EventsLostError,
  ForbiddenError,
  NotFoundError,
  UnauthorizedError,
  type Event,
} from "../dist/index.js";
import { Service, sharedUrl } from "./service.js";

const client = new Client(sharedUrl());

/** The next events of a stream, which is then closed. */
async function take(
  stream: AsyncGenerator<Event>,
  count: number,
): Promise<Event[]> {
  const events = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

const versions = (events: Event[]) => events.map((event) => event.version);

test("events come as they happen, chosen by memory and kind, and from a place on", async () => {
  const vault = client.vault(`v-${randomUUID()}`);
  const [one, two] = [vault.memory("one"), vault.memory("two")];
  await one.put("first");
  const watching = take(one.events({ kinds: ["version"], lastEventId: "0" }), 3);
  await two.put("elsewhere");
  await one.items.replace("rules", ["Be kind."]);
  await one.put("second");
  await one.put("third");
  const events = await watching;
  expect(versions(events)).toEqual([1, 2, 3]);
  const first = events[0] as Event;
  expect(versions(await take(vault.events({ lastEventId: first.id, kinds: ["version"] }), 3))).toEqual([1, 2, 3]);
  const lost: unknown = await take(vault.events({ lastEventId: "999-00000000" }), 1).catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(EventsLostError);
  expect((lost as EventsLostError).lastEventId).toBeDefined();
});

test("a signal ends a stream", async () => {
  const stop = new AbortController();
  const waiting = take(client.vault(`v-${randomUUID()}`).events({ signal: stop.signal }), 1);
  setTimeout(() => stop.abort(new Error("enough")), 200);
  await expect(waiting).rejects.toThrow("enough");
});

test("a connection that falls silent is made again", async () => {
  const vault = client.vault(`v-${randomUUID()}`);
  await vault.memory("m").put("first");
  const stream = vault.events({ lastEventId: "0", idleTimeout: 100 });
  expect(versions(await take1(stream))).toEqual([1]);
  const next = take1(stream);
  await new Promise((resolve) => setTimeout(resolve, 400));
  await vault.memory("m").put("second");
  expect(versions(await next)).toEqual([2]);
  await stream.return();
});

async function take1(stream: AsyncGenerator<Event>): Promise<Event[]> {
  const { value } = await stream.next();
  return value ? [value] : [];
}

/** A service that is killed, and then requires keys. */
let service: Service;
before(async () => {
  service = await Service.start();
});
after(() => service.remove());

test("a stream outlives the service: nothing is missed and nothing comes twice", async () => {
  const own = new Client(service.url, { retries: 20 });
  const memory = own.memory("team", "agent-1");
  await memory.put("text 1");
  const watching = take(memory.events({ lastEventId: "0", kinds: ["version"] }), 6);
  await memory.put("text 2");
  for (let number = 3; number <= 6; number += 2) {
    await service.stop("SIGKILL");
    await service.start();
    await memory.put(`text ${number}`);
    await memory.put(`text ${number + 1}`);
  }
  expect(versions(await watching)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("keys are shown, and what they may not do is told", async () => {
  const open = new Client(service.url);
  await open
    .memory("team", "agent-2")
    .finish("Wrote the rotation script.", [], { handoff: false, record: { intent: "Rotate", summary: "Done." } });
  const admin = await open.keys.create("boss", "admin");
  await expect(open.memory("team", "agent-2").get()).rejects.toBeInstanceOf(UnauthorizedError);
  const boss = new Client(service.url, { key: admin.key });
  const made = await boss.keys.create("ann", "reader", { vaults: ["team"] });
  const reader = new Client(service.url, { key: () => made.key });
  await expect(reader.memory("team", "agent-2").put("x")).rejects.toBeInstanceOf(ForbiddenError);
  await expect(reader.memory("other", "agent-2").get()).rejects.toBeInstanceOf(NotFoundError);

  // A reader cannot refresh the handoff, and starts with the existing one.
  await expect(reader.memory("team", "agent-2").start({ refresh: true })).rejects.toBeInstanceOf(ForbiddenError);
  expect((await reader.memory("team", "agent-2").start()).handoff).toBe("");
  await boss.memory("team", "agent-2").start({ refresh: true });
  const session = await reader.memory("team", "agent-2").start();
  expect(session.handoff).toContain("## Summary");
  expect(session.prompt).toContain("Rotate");

  const watching = take(reader.vault("team").events(), 1);
  watching.catch(() => {});
  const keys = await boss.keys.list().all();
  const id = keys.find((key) => key.name === "ann")?.key_id ?? "";
  expect((await boss.keys.get(id)).role).toBe("reader");
  const rotated = await boss.keys.rotate(id, { graceSeconds: 0 });
  await expect(watching).rejects.toBeInstanceOf(UnauthorizedError);
  await boss.keys.revoke(rotated.key_id);
});
