// Every page on real data: well formed, accessible, without faults, in light and dark, narrow, and without scripts.
import { accessible, fits, launch, noFaults, watched, wellFormed } from "./browser.mjs";
import { VERSIONS } from "./seed.mjs";

const memory = "/ui/vaults/acme/memories/importer";

/** The links of the service, the breadcrumbs and the tabs: one row each. */
async function oneRowEach(page, where) {
  const rows = await page.$$eval(".top, .path ol, .path ul", (lists) => lists.map((list) => [list.className || list.tagName, new Set([...list.querySelectorAll("a")].map((link) => Math.round(link.getBoundingClientRect().top / 12))).size]));
  const wrapped = rows.filter(([, count]) => count > 2);
  const height = await page.$eval(".top", (top) => top.getBoundingClientRect().height);
  if (wrapped.length || height > 64) throw new Error(`${where}: more than a row: ${JSON.stringify(rows)}, ${height} pixels`);
}

export function allPages({ runs }) {
  return [
    ["vaults", "/ui/"],
    ["memories", "/ui/vaults/acme"],
    ["memories-many", "/ui/vaults/many?sort=changed_at"],
    ["memories-none", "/ui/vaults/nobody"],
    ["memory", memory],
    ["memory-thousand", "/ui/vaults/acme/memories/thousand?since=990"],
    ["memory-hostile", "/ui/vaults/acme/memories/hostile"],
    ["memory-long-line", "/ui/vaults/acme/memories/long-line"],
    ["raw", `${memory}/raw`],
    ["raw-hostile", "/ui/vaults/acme/memories/hostile/raw"],
    ["edit", `${memory}/edit`],
    ["edit-hostile", "/ui/vaults/acme/memories/hostile/edit"],
    ["delete", `${memory}/delete`],
    ["timeline", `${memory}/timeline`],
    ["timeline-thousand", "/ui/vaults/acme/memories/thousand/timeline"],
    ["version", `${memory}/versions/3`],
    ["diff", `${memory}/diff?base=1&to=8`],
    ["diff-sides", `${memory}/diff?base=1&to=8&view=sides`],
    ["diff-hostile", "/ui/vaults/acme/memories/hostile/diff?base=1&to=2&view=sides"],
    ["blame", `${memory}/blame`],
    ["blame-thousand", "/ui/vaults/acme/memories/thousand/blame"],
    ["blame-hostile", "/ui/vaults/acme/memories/hostile/blame"],
    ["records", `${memory}/records?status=all`],
    ["records-hostile", "/ui/vaults/acme/memories/hostile/records?status=all"],
    ["record", `${memory}/records/KL-2`],
    ["record-forms", `${memory}/records/KL-1`],
    ["updates", `${memory}/updates`],
    ["run", `${memory}/updates/${runs.proposal}`],
    ["window", `${memory}/window`],
    ["prompt", `${memory}/prompt`],
    ["prompt-budget", `${memory}/prompt?max_tokens=200`],
    ["handoff", `${memory}/handoff`],
    ["search-everywhere", "/ui/search?q=kingfisher"],
    ["search", "/ui/vaults/acme/search?q=kingfisher"],
    ["search-hostile", "/ui/vaults/acme/search?q=learning"],
    ["inbox", "/ui/vaults/acme/inbox"],
    ["usage", "/ui/vaults/acme/usage"],
    ["events", "/ui/vaults/acme/events"],
    ["keys", "/ui/keys"],
    ["service", "/ui/service"],
    ["not-found", "/ui/vaults/acme/memories/nobody"],
    ["no-page", "/ui/nothing"],
  ];
}

