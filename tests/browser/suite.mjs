// The dashboard in a real Chromium: node suite.mjs. Started by scripts/test-dashboard.sh.
import { mkdirSync } from "node:fs";
import { startService } from "./service.mjs";
import { seedHostile, seedMany, seedStory, seedThousand, seedUsage } from "./seed.mjs";
import { launch } from "./browser.mjs";
import { pages } from "./pages.mjs";
import { forms } from "./forms.mjs";
import { keys } from "./keys.mjs";
import { live } from "./live.mjs";
import { origins } from "./origins.mjs";

const folder = process.env.DASHBOARD_FOLDER;
mkdirSync(`${folder}/screenshots`, { recursive: true });
const only = process.argv.slice(2);
let failed = 0;
let passed = 0;

/** One test: its name is a sentence. */
async function test(name, work) {
  if (only.length && !only.some((part) => name.includes(part))) return;
  const began = performance.now();
  try {
    await work();
    passed++;
    console.log(`ok   ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n     ${String(error.stack ?? error).split("\n").slice(0, 6).join("\n     ")}`);
  }
}

const began = performance.now();
const open = await startService("open");
const keyed = await startService("keyed");
// Pictures of the documentation are made with the tests, where somebody asks for them.
const pictures = process.env.DASHBOARD_PICTURES;
const world = { folder, test, open, keyed, 
  shot: (page, name, options) => page.screenshot({ path: `${folder}/screenshots/${name}.png`, ...options }),
  picture: async (page, name, options) => { if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, ...options }); } };
try {
  const api = open.api();
  world.runs = await seedStory(api);
  await seedHostile(api);
  seedMany(open);
  seedUsage(open);
  await seedThousand(api);
  console.log(`seeded in ${Math.round((performance.now() - began) / 1000)} s`);
  world.browser = await launch();
  await pages(world);
  await forms(world);
  await live(world);
  await keys(world);
  await world.browser.close();
  await origins(world);
} finally {
  open.stop();
  keyed.stop();
}
console.log(`${passed} passed, ${failed} failed, in ${Math.round((performance.now() - began) / 1000)} s; pictures are in ${folder}/screenshots`);
process.exit(failed ? 1 : 0);
