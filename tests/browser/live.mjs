// Pages that change while somebody looks.
import { noFaults, watched } from "./browser.mjs";
import { story } from "./seed.mjs";

const listens = (page) => page.waitForSelector("body[data-listens]", { timeout: 15_000 });

export async function live({ test, open, browser, shot }) {
  const api = open.api();
  await test("a version that arrives is shown by itself, and what is new is marked", async () => {
    const page = await watched(browser, open.address);
    await api.put("live", "agent", story(1));
    await page.goto(`${open.address}/ui/vaults/live/memories/agent`);
    await listens(page);
    const began = Date.now();
    await api.must("POST", "/vaults/live/memories/agent/operations", "KEY_LEARNINGS:\n  ADD:\n    - because it just happened: brand new learning\n");
    await page.waitForSelector(".record.new >> text=brand new learning", { timeout: 15_000 });
    console.log(`     shown ${Date.now() - began} ms after the put`);
    await page.waitForSelector("#fresh >> text=Version 2");
    await shot(page, "live");
    noFaults(page, "live");
    await page.close();
  });

  await test("whoever is typing is not interrupted", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/live/memories/agent`);
    await page.focus("#slider");
    await listens(page);
    await api.put("live", "agent", story(3));
    await page.waitForSelector("#fresh >> text=There is something new", { timeout: 15_000 });
    if ((await page.evaluate(() => document.activeElement.id)) !== "slider") throw new Error("the focus went away");
    await page.close();
  });

  await test("events and the inbox are told as they happen", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/live/inbox`);
    const events = await watched(browser, open.address);
    await events.goto(`${open.address}/ui/vaults/live/events`);
    await listens(events);
    await listens(page);
    await api.must("POST", "/vaults/live/memories/agent/operations?mode=propose", "KEY_LEARNINGS:\n  ADD:\n    - because it waits: a proposal to look at\n");
    await page.waitForSelector("tbody >> text=agent", { timeout: 15_000 });
    await page.waitForSelector(".tabs >> text=Inbox 1", { timeout: 15_000 });
    await events.waitForSelector("tbody >> text=proposed", { timeout: 15_000 });
    noFaults(events, "events");
    await page.close();
    await events.close();
  });
}