export async function pages(world) {
  const { test, open, browser, shot, picture } = world;
  const all = allPages(world);
  await test("every page is well formed, accessible, light enough and without faults", async () => {
    const page = await watched(browser, open.address);
    let heaviest = ["", 0];
    for (const [name, path] of all) {
      const answer = await page.goto(open.address + path);
      const expected = name === "not-found" || name === "no-page" ? 404 : 200;
      if (answer.status() !== expected) throw new Error(`${name}: ${answer.status()}`);
      await wellFormed(page, name);
      await fits(page, name);
      await accessible(page, name);
      noFaults(page, name);
      const weights = await page.evaluate(async () => {
        const assets = [...document.querySelectorAll("link[href], script[src]")].map((element) => element.href || element.src);
        const sizes = await Promise.all(assets.map(async (asset) => (await (await fetch(asset)).arrayBuffer()).byteLength));
        return sizes.reduce((sum, size) => sum + size, 0);
      });
      const weight = (await answer.body()).length + weights;
      if (weight > heaviest[1]) heaviest = [name, weight];
      // A form has all of the document in it, however it is written.
      if (weight > 150_000 && name !== "edit-hostile") throw new Error(`${name} weighs ${weight} bytes`);
      await shot(page, name);
      if (["memory", "timeline", "prompt"].includes(name)) await picture(page, name);
    }
    console.log(`     the heaviest page is ${heaviest[0]} with ${heaviest[1]} bytes and its assets`);
    await page.close();
  });

  await test("every page holds at 320 pixels and in the dark", async () => {
    const page = await watched(browser, open.address);
    await page.setViewportSize({ width: 320, height: 640 });
    await page.emulateMedia({ colorScheme: "dark" });
    for (const [name, path] of all) {
      await page.goto(open.address + path);
      await fits(page, `${name} at 320`);
      // Nothing but colours and sizes is another there.
      await accessible(page, `${name} in the dark`, ["color-contrast", "target-size", "scrollable-region-focusable"]);
      noFaults(page, name);
      await oneRowEach(page, name);
      if (["memory", "timeline", "run", "memories", "blame", "edit", "record-forms", "search-everywhere"].includes(name)) await shot(page, `${name}-narrow-dark`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    for (const name of ["memory", "run", "diff-sides", "usage", "prompt"]) {
      await page.goto(open.address + all.find(([other]) => other === name)[1]);
      await shot(page, `${name}-dark`);
    }
    await page.close();
  });

  await test("blame shows its text at 320 pixels", async () => {
    const page = await watched(browser, open.address);
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(`${open.address}${memory}/blame`);
    const hidden = await page.$$eval(".blame td.l", (cells) => cells.filter((cell) => cell.textContent.trim()).map((cell) => cell.getBoundingClientRect()).filter(({ left, right, width }) => left < 0 || right > innerWidth || width < 200).length);
    if (hidden) throw new Error(`${hidden} lines are cut off`);
    await page.close();
  });

  await test("editing is reached from a memory before its document", async () => {
    const page = await watched(browser, open.address);
    await page.goto(open.address + memory);
    await page.focus("main");
    await page.keyboard.press("Tab");
    if (!(await page.evaluate(() => document.activeElement.href)).endsWith("/edit")) throw new Error("Edit is not the first stop of the content");
    await page.close();
  });

  await test("a document of many short lines opens for editing without a long wait", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/acme/memories/short-lines/edit`, { timeout: 6_000 });
    await page.close();
  });

  await test("hostile text stays text", async () => {
    const page = await watched(browser, open.address);
    for (const below of ["", "/raw", "/edit", "/timeline", "/versions/1", "/diff?base=1&to=2", "/blame", "/records", "/records/VC-1", "/prompt", "/window"]) {
      await page.goto(`${open.address}/ui/vaults/acme/memories/hostile${below}`);
      const found = await page.evaluate(() => ({
        title: document.title,
        active: document.querySelectorAll("main script, main img, main style, main iframe, main svg[onload], main b").length,
        away: [...document.querySelectorAll("main a[href]")].filter((link) => !/^(https?|mailto):$/.test(link.protocol)).length,
      }));
      if (found.title.includes("owned") || found.active || found.away) throw new Error(`${below}: ${JSON.stringify(found)}`);
      noFaults(page, below);
    }
    await page.goto(`${open.address}/ui/vaults/acme/memories/hostile`);
    const text = await page.textContent("main");
    if (!text.includes("<script>document.title='owned'</script>")) throw new Error("the text of the memory is not shown");
    await page.close();
  });

  await test("lists go on by links, sort and filter", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/many`);
    const first = await page.textContent("tbody tr:first-child a");
    await page.click("text=Next page");
    const next = await page.textContent("tbody tr:first-child a");
    if (!(next > first)) throw new Error(`${first}, then ${next}`);
    await page.click("th >> text=Size");
    const sizes = await page.$$eval("tbody tr td:nth-child(2)", (cells) => cells.map((cell) => parseFloat(cell.textContent) * (cell.textContent.includes("KB") ? 1000 : 1)));
    if (sizes.length !== 50 || sizes.some((size, place) => place && size > sizes[place - 1])) throw new Error(`not the largest first: ${sizes}`);
    await page.fill("#prefix", "agent-0999");
    await page.click("text=Filter");
    const rows = await page.$$eval("tbody tr", (found) => found.length);
    if (rows !== 10) throw new Error(`${rows} rows begin with agent-0999`);
    await page.goto(`${open.address}/ui/vaults/acme/memories/thousand/timeline`);
    await page.click("text=Next page");
    const version = Number((await page.textContent("tbody tr:first-child td:nth-child(2)")).replace(",", ""));
    if (version !== VERSIONS - 50) throw new Error(`the second page begins with ${version}`);
    await page.close();
  });

  await test("the slider travels through the versions, and any two are compared", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/acme/memories/thousand`);
    await page.focus("#slider");
    await page.keyboard.press("Home");
    for (let step = 0; step < 6; step++) await page.keyboard.press("ArrowRight");
    if ((await page.textContent("#slider-value")) !== "7") throw new Error("the slider does not tell its version");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/versions/7");
    if (!(await page.textContent("main")).includes("Round 7")) throw new Error("not version 7");
    await page.goto(`${open.address}/ui/vaults/acme/memories/thousand/timeline`);
    await page.check(`input[name=base][value="${VERSIONS - 6}"]`);
    await page.check(`input[name=to][value="${VERSIONS - 2}"]`);
    await page.click("text=Compare the selected versions");
    const signs = await page.$$eval(".diff .s", (cells) => new Set(cells.map((cell) => cell.textContent.trim())));
    if ((await page.$$(".diff tr.add, .diff tr.del")).length === 0) throw new Error(`no changes: ${[...signs]}`);
    await page.close();
  });

  await test("everything can be done by keyboard alone", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/acme`);
    await page.keyboard.press("Tab");
    const skip = await page.evaluate(() => [document.activeElement.className, document.activeElement.getBoundingClientRect().left]);
    if (skip[0] !== "skip" || skip[1] < 0) throw new Error(`the first stop is ${skip}`);
    await page.keyboard.press("Enter");
    if ((await page.evaluate(() => document.activeElement.id)) !== "main") throw new Error("the skip link does not lead to the content");
    for (let stops = 0; stops < 30; stops++) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        return { text: document.activeElement.textContent.trim(), outline: outlineStyle !== "none" && outlineWidth !== "0px" };
      });
      if (!stop.outline) throw new Error(`nothing shows that ${stop.text} has the focus`);
      if (stop.text === "importer") break;
    }
    await page.keyboard.press("Enter");
    await page.waitForURL("**/memories/importer");
    noFaults(page, "keyboard");
    await page.close();
  });

  await test("the theme is kept, and ids are copied", async () => {
    const page = await watched(browser, open.address);
    await page.goto(open.address + memory);
    const before = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.click("#theme");
    const after = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.reload();
    const kept = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    if (before === after || after !== kept) throw new Error(`${before}, ${after}, ${kept}`);
    await page.click("#theme");
    await page.click(".copy >> nth=0");
    await page.waitForSelector("text=copied");
    noFaults(page, "theme");
    await page.close();
  });

  await test("without scripts every page shows the same, and nothing shifts when it loads", async () => {
    const plain = await launch([], { javaScriptEnabled: false });
    try {
      const page = await plain.newPage();
      for (const [name, path] of all) {
        await page.goto(open.address + path);
        if (!(await page.textContent("main h1")).trim()) throw new Error(`${name} has no heading`);
      }
      await page.goto(open.address + memory);
      if (await page.isVisible("#theme")) throw new Error("a button that does nothing is shown");
      await shot(page, "memory-without-scripts");
    } finally {
      await plain.close();
    }
    const page = await watched(browser, open.address);
    await page.addInitScript(() => {
      globalThis.shift = 0;
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.shift += entry.value; }).observe({ type: "layout-shift", buffered: true });
    });
    for (const path of [memory, "/ui/vaults/many", `${memory}/timeline`]) {
      await page.goto(open.address + path, { waitUntil: "load" });
      await page.waitForTimeout(200);
      const shift = await page.evaluate(() => globalThis.shift);
      if (shift > 0.05) throw new Error(`${path} shifts by ${shift}`);
    }
    await page.close();
  });
}
