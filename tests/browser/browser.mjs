// The browser, and what every page has to hold whatever it shows.
import { chromium } from "playwright-core";
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"];

/** A Chromium with a profile of its own. */
export function launch(extra = [], options = {}) {
  return chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "wm-chromium-")), {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", ...extra,
    ],
    viewport: { width: 1280, height: 800 },
    ...options,
  });
}

/** A page that remembers what must not happen: console errors, violations of the policy, requests to other hosts. */
export async function watched(context, origin) {
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    const text = message.text();
    // A page of an error has that status, which Chromium reports as an error of loading.
    const ofStatus = text.startsWith("Failed to load resource: the server responded with a status of");
    if (message.type() === "error" && !ofStatus) faults.push(`console: ${text}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("data:") && !url.startsWith("about:")) faults.push(`request to ${url}`);
  });
  page.faults = faults;
  return page;
}

export function noFaults(page, where) {
  if (page.faults.length) throw new Error(`${where}: ${page.faults.splice(0).join("; ")}`);
}

/** What axe finds against WCAG 2.2 A and AA. */
export async function accessible(page, where, rules) {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(axeSource);
  const runOnly = rules ? { type: "rule", values: rules } : { type: "tag", values: TAGS };
  const result = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly, resultTypes: ["violations"] }), runOnly);
  const found = result.violations.map((violation) => `${violation.id} (${violation.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary.replace(/\s+/g, " ").slice(0, 160)}`).join(" | ")})`);
  if (found.length) throw new Error(`${where}: axe: ${found.join("; ")}`);
}

/** Nothing makes the page itself wider than its window. */
export async function fits(page, where) {
  const [width, window] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  if (width > window) {
    const wide = await page.evaluate(() => [...document.querySelectorAll("body *")].filter((element) => (element.getBoundingClientRect().right > innerWidth + 1 || element.scrollWidth > innerWidth) && !element.closest(".scroll, .tall, pre")).slice(0, 4).map((element) => element.outerHTML.slice(0, 160)));
    throw new Error(`${where}: ${width} pixels wide in a window of ${window}: ${wide.join(" | ")}`);
  }
}

/** Headings in order, one of the first level, landmarks, a title. */
export async function wellFormed(page, where) {
  const problems = await page.evaluate(() => {
    const found = [];
    const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((heading) => Number(heading.tagName[1]));
    if (levels.filter((level) => level === 1).length !== 1) found.push(`h1: ${levels}`);
    if (levels.some((level, place) => level > (levels[place - 1] ?? 0) + 1)) found.push(`a level of headings is left out: ${levels}`);
    for (const landmark of ["main", "header", "footer", "nav"]) if (!document.querySelector(landmark)) found.push(`no ${landmark}`);
    if (!document.title || document.title.includes("owned")) found.push(`title ${document.title}`);
    if (document.querySelector("main script, main style, main iframe, [style], [onclick], [onload], [onerror]")) found.push("an active element");
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    const twice = ids.filter((id, place) => ids.indexOf(id) !== place);
    if (twice.length) found.push(`ids twice: ${twice}`);
    return found;
  });
  if (problems.length) throw new Error(`${where}: ${problems.join("; ")}`);
}
